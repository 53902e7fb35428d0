package simulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// Audit recounts the state of the simulation and returns what does not agree.
func Audit(s *Sim) error {
	for i := range s.pools {
		p := &s.pools[i]
		if err := auditNodes(s, p); err != nil {
			return fmt.Errorf("pool %d at %d: %w", i, s.now, err)
		}
		if err := auditQueue(s, p); err != nil {
			return fmt.Errorf("queue of pool %d at %d: %w", i, s.now, err)
		}
	}
	return auditUsers(s)
}

func auditNodes(s *Sim, p *pool) error {
	busy := int32(0)
	gpus := make([]int32, len(p.shared.slots))
	jobs := make([]int32, len(p.shared.slots))
	count, last := 0, (*running)(nil)
	for r := range p.running.all() {
		busy += r.nodes
		count++
		if last != nil && !last.before(r.est, r.ref) {
			return fmt.Errorf("running job %d out of order", r.ref)
		}
		last = r
		for k := r.places; k != noPlace; k = p.shared.places[k].next {
			gpus[p.shared.places[k].slot] += s.job(r.ref).gpus
			jobs[p.shared.places[k].slot]++
		}
	}
	if count != p.running.len() {
		return fmt.Errorf("%d running jobs, says %d", count, p.running.len())
	}
	for _, c := range s.cleaning {
		if c.pool != p.index {
			continue
		}
		busy += c.nodes
		for k := c.places; k != noPlace; k = p.shared.places[k].next {
			gpus[p.shared.places[k].slot] += c.gpus
			jobs[p.shared.places[k].slot]++
		}
	}
	for i, n := range p.shared.slots {
		busy += min(n.jobs, 1)
		if n.jobs != jobs[i] || (n.jobs > 0 && n.free != p.gpus-gpus[i]) {
			return fmt.Errorf("slot %d is %+v, want %d jobs with %d GPUs", i, n, jobs[i], gpus[i])
		}
	}
	out, draining := int32(0), int32(0)
	for _, d := range s.drains {
		if s.conf.Outages[d.index].Pool == int(p.index) {
			out += d.out
			draining += d.busy
		}
	}
	if s.conf.Backfill == SlurmBackfill {
		if err := auditFuture(s, p); err != nil {
			return err
		}
	}
	nodes := int32(s.conf.Pools[p.index].Nodes)
	if p.total != nodes-out || p.free != p.total-busy || p.draining != draining || p.draining > busy {
		return fmt.Errorf("total %d, free %d, draining %d; want %d nodes less %d out, %d busy, %d draining",
			p.total, p.free, p.draining, nodes, out, busy, draining)
	}
	if p.free < 0 && s.conf.Events != PerEvent {
		return fmt.Errorf("%d free nodes", p.free)
	}
	return nil
}

func auditFuture(s *Sim, p *pool) error {
	var want profile
	want.reset(noTime, 0)
	for r := range p.running.all() {
		if r.nodes > 0 {
			want.change(ceilTo(r.est, s.conf.endGrid), r.nodes)
		}
	}
	for _, c := range s.cleaning {
		if c.pool == p.index && c.nodes > 0 {
			want.change(ceilTo(c.at, s.conf.endGrid), c.nodes)
		}
	}
	if got, want := flat(&p.future), flat(&want); got != want {
		return fmt.Errorf("the future is %s, want %s", got, want)
	}
	return nil
}

func flat(f *profile) string {
	var text string
	for _, p := range f.parts {
		text += fmt.Sprint(p.at, p.delta)
	}
	return text
}

func auditQueue(s *Sim, p *pool) error {
	n := 0
	var before *waiting
	for b := range p.queue.blocks {
		block := p.queue.blocks[b]
		if (len(block.jobs) == 0 && p.queue.n > 0) || len(block.jobs) > blockSize {
			return fmt.Errorf("block %d has %d jobs", b, len(block.jobs))
		}
		fewest, shortest, exact := block.fewest, block.shortest, block.measured
		block.measured = false
		block.measure()
		if fewest > block.fewest || shortest > block.shortest || (exact && (fewest != block.fewest || shortest != block.shortest)) {
			return fmt.Errorf("block %d says %d nodes and %d, want %d and %d", b, fewest, shortest, block.fewest, block.shortest)
		}
		n += len(block.jobs)
	}
	for w := range p.queue.all() {
		if before != nil && !s.ahead(before, w) {
			return fmt.Errorf("job %d before job %d", before.ref, w.ref)
		}
		if j := s.job(w.ref); j.nodes != w.nodes || j.limit != w.limit || s.poolOf(j) != p {
			return fmt.Errorf("job %d is %+v, waits as %+v", w.ref, *j, *w)
		}
		before = w
	}
	if n != p.queue.n {
		return fmt.Errorf("%d jobs, says %d", n, p.queue.n)
	}
	return nil
}

func auditUsers(s *Sim) error {
	if !s.conf.caps {
		return nil
	}
	want := userCounts{}
	want.grow(s.conf, s.users.n)
	for i := range s.pools {
		for r := range s.pools[i].running.all() {
			want.run(s.job(r.ref), 1)
			want.submit(s.job(r.ref), 1)
		}
		for w := range s.pools[i].queue.all() {
			want.submit(s.job(w.ref), 1)
		}
	}
	for _, h := range s.held {
		want.submit(s.job(h.ref), 1)
	}
	for _, a := range s.releases {
		want.submit(s.job(a.ref), 1)
	}
	for _, ref := range s.deferred {
		want.total[s.job(ref).user].deferred++
	}
	if !slices.Equal(want.total, s.users.total) || !slices.Equal(want.byQOS, s.users.byQOS) ||
		!slices.Equal(want.groupNodes, s.users.groupNodes) {
		return fmt.Errorf("users at %d hold %+v, want %+v", s.now, s.users, want)
	}
	return nil
}

// Planned returns the starts of the reservations that Conservative keeps.
func Planned(s *Sim) map[Ref]segue.Time {
	planned := map[Ref]segue.Time{}
	for i := range s.pools {
		if s.pools[i].keepsPlan {
			for w := range s.pools[i].queue.all() {
				planned[w.ref] = segue.Time(w.planned)
			}
		}
	}
	return planned
}

// RunEveryPass is Run with all passes at every point of a grid while a job
// waits and anything else may still happen. For Slurm the grid is that of
// backfill.
func RunEveryPass(s *Sim, grid time.Duration) {
	every := grid.Microseconds()
	if s.conf.Backfill == SlurmBackfill {
		every = s.conf.backfillEvery
	}
	for {
		t := s.nextInstant()
		if at := ceilTo(s.now+1, every); at <= t && s.waiting() > 0 && s.nextEvent() != never {
			t = at
			for i := range s.pools {
				if s.conf.Backfill == SlurmBackfill {
					s.pools[i].backfillAt = at
				}
				if s.conf.mainEvery <= 0 || at%s.conf.mainEvery == 0 || s.conf.Backfill != SlurmBackfill {
					s.pools[i].mainAt = at
				}
			}
			s.passAt = min(s.passAt, at)
		}
		if t == never {
			return
		}
		s.instant(t)
	}
}
