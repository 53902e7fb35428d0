package outcomes

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// Link is one job of a chain and what became of it.
type Link struct {
	Submit, Start, End segue.Time
	// Outcome is its start minus the end of the link before: positive is an
	// interruption, negative an overlap. 0 for the first.
	Outcome time.Duration
}

// Wait returns the link's time in the queue.
func (l *Link) Wait() time.Duration { return l.Start.Sub(l.Submit) }

// Decider says whether to submit the next link now. remaining is the time until
// the current link ends.
type Decider func(link int, remaining time.Duration, cluster *simulator.Sim) (submit bool, err error)

// Follow runs a chain of links from base's instant on: at every step while a
// link runs the decider is asked whether to submit the next one, which is
// submitted at the latest when the current one ends. base does not change;
// began, when not nil, is called with the fork in which the chain lives.
func Follow(base *simulator.Sim, link simulator.Job, links int, step time.Duration, decide Decider, began func(*simulator.Sim)) ([]Link, error) {
	if links < 1 || step < time.Second {
		return nil, segue.Errorf(segue.Invalid, "chain: %d links every %s, want at least 1 link and a step of at least 1s", links, step)
	}
	world := base.Fork(nil)
	if began != nil {
		began(world)
	}
	link.Run, link.Submit = link.Limit, world.Now()
	chain := []Link{{Submit: world.Now()}}
	start, err := submitAndRun(world, link)
	if err != nil {
		return nil, err
	}
	chain[0].Start, chain[0].End = start, start.Add(link.Limit)
	for k := 1; k < links; k++ {
		end := chain[k-1].End
		submit, err := submitTime(world, k, end, step, decide)
		if err != nil {
			return nil, err
		}
		start, err := submitAndRun(world, link)
		if err != nil {
			return nil, err
		}
		chain = append(chain, Link{Submit: submit, Start: start, End: start.Add(link.Limit), Outcome: start.Sub(end)})
	}
	return chain, nil
}

// submitTime lets time pass until the decider submits or the link ends. A link
// that started early has no decision before it runs, so the clock may be past
// the first step already.
func submitTime(world *simulator.Sim, k int, end segue.Time, step time.Duration, decide Decider) (segue.Time, error) {
	for remaining := end.Sub(world.Now()).Truncate(step); remaining > 0; remaining -= step {
		world.AdvanceTo(end.Add(-remaining))
		submit, err := decide(k, remaining, world)
		if err != nil || submit {
			return world.Now(), err
		}
	}
	world.AdvanceTo(end)
	return world.Now(), nil
}
