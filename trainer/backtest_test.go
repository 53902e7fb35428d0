package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/simulator"
)

func run(t *testing.T, cfg BacktestConfig) BacktestResult {
	t.Helper()
	result, err := Backtest(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBacktestIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	t.Parallel()
	var want string
	for _, workers := range []int{1, 3} {
		other := busyReplay(2, 30)
		other.Name = "faithful"
		cfg := quickly(busyReplay(1, 30), other)
		cfg.Stress, cfg.Workers, cfg.Every = true, workers, 24*hour
		var mu sync.Mutex
		var last, total int
		cfg.Progress = func(done, of int) {
			mu.Lock()
			defer mu.Unlock()
			last, total = max(last, done), of
		}
		got := jsonOf(t, run(t, cfg).Report)
		if last != total || total == 0 {
			t.Errorf("at the end %d of %d episodes are done", last, total)
		}
		if want == "" {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d workers report something else than one (-one +more):\n%s", workers, diff)
		}
	}
}

func TestBacktestReportsEveryRun(t *testing.T) {
	t.Parallel()
	faithful := busyReplay(2, 100)
	faithful.Name = "faithful"
	cfg := quickly(busyReplay(1, 100), faithful)
	cfg.Every, cfg.Rolling, cfg.Stress = 24*hour, true, true
	cfg.Families = families(t, "reactive", "forward-limits-scaled")
	cfg.Split.Tune.To, cfg.Split.Test = midnight(32), evaluation.Period{From: midnight(32), To: midnight(91)}
	got := run(t, cfg).Report

	var stress []string
	for _, s := range got.Stress {
		stress = append(stress, s.Name)
	}
	wantStress := []string{
		"plain_fewer_nodes", "plain_hidden_priority", "plain_user_caps", "plain_outage",
		"faithful", "faithful_fewer_nodes", "faithful_hidden_priority", "faithful_user_caps", "faithful_outage",
	}
	if diff := cmp.Diff(wantStress, stress); diff != "" {
		t.Errorf("stress runs differ (-want +got):\n%s", diff)
	}
	var months []string
	for _, m := range got.Rolling.Runs {
		months = append(months, m.Label)
	}
	if diff := cmp.Diff([]string{"2023-03"}, months); diff != "" { // after January for training and February for tuning
		t.Errorf("months differ (-want +got):\n%s", diff)
	}
	var policies []string
	for _, p := range got.Policies {
		policies = append(policies, p.Name)
	}
	if diff := cmp.Diff([]string{"constant", "reactive", "forward-limits-scaled", "oracle"}, policies); diff != "" {
		t.Errorf("policies differ (-want +got):\n%s", diff)
	}
	if got.BestPlanner != "forward-limits-scaled" || got.PairNodes != 2 || got.PairTime != "12h0m0s" {
		t.Errorf("best planner %q for a pair of %d nodes x %s", got.BestPlanner, got.PairNodes, got.PairTime)
	}
}

func TestMonthsDoNotChangeTheHeadline(t *testing.T) {
	t.Parallel()
	cfg := quickly(busyReplay(1, 100))
	cfg.Every = 31 * hour // does not divide a day
	cfg.Families = families(t, "forward-limits-scaled")
	cfg.Split.Tune = evaluation.Period{From: midnight(40), To: midnight(60)}
	cfg.Split.Test = evaluation.Period{From: midnight(60), To: midnight(91)}
	want := run(t, cfg).Report
	cfg.Rolling = true
	got := run(t, cfg).Report
	if got.Rolling == nil {
		t.Fatal("no months")
	}
	if diff := cmp.Diff(jsonOf(t, want.Result), jsonOf(t, got.Result)); diff != "" {
		t.Errorf("the headline differs (-without +with months):\n%s", diff)
	}
}

func TestBacktestOfTheSmallestCluster(t *testing.T) {
	t.Parallel()
	r := busyReplay(1, 30)
	r.Cluster.Pools[0].Nodes = 1
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		r.Jobs[i].Nodes, r.Jobs[i].Run = 1, r.Jobs[i].Run/20
	}
	cfg := quickly(r)
	cfg.Pair.Nodes, cfg.Stress, cfg.Families = 1, true, families(t, "reactive")
	got := run(t, cfg).Report
	if len(got.Stress) != 3 || got.BestPlanner != "" {
		t.Errorf("%d stress runs and the best planner %q, want 3 and none", len(got.Stress), got.BestPlanner)
	}
}

// laterJobs returns the replay with other submissions from the instant from on.
func laterJobs(r Replay, from segue.Time, days int) Replay {
	rng := rand.New(rand.NewPCG(77, 0))
	r.Jobs = slices.Clone(r.Jobs)
	r.Jobs = slices.DeleteFunc(r.Jobs, func(j simulator.Job) bool { return j.Submit >= from })
	for d := range days {
		for range 40 {
			r.Jobs = append(r.Jobs, busyJob(rng, from.Add(time.Duration(d)*day)))
		}
	}
	return r
}

