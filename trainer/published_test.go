package trainer

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/predictor/trees"
)

// column returns the place in a state of a number of the newest snapshot.
func column(number int) int { return (published.Steps-1)*published.StepWidth + number }

// predecessorRun is the place in a step of how long the first job has run.
const predecessorRun = published.QueueWidth + 3

// stump returns a policy for a pair that foretells before until the number of
// the newest snapshot reaches the bound, and after from then on.
func stump(t *testing.T, name string, pair segue.Shape, number int, bound, before, after float32) *published.Policy {
	t.Helper()
	data, err := trees.Encode(&trees.Model{Objective: "reg:squarederror", Features: published.StateWidth, Trees: []trees.Tree{{
		{Left: 1, Right: 2, Feature: column(number), Value: bound}, {Value: before}, {Value: after},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return &published.Policy{Name: name, Pair: pair, Trees: data}
}

func TestSamplesOfThePublishedMethod(t *testing.T) {
	t.Parallel()
	cfg := quickSamples()
	other := cfg.Replays[0].WithNodes(0.75) // which the method does not look at
	cfg.Replays = append(cfg.Replays, other)
	all, err := GatherPublished(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 || all[0].Pair != pair {
		t.Fatalf("samples of %d pairs", len(all))
	}
	s := all[0]
	if s.Starts < 10 || s.Starts >= 27 || len(s.Outcomes) != s.Starts*published.Probes || len(s.States) != len(s.Outcomes)*published.StateWidth {
		t.Fatalf("%d starts of 27, %d outcomes, %d numbers: want some and not the last, 7 and 7 x 6048 for each", s.Starts, len(s.Outcomes), len(s.States))
	}
	for i := range s.Starts {
		at := midnight(8).Add(time.Duration(i) * 8 * hour)
		curve, err := Probe(cfg.setup(cfg.Replays[0], pair), at)
		if err != nil {
			t.Fatal(err)
		}
		last := i*published.Probes + published.Probes - 1
		if got, want := float64(s.Outcomes[last]), curve.Reactive().Hours(); math.Abs(got-want) > 1e-5 {
			t.Errorf("start %s: at the end %v h, want the reactive outcome %v h", at, got, want)
		}
		wait := float32(curve.Start.Sub(at).Seconds())
		for probe, want := range map[int][]float32{
			0:                    {720, 2, min(wait, 60), max(0, 60-wait), 720, 2, 0, 0},
			published.Probes - 1: {720, 2, wait, 12 * 3600, 720, 2, 0, 0},
		} {
			state := s.States[(i*published.Probes+probe)*published.StateWidth:]
			if diff := cmp.Diff(want, state[column(published.QueueWidth):column(published.StepWidth)]); diff != "" {
				t.Errorf("start %s, probe %d: the pair differs (-want +got):\n%s", at, probe, diff)
			}
		}
	}
}

func TestSnapshotsAreThoseOfTheReplay(t *testing.T) {
	t.Parallel()
	s := setupOf(busyReplay(1, 10)).withDefaults()
	until := midnight(5).Add(5 * minute)
	line, err := s.snapshots(t.Context(), until)
	if err != nil {
		t.Fatal(err)
	}
	if next := line.Next(0); next != midnight(5).Add(10*minute) {
		t.Errorf("the next snapshot is of %s", next)
	}
	var d published.Describer
	for _, at := range []segue.Time{midnight(1), midnight(3).Add(7*hour + 50*minute), midnight(5)} {
		cluster, _ := watched(t, s, at)
		snap := cluster.Snapshot(0)
		k := int(at.Sub(line.From) / published.Step)
		got := line.Queues[k*published.QueueWidth:][:published.QueueWidth]
		if diff := cmp.Diff(d.Queue(&snap, nil), got); diff != "" {
			t.Errorf("%s: the snapshot differs (-want +got):\n%s", at, diff)
		}
	}
}

// A policy that foretells much overlap until the first job has run for eight
// hours submits with four hours left, whatever threshold lies between.
func TestPublishedRuleSubmitsWhenTheForetoldOutcomeReachesTheThreshold(t *testing.T) {
	t.Parallel()
	s := setupOf(busyReplay(1, 20))
	episodes, err := Collect(t.Context(), s, Starts(midnight(6), midnight(10), 12*hour), nil)
	if err != nil {
		t.Fatal(err)
	}
	early, err := Collect(t.Context(), s, []segue.Time{midnight(1).Add(hour)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	episodes = append(episodes, early...)
	p := stump(t, published.Forest, pair, predecessorRun, 8*3600, -6, 2)
	contenders := Published([]*published.Policy{p})
	if _, err := contenders[0].Choose(&episodes[0]); segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v where nothing was foretold, want one of kind invalid", err)
	}
	if err := s.watch(t.Context(), episodes); err != nil {
		t.Fatal(err)
	}
	if err := ForetellPublished(t.Context(), episodes, []*published.Policy{p}); err != nil {
		t.Fatal(err)
	}
	names := []string{contenders[0].Name(), contenders[1].Name()}
	if diff := cmp.Diff([]string{"published-forest", "published-forest-as-published"}, names); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
	for i := range episodes {
		e := &episodes[i]
		last := len(e.Curve.Leads) - 1
		lead := func(param float64) time.Duration {
			switch {
			case i == len(episodes)-1: // not a day of snapshots
				return 0
			case param > 2:
				return 0
			case param > -6:
				return 4 * hour
			}
			return e.Curve.Leads[last]
		}
		for _, c := range contenders {
			chosen, err := c.Choose(e)
			if err != nil {
				t.Fatal(err)
			}
			for n, param := range c.Params() {
				if got := e.Curve.Leads[chosen[n]]; got != lead(param) {
					t.Errorf("%s of start %s at %v h: a lead of %s, want %s", c.Name(), e.Curve.Submit, param, got, lead(param))
				}
			}
		}
	}
}

func TestBacktestHasTheRowsOfThePublishedMethod(t *testing.T) {
	t.Parallel()
	cfg := quickly(busyReplay(1, 30))
	cfg.Families, cfg.Stress = families(t, "reactive"), true
	method := &published.Model{Policies: []published.Policy{
		*stump(t, published.Forest, pair, predecessorRun, 8*3600, -6, 2),
		*stump(t, published.XGBoost, segue.Shape{Nodes: 1, Limit: 12 * hour}, 0, 1, 0, 0),
	}}
	model := Trained{Model: toymodel.New(t, hour, 2*hour), Until: midnight(6)}
	model.Published, model.Notes = method.For(pair)
	cfg.Models = []Trained{model}
	report := run(t, cfg).Report
	results := []evaluation.Result{report.Result}
	for _, s := range report.Stress {
		results = append(results, s.Result)
	}
	for _, r := range results {
		rows := map[string]evaluation.Score{}
		for _, p := range r.Policies {
			if strings.HasPrefix(p.Name, "published") {
				rows[p.Name] = p
			}
		}
		free, fixed := rows["published-forest"], rows["published-forest-as-published"]
		if len(rows) != 2 || fixed.Tuned.Parameter != published.Threshold || !slices.Contains(published.Thresholds(), float64(free.Tuned.Parameter)) {
			t.Errorf("rows %v", rows)
		}
	}
	if len(results) < 2 {
		t.Error("there is no stress run")
	}

	cfg.Pair = segue.Shape{Nodes: 3, Limit: 12 * hour}
	model.Published, model.Notes = method.For(cfg.Pair)
	cfg.Models, cfg.Stress = []Trained{model}, false
	report = run(t, cfg).Report
	want := []string{"The rows of the published method are left out: the model has them for pairs of 2 nodes x 12h0m0s and of 1 node x 12h0m0s, not of 3 nodes x 12h0m0s."}
	if diff := cmp.Diff(want, report.Notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
	for _, p := range report.Policies {
		if strings.HasPrefix(p.Name, "published") {
			t.Errorf("%s has a row for pairs that it was not fitted for", p.Name)
		}
	}
}
