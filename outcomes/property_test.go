package outcomes_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
)

// discipline is a scheduler to try.
type discipline struct {
	name string
	cfg  simulator.Config
	// ordered says that the order in which jobs of one instant are submitted
	// matters.
	ordered bool
	// startsOnce says that it matters whether the successor is submitted before or
	// after the pass in which the link starts, if that is at one instant: it comes
	// after, but from a list of jobs before.
	startsOnce bool
}

func disciplines() []discipline {
	return []discipline{
		{name: "first come first served"},
		{name: "easy", cfg: simulator.Config{Backfill: simulator.EASY}},
		{name: "conservative", cfg: simulator.Config{Backfill: simulator.Conservative}, ordered: true},
		{name: "easy per event", ordered: true, startsOnce: true, cfg: simulator.Config{
			Backfill: simulator.EASY, Events: simulator.PerEvent,
		}},
		{name: "slurm", startsOnce: true, cfg: simulator.Config{
			Backfill: simulator.SlurmBackfill, Slurm: simulator.Published(), Order: simulator.PublishedOrder(),
		}},
		{name: "easy with a cap", cfg: simulator.Config{
			Backfill: simulator.EASY, Limits: simulator.Limits{MaxRunningJobs: 2},
		}},
		{name: "easy with a failing node", cfg: simulator.Config{
			Backfill: simulator.EASY,
			Outages:  []simulator.Outage{{From: at(5 * hour), Until: at(9 * hour), Nodes: 1, Drain: true}},
		}},
	}
}

// drawJobs draws a workload on a grid of ten minutes, on which much happens at
// once. Where the order of submissions matters, no two are at one instant.
func drawJobs(t *rapid.T, nodes int, ordered bool) []simulator.Job {
	n := rapid.IntRange(0, 24).Draw(t, "jobs")
	tens := func(name string, most int) time.Duration {
		return time.Duration(rapid.IntRange(1, most).Draw(t, name)) * 10 * minute
	}
	jobs := make([]simulator.Job, 1+n)
	jobs[0] = earlier()
	for i := 1; i <= n; i++ {
		jobs[i] = job(tens("submit", 72), tens("run", 24), tens("limit", 36), int32(rapid.IntRange(1, nodes).Draw(t, "nodes")))
		jobs[i].User = int32(rapid.IntRange(1, 3).Draw(t, "user"))
		if ordered {
			jobs[i].Submit = jobs[i].Submit.Add(time.Duration(i) * time.Second)
		}
	}
	return jobs
}

// A point of the curve is what a separate simulation gives in which both links
// are in the list of jobs from the beginning.
func TestEveryPointEqualsASimulationFromTheBeginning(t *testing.T) {
	t.Parallel()
	for _, d := range disciplines() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.IntRange(1, 5).Draw(t, "cluster")
				cfg := d.cfg
				cfg.Pools = []simulator.Pool{{Name: "batch", Nodes: nodes}}
				jobs := drawJobs(t, nodes, d.ordered)
				l := link(int32(rapid.IntRange(1, nodes).Draw(t, "link nodes")), 2*hour+20*minute)
				now := time.Duration(rapid.IntRange(0, 72).Draw(t, "now")) * 10 * minute

				base, err := simulator.New(cfg, jobs)
				if err != nil {
					t.Fatal(err)
				}
				base.AdvanceTo(at(now))
				before := fmt.Sprint(future(base))
				var p outcomes.Prober
				c, err := p.Curve(base, l, outcomes.Grid{Step: 20 * minute})
				if err != nil {
					t.Fatal(err)
				}
				if after := fmt.Sprint(future(base)); after != before {
					t.Fatalf("probing changed the cluster's future\nfrom %s\nto   %s", before, after)
				}
				for k, lead := range c.Leads {
					if d.startsOnce && lead == l.Limit {
						continue
					}
					start, next := fromTheBeginning(t, cfg, jobs, l, c.Submit, lead)
					if start != c.Start {
						t.Fatalf("the link starts at %s, from the beginning at %s", c.Start, start)
					}
					if want := next.Sub(c.End); c.Outcomes[k] != want {
						t.Fatalf("a lead of %s gives %s, from the beginning %s", lead, c.Outcomes[k], want)
					}
				}
			})
		})
	}
}

// fromTheBeginning returns the starts of the link and of its successor.
func fromTheBeginning(
	t *rapid.T, cfg simulator.Config, jobs []simulator.Job, l simulator.Job, submit segue.Time, lead time.Duration,
) (start, next segue.Time) {
	l.Submit = submit
	all := append(append([]simulator.Job(nil), jobs...), l)
	alone, err := simulator.Replay(cfg, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	start = alone.Starts[len(jobs)]
	l.Submit = start.Add(l.Limit - lead)
	both, err := simulator.Replay(cfg, append(all, l), nil)
	if err != nil {
		t.Fatal(err)
	}
	if both.Starts[len(jobs)] != start {
		t.Fatalf("the successor moves the start of the link from %s to %s", start, both.Starts[len(jobs)])
	}
	return start, both.Starts[len(jobs)+1]
}
