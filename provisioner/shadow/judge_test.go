package shadow_test

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/provisioner/shadow"
)

// busy is a cluster of one node on which ada trains for a day. ben comes at 12 h
// with six hours of work, and she resubmits an hour after her job has ended, when
// ben's runs: she waits from 25 h to 30 h.
func busy() []segue.Job {
	var l log
	l.job("ada", "train", 1, 0, 0, 24*hour, 24*hour)
	l.job("ben", "fold", 1, 12*hour, 24*hour, 30*hour, 6*hour)
	l.job("ada", "train", 1, 25*hour, 30*hour, 40*hour, 24*hour)
	l.late()
	return l.jobs
}

// What each way comes to can be told by hand: whoever submits before ben goes
// before him, at 24 h, and everybody else after him, at 30 h.
func TestWaysOnAQueueToldByHand(t *testing.T) {
	t.Parallel()
	history := busy()
	cfg := config(t, history, 1)
	r := judged(t, cfg)
	if len(r.Judged) != 1 {
		t.Fatalf("%d hand-overs, want 1", len(r.Judged))
	}
	j := &r.Judged[0]
	for way, want := range map[shadow.Way]time.Duration{
		shadow.Recorded: 6 * hour, shadow.User: 6 * hour, shadow.AfterAny: 6 * hour, shadow.Oracle: 0, shadow.FixedLead: 0,
	} {
		if got := j.Outcome(history, way); got != want {
			t.Errorf("%s: the successor starts %s after the end, want %s", way, got, want)
		}
	}
	if got, want := j.Submit[shadow.Oracle], at(12*hour); got > want {
		t.Errorf("the oracle submits at %s, want before ben at %s", got, want)
	}
	if r.Lead < 12*hour {
		t.Errorf("the cheapest fixed lead is %s, want 12 h at least", r.Lead)
	}
	if j.How != shadow.AfterEnd || j.Asked == 0 {
		t.Errorf("the user went on by %s, and advice was asked for %d times", j.How, j.Asked)
	}
	if !j.Forecast.At.Known() || j.Forecast.At != at(25*hour) {
		t.Errorf("the forecast of the own submission is of %s, want %s", j.Forecast.At, at(25*hour))
	}
}

// Where nothing waits advice waits for the end, and there is nothing to gain.
func TestNothingIsGainedOnAnIdleCluster(t *testing.T) {
	t.Parallel()
	var l log
	l.job("ada", "train", 1, 0, 0, 24*hour, 24*hour)
	l.job("ada", "train", 1, 24*hour, 24*hour, 30*hour, 24*hour)
	l.late()
	j := judged(t, config(t, l.jobs, 4)).Judged[0]
	for _, way := range []shadow.Way{shadow.Recorded, shadow.User, shadow.Segue, shadow.Shifted, shadow.AfterAny, shadow.Oracle} {
		if got := j.Outcome(l.jobs, way); got != 0 {
			t.Errorf("%s: %s from the end to the start, want none", way, got)
		}
	}
	if j.Decision != nil || j.Submit[shadow.Segue] != at(24*hour) {
		t.Errorf("Segue submits at %s by %+v, want at the end", j.Submit[shadow.Segue], j.Decision)
	}
}

// A successor that was held by a dependency counts from when it could start.
func TestADependentSuccessorCountsFromTheEnd(t *testing.T) {
	t.Parallel()
	history := busy()
	history[2].Submit, history[2].Eligible = at(2*hour), at(24*hour)
	j := judged(t, config(t, history, 1)).Judged[0]
	if j.How != shadow.Dependent || j.Submit[shadow.User] != at(24*hour) || j.Outcome(history, shadow.User) != 6*hour {
		t.Errorf("%s, from %s on, %s: want dependent, from the end, 6 h", j.How, j.Submit[shadow.User], j.Outcome(history, shadow.User))
	}
	if !j.Forecast.Empty() {
		t.Error("there is a forecast of a wait that was not the queue's doing")
	}
}

// A limit of one running job for each user holds ada's successor in the world until
// her job has ended, however early it is submitted.
func TestTheWorldHoldsLimits(t *testing.T) {
	t.Parallel()
	var l log
	l.job("ada", "train", 1, 0, 0, 24*hour, 24*hour)
	l.job("ada", "train", 1, 25*hour, 25*hour, 40*hour, 24*hour)
	l.late()
	cfg := config(t, l.jobs, 2)
	cfg.World.Cluster.Limits.MaxRunningJobs = 1
	j := judged(t, cfg).Judged[0]
	for way := shadow.Segue; way < shadow.Ways; way++ {
		if x := j.Outcome(l.jobs, way); x < 0 || x > time.Minute {
			t.Errorf("%s: %s, want to start at the end", way, x)
		}
	}
}

// A job that still runs at the end of the history runs to its limit in the world.
func TestWhatHasNotEndedRunsToItsLimit(t *testing.T) {
	t.Parallel()
	history := busy()
	history[1].End, history[1].State, history[1].Limit = segue.NoTime, segue.Running, 10*hour
	history[2].Start, history[2].End = at(35*hour), at(40*hour)
	if got := judged(t, config(t, history, 1)).Judged[0].Outcome(history, shadow.AfterAny); got != 10*hour {
		t.Errorf("submitted at the end the successor starts after %s, want 10 h", got)
	}
}

