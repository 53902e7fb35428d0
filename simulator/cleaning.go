package simulator

// cleaning is what a job that has ended leaves to clean up: whole nodes, or its
// part of shared ones.
type cleaning struct {
	at     int64 // when it is done
	pool   int32
	nodes  int32 // whole nodes
	places int32 // first of those on shared nodes, or noPlace
	gpus   int32
}

// clean begins to clean up after a job that has been taken out of p.running.
func (s *Sim) clean(p *pool, r *running, gpus int32) {
	c := cleaning{at: after(s.now, s.conf.cleanUp), pool: p.index, nodes: r.nodes, places: r.places, gpus: gpus}
	s.cleaning = append(s.cleaning, c)
	s.foresee(p, c.at, c.nodes)
}

// cleaned frees the nodes that are cleaned up first.
func (s *Sim) cleaned() {
	c := s.cleaning[0]
	s.cleaning = append(s.cleaning[:0], s.cleaning[1:]...)
	p := &s.pools[c.pool]
	s.foresee(p, c.at, -c.nodes)
	p.vacate(c.nodes, c.places, c.gpus)
	s.touch(p)
}
