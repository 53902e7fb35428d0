package simulator

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/segue-project/segue"
)

// outageEvent is the beginning or the end of an Outage.
type outageEvent struct {
	at    int64
	index int
	over  bool
}

// outageTimeline lists what happens, the ends at an instant first.
func outageTimeline(outages []Outage) []outageEvent {
	var t []outageEvent
	for i, o := range outages {
		t = append(t, outageEvent{at: int64(o.From), index: i}, outageEvent{at: int64(o.Until), index: i, over: true})
	}
	rank := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(t, func(a, b outageEvent) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(rank[a.over], rank[b.over]))
	})
	return t
}

// drain is an outage under way: how many nodes it has taken out of service, and
// how many it waits for until their jobs have ended.
type drain struct {
	index int // of the outage
	out   int32
	busy  int32
}

// applyOutage takes the nodes of an outage out of service, or brings them back.
func (s *Sim) applyOutage(e outageEvent) {
	o := &s.conf.Outages[e.index]
	p := &s.pools[o.Pool]
	s.touch(p)
	if e.over {
		s.endOutage(p, e.index)
		return
	}
	s.drains = append(s.drains, drain{index: e.index})
	d := &s.drains[len(s.drains)-1]
	rng := rand.New(rand.NewPCG(s.conf.Seed, uint64(e.index)))
	for range o.Nodes {
		if inService := p.total - p.draining; inService > 0 {
			s.takeNode(p, d, o.Drain, rng.Int32N(inService))
		}
	}
}

func (s *Sim) endOutage(p *pool, index int) {
	i := slices.IndexFunc(s.drains, func(d drain) bool { return d.index == index })
	d := s.drains[i]
	s.drains = slices.Delete(s.drains, i, i+1)
	p.draining -= d.busy
	p.total += d.out
	p.free += d.out
}

// takeNode takes the nth node in service, the idle ones counted first, out of
// service: an idle one at once; a busy one when it comes free (drain), or at
// once with its jobs requeued.
func (s *Sim) takeNode(p *pool, d *drain, waits bool, nth int32) {
	freed := int32(1)
	if nth >= p.free {
		if waits {
			d.busy++
			p.draining++
			return
		}
		freed = s.failNode(p, nth-p.free)
	}
	d.out++
	p.free--
	p.total--
	s.drain(p, freed-1)
}

// failNode requeues the jobs on the nth busy node and returns how many nodes
// have come wholly free.
func (s *Sim) failNode(p *pool, nth int32) (freed int32) {
	for r := range p.running.all() {
		if nth < r.nodes {
			failed := *r
			return s.failJob(p, &failed)
		}
		nth -= r.nodes
	}
	slot := int32(0)
	for ; p.shared.slots[slot].jobs == 0 || nth > 0; slot++ {
		nth -= min(p.shared.slots[slot].jobs, 1)
	}
	var on []running
	for r := range p.running.all() {
		if p.shared.on(r.places, slot) {
			on = append(on, *r)
		}
	}
	for i := range on {
		freed += s.failJob(p, &on[i])
	}
	return freed
}

func (s *Sim) failJob(p *pool, r *running) (freed int32) {
	freed = s.stop(p, r, segue.NodeFail)
	s.requeue(r.ref)
	return freed
}

// drain lets nodes that have just come free leave service, if they are awaited;
// the earliest outage first.
func (s *Sim) drain(p *pool, freed int32) {
	for i := range s.drains {
		if freed <= 0 || p.draining == 0 {
			return
		}
		d := &s.drains[i]
		if s.conf.Outages[d.index].Pool != int(p.index) {
			continue
		}
		n := min(d.busy, freed)
		d.busy -= n
		d.out += n
		p.draining -= n
		p.total -= n
		p.free -= n
		freed -= n
	}
}