// All advice is what Segue would have said then: it is that of provisioner.Advise
// from a history which holds nothing of what had not happened yet, without the
// jobs by which the user went on.
func TestAdviceKnowsNothingOfTheFuture(t *testing.T) {
	t.Parallel()
	given := 0
	rapid.Check(t, func(r *rapid.T) {
		history := drawHistory(r)
		cfg := config(t, history, 3)
		cfg.Every = 4 * hour
		cfg.Advised = func(h shadow.Handover, d segue.Decision) {
			given++
			a := history[h.Before]
			now := predictor.RecordedAt(predictor.Known(history, d.At), d.At, 3)
			now.Owner = a.User
			keep := func(list []segue.QueuedJob) (kept []segue.QueuedJob) {
				for _, q := range list {
					if !goneOn(&history[q.ID.Number-1], &a) {
						kept = append(kept, q)
					}
				}
				return kept
			}
			now.Snapshot.Running, now.Snapshot.Pending = keep(now.Snapshot.Running), keep(now.Snapshot.Pending)
			shape := segue.Shape{Nodes: int(a.Nodes), Limit: a.Limit}
			midnight := segue.TimeOf(d.At.Std().Truncate(24 * time.Hour))
			past, err := provisioner.LookBack(t.Context(), provisioner.Trained{Pairs: []segue.Shape{shape}},
				predictor.Known(history, midnight), midnight, cfg.Cluster, cfg.Monte)
			if err != nil {
				r.Fatal(err)
			}
			want, err := provisioner.Advise(past, now, cfg.Cluster, cfg.Monte, provisioner.Question{
				Request:   segue.Request{Shape: shape, User: a.User},
				Remaining: max(a.Start.Add(a.Limit).Sub(d.At), 0), Step: max(a.Start.Add(a.Limit).Sub(d.At), hour),
			})
			if err != nil {
				r.Fatal(err)
			}
			if diff := cmp.Diff(want, d); diff != "" {
				r.Fatalf("advice at %s about job %s (-known then +given):\n%s", d.At, a.ID, diff)
			}
			if d.At <= a.Start || d.At >= a.End {
				r.Fatalf("advice at %s about a job that runs from %s to %s", d.At, a.Start, a.End)
			}
		}
		judged(r, cfg)
	})
	if given == 0 {
		t.Error("no advice was looked at")
	}
}

// goneOn reports whether j is a later job of the line of a.
func goneOn(j, a *segue.Job) bool {
	stem := func(name string) string { return strings.TrimRight(name, "0123456789") }
	return j.ID != a.ID && j.User == a.User && j.Nodes == a.Nodes && stem(j.Name) == stem(a.Name) && (!j.Start.Known() || j.Start > a.Start)
}

// Segue never submits before the predecessor runs, nor after its end; no way starts
// before it is submitted; and nothing that was tried is cheaper than the oracle.
func TestWaysKeepTheirPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		history := drawHistory(r)
		cfg := config(t, history, 3)
		cfg.Every, cfg.MaxLead = 2*hour, time.Duration(rapid.IntRange(0, 10).Draw(r, "cap, hours"))*hour
		result := judged(r, cfg)
		cost := func(x time.Duration) float64 { return segue.Balanced.Cost(max(x, 0), max(-x, 0)) }
		for i := range result.Judged {
			j := &result.Judged[i]
			a := history[j.Before]
			if s := j.Submit[shadow.Segue]; s <= a.Start || s > a.End {
				r.Fatalf("Segue submits at %s beside a job from %s to %s", s, a.Start, a.End)
			}
			if lead := a.Start.Add(a.Limit).Sub(j.Submit[shadow.Segue]); cfg.MaxLead > 0 && j.Decision != nil && lead > cfg.MaxLead {
				r.Fatalf("Segue submits %s before the limit, the user allows %s", lead, cfg.MaxLead)
			}
			for way := range shadow.Ways {
				if j.Start[way] < j.Submit[way] {
					r.Fatalf("%s starts at %s and is submitted at %s", way, j.Start[way], j.Submit[way])
				}
				if inWorld := way != shadow.Recorded && way != shadow.Shifted; inWorld && cost(j.Outcome(history, way)) < cost(j.Outcome(history, shadow.Oracle)) {
					r.Fatalf("%s is cheaper than the oracle", way)
				}
			}
		}
	})
}

func TestJudgeRefusesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*shadow.Config){
		"a period that ends before it begins": func(c *shadow.Config) { c.Until = c.From },
		"advice every second":                 func(c *shadow.Config) { c.Every = time.Second },
		"a negative cap":                      func(c *shadow.Config) { c.MaxLead = -hour },
		"a negative rule":                     func(c *shadow.Config) { c.Rule.Within = -hour },
		"no cluster":                          func(c *shadow.Config) { c.Cluster.Pools = nil },
		"another history's world":             func(c *shadow.Config) { c.World.Jobs = c.World.Jobs[1:] },
		"half a future":                       func(c *shadow.Config) { c.Monte.Replicas = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, busy(), 1)
			change(&cfg)
			if _, err := shadow.Judge(t.Context(), cfg); segue.KindOf(err) != segue.Invalid {
				t.Errorf("the error is %v, want one of kind invalid", err)
			}
		})
	}
}

// Nothing can be submitted from here: the package does not even know schedulers.
func TestShadowKnowsNoScheduler(t *testing.T) {
	t.Parallel()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		seen++
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range parsed.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			if strings.Contains(path, "/schedulers") || slices.Contains([]string{"os", "os/exec", "net", "net/http", "syscall"}, path) {
				t.Errorf("%s imports %s", f.Name(), path)
			}
		}
	}
	if seen == 0 {
		t.Error("no file of the package was looked at")
	}
}
