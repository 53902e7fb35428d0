package simulator

import (
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

func outageTimeline(outages []Outage) []outageEvent {
	var t []outageEvent
	for i, o := range outages {
		t = append(t, outageEvent{at: int64(o.From), index: i}, outageEvent{at: int64(o.Until), index: i, over: true})
	}
	slices.SortStableFunc(t, func(a, b outageEvent) int {
		switch {
		case a.at != b.at:
			return int(min(max(a.at-b.at, -1), 1))
		case a.over != b.over && a.over:
			return -1
		case a.over != b.over:
			return 1
		}
		return 0
	})
	return t
}

// applyOutage takes the nodes of an outage out of service, or brings them back.
func (s *Sim) applyOutage(event int) {
	e := s.conf.outages[event]
	o := &s.conf.Outages[e.index]
	p := &s.pools[o.Pool]
	s.touch(p)
	if e.over {
		back := int32(o.Nodes)
		undrained := min(back, p.draining) // still busy: they just stay
		p.draining -= undrained
		p.total += back - undrained
		p.free += back - undrained
		return
	}
	rng := rand.New(rand.NewPCG(s.conf.Seed, uint64(e.index)))
	for range o.Nodes {
		s.takeNode(p, o.Drain, rng)
	}
}

// takeNode takes one node out of service, drawn at random among those in
// service: an idle one at once; a busy one when it comes free (drain), or at
// once with its job requeued.
func (s *Sim) takeNode(p *pool, drain bool, rng *rand.Rand) {
	inService := p.total - p.draining
	if inService <= 0 {
		return
	}
	pick := rng.Int32N(inService)
	if pick >= p.free {
		if drain {
			p.draining++
			return
		}
		s.failNode(p, pick-p.free)
	}
	if p.free == 0 {
		p.draining++ // the failed node is shared with other jobs, which finish
		return
	}
	p.free--
	p.total--
}

// failNode requeues the job on the nth busy node.
func (s *Sim) failNode(p *pool, nth int32) {
	for i := range p.running {
		r := &p.running[i]
		nth -= max(r.nodes, 1)
		if nth < 0 {
			ref := r.ref
			s.stop(p, ref, segue.NodeFail)
			s.requeue(ref)
			return
		}
	}
}
