package provisioner_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// Jobs that wait are lost for good, or return after a while, and processes die at
// any call: after every round the scheduler has at most one job alive for a link,
// and in the end each link of the chain ran to its end once, and none is left out.
func TestLostJobsNeitherShortenNorDoubleAChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, crowded(), constantLead(6*hour))
		g := forgetting{w: w, f: &forgetful{Driver: w.driver, forgotten: map[segue.JobID]bool{}}, away: map[segue.JobID]bool{}}
		w.begin(segue.Terms{MaxLinks: 3})
		living := w.processOn(g.f)
		for i := 0; w.chain().State == segue.ChainActive && i < 200; i++ {
			w.driver.Advance(w.driver.Now().Add(4 * quarter))
			g.happen(r)
			if rapid.IntRange(0, 9).Draw(r, "dies") == 0 {
				dying := w.processOn(&fragile{Driver: g.f, kill: rapid.IntRange(1, 6).Draw(r, "at"), after: rapid.Bool().Draw(r, "after")})
				if err := dying.RunOnce(t.Context()); err != nil && !errors.Is(err, errKilled) && segue.KindOf(err) != segue.Unavailable {
					r.Fatal(err)
				}
			}
			if err := living.RunOnce(t.Context()); err != nil && segue.KindOf(err) != segue.Unavailable {
				r.Fatal(err)
			}
			for number, jobs := range g.alive(r) {
				if len(jobs) > 1 {
					r.Fatalf("%v are alive for link %d: %v", jobs, number, w.told())
				}
			}
		}
		if c := w.chain(); c.State != segue.ChainDone || c.Why != "All 3 links have run." {
			r.Fatalf("the chain is %s: %s: %v", c.State, c.Why, w.told())
		}
		ran := map[int]int{}
		for _, l := range w.links() {
			if l.State == segue.LinkEnded && l.Start.Known() && l.Ended == segue.Timeout {
				ran[l.Number]++
			}
		}
		if len(ran) != 3 || ran[1] != 1 || ran[2] != 1 || ran[3] != 1 {
			r.Fatalf("links ran %v times: %v", ran, w.told())
		}
	})
}

// forgetting has a cluster lose what waits.
type forgetting struct {
	w    *world
	f    *forgetful
	away map[segue.JobID]bool // that will return
}

// happen brings back what is away, or loses what waits, now and then.
func (g *forgetting) happen(r *rapid.T) {
	for _, jobs := range g.alive(r) { // of which one waits at most
		for id, state := range jobs {
			if state != segue.Pending {
				continue
			}
			switch rapid.IntRange(0, 19).Draw(r, "trouble") {
			case 0:
				if err := g.f.lose(r.Context(), id); err != nil {
					r.Fatal(err)
				}
			case 1:
				g.f.forgotten[id], g.away[id] = true, true
			}
		}
	}
	if len(g.away) > 0 && rapid.IntRange(0, 3).Draw(r, "returns") == 0 {
		for id := range g.away {
			delete(g.f.forgotten, id)
		}
		clear(g.away)
	}
}

// alive returns the jobs that the scheduler shows and that have not ended, by link.
func (g *forgetting) alive(r *rapid.T) map[int]map[segue.JobID]segue.JobState {
	state, err := g.f.State(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	byLink := map[int]map[segue.JobID]segue.JobState{}
	for i := range state.Jobs {
		j := &state.Jobs[i]
		_, _, number, _, ok := segue.FindToken(j.Comment)
		if !ok || schedulers.LifeOf(j.State) != schedulers.Alive {
			continue
		}
		if byLink[number] == nil {
			byLink[number] = map[segue.JobID]segue.JobState{}
		}
		byLink[number][j.ID] = j.State
	}
	return byLink
}
