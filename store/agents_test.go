package store

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

// Two agents do to a chain whatever they like, on the ground of what they saw at
// some time. After each of their steps: at most one link waits (besides one that
// was requeued), no number is left out, no state went where it may not, and no link
// is lost that has run.
func TestAgentsWithStaleViewsBreakNothing(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			chains := 0
			rapid.Check(t, func(r *rapid.T) {
				chains++
				g := game{s: s, chain: fmt.Sprintf("c%d", chains), now: t0}
				if err := s.CreateChain(r.Context(), aChain(g.chain), aLink(g.chain, 1)); err != nil {
					r.Fatal(err)
				}
				g.links = g.look(r)
				g.views[0], g.views[1] = g.links, g.links
				r.Repeat(map[string]func(*rapid.T){
					"look":   func(r *rapid.T) { g.views[g.agent(r)] = g.look(r) },
					"plan":   g.plan,
					"update": g.update,
					"set":    g.set,
					"":       g.check,
				})
			})
		})
	}
}

type game struct {
	s     *Store
	chain string
	now   segue.Time
	views [2][]segue.Link // what each agent saw
	links []segue.Link    // how it was after the step before
}

func (g *game) agent(r *rapid.T) int { return rapid.IntRange(0, 1).Draw(r, "agent") }

func (g *game) look(r *rapid.T) []segue.Link {
	links, err := g.s.Links(r.Context(), g.chain)
	if err != nil {
		r.Fatal(err)
	}
	return links
}

func (g *game) plan(r *rapid.T) {
	view := g.views[g.agent(r)]
	g.now = g.now.Add(time.Minute)
	_, err := g.s.NextLink(r.Context(), view[len(view)-1], aDecision(g.now))
	g.allow(r, err)
}

func (g *game) update(r *rapid.T) {
	l := rapid.SampledFrom(g.views[g.agent(r)]).Draw(r, "link")
	was := l.State
	l.State = segue.LinkState(rapid.IntRange(0, int(segue.LinkLost)).Draw(r, "to"))
	if was == segue.LinkRunning && l.State == segue.LinkQueued {
		l.Restarts++
	}
	g.allow(r, g.s.UpdateLink(r.Context(), was, l))
}

func (g *game) set(r *rapid.T) {
	from := segue.ChainState(rapid.IntRange(0, int(segue.ChainFailed)).Draw(r, "from"))
	to := segue.ChainState(rapid.IntRange(0, int(segue.ChainPaused)).Draw(r, "to")) // so that the game goes on
	g.allow(r, g.s.SetChainState(r.Context(), g.chain, from, to, ""))
}

// allow fails unless a step was made or refused with Conflict.
func (g *game) allow(r *rapid.T, err error) {
	if err != nil && segue.KindOf(err) != segue.Conflict {
		r.Fatal(err)
	}
}

func (g *game) check(r *rapid.T) {
	before := g.links
	g.links = g.look(r)
	waiting := 0
	for i, l := range g.links {
		if l.State == segue.LinkSubmitting || (l.State == segue.LinkQueued && l.Restarts == 0) {
			waiting++
		}
		if i > 0 {
			if p := g.links[i-1]; l.Number != p.Number+1 && (l.Number != p.Number || l.Attempt != p.Attempt+1 || p.State != segue.LinkLost) {
				r.Fatalf("%s follows %s, which is %s", l.Token(), p.Token(), p.State)
			}
		}
		if i < len(before) && before[i].Restarts > 0 && before[i].State != l.State && l.State == segue.LinkLost {
			r.Fatalf("%s had run, and is lost", l.Token())
		}
		if i < len(before) && before[i].State != l.State && !before[i].State.MayBecome(l.State) {
			r.Fatalf("%s went from %s to %s", l.Token(), before[i].State, l.State)
		}
	}
	if waiting > 1 {
		r.Fatalf("%d links wait: %+v", waiting, g.links)
	}
	if len(g.links) < len(before) {
		r.Fatalf("a link is gone: %d after %d", len(g.links), len(before))
	}
	if _, err := g.s.Chain(r.Context(), g.chain); err != nil {
		r.Fatal(err)
	}
}
