package simulator

// Fork returns an independent copy of the simulation from here on. It reuses
// into and its memory when that is not nil, which makes repeated forks cheap.
// The copy keeps no record of the table's jobs: StartOf and EndOf of a fork
// know the jobs given to Submit (before or after the fork) only.
func (s *Sim) Fork(into *Sim) *Sim {
	d := into
	if d == nil {
		d = &Sim{}
	}
	d.conf, d.table, d.runs = s.conf, s.table, s.runs
	d.now, d.arrived, d.cut = s.now, s.arrived, s.cut
	d.outage, d.cancel, d.calcAt, d.passAt = s.outage, s.cancel, s.calcAt, s.passAt
	d.extra = append(d.extra[:0], s.extra...)
	d.inject = append(d.inject[:0], s.inject...)
	d.releases = append(d.releases[:0], s.releases...)
	d.held = append(d.held[:0], s.held...)
	d.deferred = append(d.deferred[:0], s.deferred...)
	d.ends = append(d.ends[:0], s.ends...)
	s.users.copyInto(&d.users)
	s.usage.copyInto(&d.usage)
	if cap(d.pools) < len(s.pools) {
		d.pools = make([]pool, len(s.pools))
	}
	d.pools = d.pools[:len(s.pools)]
	for i := range s.pools {
		s.pools[i].copyInto(&d.pools[i])
	}
	d.starts, d.finishes, d.attempts, d.keepsRecord = nil, nil, nil, false
	d.watch, d.watched, d.observer = 0, false, nil
	return d
}
