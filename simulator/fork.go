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
	d.now, d.arrived, d.cut, d.chained = s.now, s.arrived, s.cut, s.chained
	d.outage, d.cancel, d.calcAt, d.passAt = s.outage, s.cancel, s.calcAt, s.passAt
	d.record, d.observer = nil, nil
	d.ends = append(d.ends[:0], s.ends...)
	d.cleaning = append(d.cleaning[:0], s.cleaning...)
	d.extra = append(d.extra[:0], s.extra...)
	d.inject = append(d.inject[:0], s.inject...)
	d.releases = append(d.releases[:0], s.releases...)
	d.held = append(d.held[:0], s.held...)
	d.gone = append(d.gone[:0], s.gone...)
	d.deferred = append(d.deferred[:0], s.deferred...)
	d.drains = append(d.drains[:0], s.drains...)
	s.users.copyInto(&d.users)
	s.usage.copyInto(&d.usage)
	for len(d.pools) < len(s.pools) {
		d.pools = append(d.pools, pool{})
	}
	d.pools = d.pools[:len(s.pools)]
	for i := range s.pools {
		s.pools[i].copyInto(&d.pools[i])
	}
	return d
}