// Nothing that comes after a period bears on what is made of it, however long
// the queue is.
func TestLaterJobsDoNotBearOnAPeriod(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2, 3} {
		cfg := quickly(busyReplay(seed, 36))
		cfg.Stress = seed == 1
		want := run(t, cfg)

		cfg.Replays = []Replay{laterJobs(busyReplay(seed, 36), cfg.Split.Test.To, 5)}
		got := run(t, cfg)
		if diff := cmp.Diff(jsonOf(t, want.Report), jsonOf(t, got.Report)); diff != "" {
			t.Errorf("seed %d: jobs after the test period change the report (-want +got):\n%s", seed, diff)
		}
		if diff := cmp.Diff(want.Test, got.Test); diff != "" {
			t.Errorf("seed %d: jobs after the test period change its episodes (-want +got):\n%s", seed, diff)
		}

		cfg.Stress = false
		cfg.Replays = []Replay{laterJobs(busyReplay(seed, 36), cfg.Split.Tune.To, 15)}
		got = run(t, cfg)
		if diff := cmp.Diff(parameters(want.Report), parameters(got.Report)); diff != "" {
			t.Errorf("seed %d: jobs after the tuning period change what is tuned (-want +got):\n%s", seed, diff)
		}
		if got.Report.BestPlanner != want.Report.BestPlanner {
			t.Errorf("seed %d: the best planner is %s instead of %s", seed, got.Report.BestPlanner, want.Report.BestPlanner)
		}
		if cmp.Equal(jsonOf(t, want.Report), jsonOf(t, got.Report)) {
			t.Errorf("seed %d: the test period does not differ either", seed)
		}
	}
}

func parameters(r evaluation.Report) map[string]evaluation.Number {
	tuned := map[string]evaluation.Number{}
	for _, p := range r.Policies {
		tuned[p.Name] = p.Tuned.Parameter
	}
	return tuned
}

func TestDecidedEndsAtTheFirstStartThatIsNot(t *testing.T) {
	t.Parallel()
	period := evaluation.Period{From: midnight(1), To: midnight(5)}
	// A start every day, whose outcomes are known so many hours later.
	after := func(hours ...int) []Episode {
		var list []Episode
		for i, h := range hours {
			e := episodeOf(midnight(1+i), []float64{0}, nil)
			e.Curve.End = e.Curve.Submit.Add(time.Duration(h) * hour)
			list = append(list, e)
		}
		return list
	}
	tests := map[string]struct {
		episodes []Episode
		want     int // starts that may be judged
	}{
		"all are decided":                       {after(20, 20, 20, 20), 4},
		"the last is decided at the end":        {after(20, 20, 20, 24), 3},
		"the second is open, the third decided": {after(20, 72, 20, 20), 1},
		"none is decided":                       {after(96, 20, 20, 20), 0},
		"one after the period counts for none":  {after(20, 20, 20, 20, 500), 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := judged(tt.episodes, period, 0); len(got) != tt.want {
				t.Errorf("%d starts may be judged, want %d", len(got), tt.want)
			}
			if got := judged(after(20, 20, 20, 20), period, 30*hour); len(got) != 3 {
				t.Errorf("%d starts with an embargo of 30 h, want 3", len(got))
			}
		})
	}
}

func TestBacktestRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*BacktestConfig)
		want   string
	}{
		"no replay": {func(c *BacktestConfig) { c.Replays = nil }, "backtest: no replay"},
		"starts that go backwards": {
			func(c *BacktestConfig) { c.Every = -hour }, "backtest: a start every -1h0m0s, want at least a minute between two",
		},
		"a policy twice": {
			func(c *BacktestConfig) { c.Families = append(policy.Families(), policy.Families()[1]) },
			"backtest: the policy average is there twice",
		},
		"a pair larger than the cluster": {
			func(c *BacktestConfig) { c.Pair.Nodes = 9 }, "backtest: a pair of 9 nodes on a cluster of 8",
		},
		"a step of leads backwards": {
			func(c *BacktestConfig) { c.Grid.Step = -hour },
			"backtest: grid of leads: step -1h0m0s, max 0s; want a step of at least 1s and a max of 0 or more",
		},
		"a test period after the history": {
			func(c *BacktestConfig) { c.Split.Test.To = midnight(60) },
			"backtest: the test period ends at 2023-03-01T00:00:00Z, but the last job of the history is submitted at 2023-01-30T22:59:00Z",
		},
		"a preference that is none": {
			func(c *BacktestConfig) { c.Prefer = -1 }, "backtest: the preference is -1, want more than 0, or 0 for balanced",
		},
		"a period in which nothing is decided": {
			func(c *BacktestConfig) {
				c.Split.Tune.To = midnight(7)
				c.Split.Embargo = 0
				c.Every = 23 * hour
				c.Pair.Limit = 24 * hour
			},
			"backtest: the tuning period from 2023-01-06T00:00:00Z to 2023-01-07T00:00:00Z has no start whose outcome is known by its end",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := quickly(busyReplay(1, 30))
			cfg.Families = families(t, "reactive")
			tt.change(&cfg)
			_, err := Backtest(t.Context(), cfg)
			if err == nil || err.Error() != tt.want || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error %v (%s), want %q (invalid)", err, segue.KindOf(err), tt.want)
			}
		})
	}
}

func TestBacktestStopsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cfg := quickly(busyReplay(1, 30))
	cfg.Progress = func(int, int) { cancel() }
	_, err := Backtest(ctx, cfg)
	if !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "backtest: ") {
		t.Errorf("error %v, want that the backtest was cancelled", err)
	}
}
