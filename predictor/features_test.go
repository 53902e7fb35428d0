package predictor_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
)

// featuresOf returns the features by name.
func featuresOf(t fataler, now predictor.Present, req segue.Request, told predictor.Told) map[string]float64 {
	t.Helper()
	names := predictor.FeatureNames()
	values := new(predictor.Describer).Describe(&now, req, told, nil)
	if len(values) != len(names) {
		t.Fatal(len(values), "features with", len(names), "names")
	}
	named := map[string]float64{}
	for i, name := range names {
		named[name] = float64(values[i])
	}
	return named
}

func TestFeatureNamesAreUniqueAndPlain(t *testing.T) {
	t.Parallel()
	names := predictor.FeatureNames()
	if n := len(slices.Compact(slices.Sorted(slices.Values(names)))); n != len(names) || n < 60 {
		t.Errorf("%d names, %d of them different", len(names), n)
	}
	for _, name := range names {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._-", r) }) {
			t.Errorf("the name %q has more than lower-case letters, digits, dots, dashes and underscores", name)
		}
	}
	other := append(slices.Clone(names[1:]), names[0])
	if predictor.FeatureHash(names) == predictor.FeatureHash(other) {
		t.Error("the hash does not tell two orders of the features apart")
	}
}

// A cluster of ten nodes at noon: 6 busy, one job waiting for 8, one held.
func TestFeaturesByHand(t *testing.T) {
	t.Parallel()
	noon := at(12 * hour)
	job := func(id int64, user string, nodes int, limit, submitted, started time.Duration) segue.QueuedJob {
		q := segue.QueuedJob{
			ID: segue.JobID{Number: id}, Request: segue.Request{Shape: segue.Shape{Nodes: nodes, Limit: limit}, User: user},
			Submit: at(submitted), Eligible: at(submitted), Start: segue.NoTime,
		}
		if started > 0 {
			q.Start = at(started)
		}
		return q
	}
	held := job(4, "ben", 1, 4*hour, 11*hour, 0)
	held.Eligible, held.Reason = segue.NoTime, "QOSMaxJobsPerUserLimit"
	now := predictor.Present{History: &predictor.History{}, Snapshot: segue.Snapshot{
		At: noon, Nodes: 10,
		Running: []segue.QueuedJob{job(1, "ada", 4, 10*hour, hour, 8*hour), job(2, "ben", 2, 24*hour, hour, 6*hour)},
		Pending: []segue.QueuedJob{job(3, "ada", 8, 5*hour, 10*hour, 0), held},
	}}
	got := featuresOf(t, now, segue.Request{Shape: segue.Shape{Nodes: 5, Limit: 48 * hour}, User: "ben"}, predictor.Told{
		"forward-limits": segue.NewForecast(noon, "forward-limits", []time.Duration{7 * hour}),
		"monte-carlo":    segue.NewForecast(noon, "monte-carlo", []time.Duration{0, 2 * hour, 4 * hour, 6 * hour}),
	})
	want := map[string]float64{
		"request.size": 0.5, "request.limit": 48, "free.size": 0.4,
		"running.size": 0.6, "running.work_by_limit": (4*6 + 2*18) / 10., "running.left.p10": 6, "running.left.p75": 18,
		"pending.jobs_log": math.Log(2), "pending.held_log": math.Log(2), "pending.size": 0.8, "pending.work_by_limit": 8 * 5 / 10.,
		"pending.as_wide_log": math.Log(2), "pending.fitting_log": 0, "pending.age.p100": 2,
		"release.by_limit":    6, // 4 nodes are free, ada's 4 come free at the end of her limit
		"forward-limits.wait": 7, "forward-last-two.wait": math.NaN(),
		"monte-carlo.mean": 3, "monte-carlo.p50": 3, "monte-carlo.at_once": 0.25,
		"clock.day_sin": 0, "clock.day_cos": -1,
		"own.running": 1, "own.running_size": 0.2, "own.pending": 1, "own.capped": 1, "own.wait_mean": math.NaN(),
		"past.wait_mean.24h": math.NaN(),
	}
	for name, value := range want {
		if math.Abs(got[name]-value) > 1e-6 || math.IsNaN(got[name]) != math.IsNaN(value) {
			t.Errorf("%s is %v, want %v", name, got[name], value)
		}
	}
}

// A cluster with twice the nodes and twice the jobs looks the same: sizes and
// work are shares.
func TestFeaturesOfSizeAreScaleFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t, 6, 5)
		one := replay(t, clusterOf(6, simulator.EASY), jobs)
		one.AdvanceTo(at(3 * day))
		now := one.present()
		double := now
		double.Snapshot.Nodes *= 2
		for _, list := range []*[]segue.QueuedJob{&double.Snapshot.Running, &double.Snapshot.Pending} {
			*list = slices.Clone(*list)
			for i := range *list {
				(*list)[i].Nodes *= 2
			}
		}
		a, b := featuresOf(t, now, request(1), nil), featuresOf(t, double, request(2), nil)
		for name := range a {
			if name == "request.nodes_log2" || strings.HasPrefix(name, "past.load") {
				continue
			}
			if math.Abs(a[name]-b[name]) > 1e-6 {
				t.Fatalf("%s: %v, and %v on a cluster of twice the size", name, a[name], b[name])
			}
		}
	})
}

// Training sees simulated snapshots, serving what the scheduler's accounting
// prints: the same state gives the same features.
func TestFeaturesOfASimulatedSnapshotAreThoseOfItsText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(2, 6).Draw(t, "cluster")
		jobs := drawJobs(t, nodes, 5)
		cluster := replay(t, clusterOf(nodes, simulator.EASY), jobs)
		now := at(time.Duration(rapid.IntRange(1, 6*24*60).Draw(t, "now, minutes"))*minute + 500*time.Millisecond)
		cluster.AdvanceTo(now)

		r, err := traces.NewReader(strings.NewReader(accounting(cluster, len(jobs), now)), traces.Options{Format: traces.Sacct})
		if err != nil {
			t.Fatal(err)
		}
		read, err := traces.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		served := predictor.RecordedAt(read.Jobs, now, nodes)
		served.Owner = "asker"
		want, got := featuresOf(t, cluster.present(), request(1), nil), featuresOf(t, served, request(1), nil)
		equal := cmp.Comparer(func(a, b float64) bool {
			return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-5*(1+math.Abs(a))
		})
		if diff := cmp.Diff(want, got, equal); diff != "" {
			t.Fatalf("features differ (-simulated +read):\n%s", diff)
		}
	})
}

// accounting returns what sacct -P would print of the cluster's first jobs.
func accounting(cluster *replayed, jobs int, now segue.Time) string {
	var text strings.Builder
	text.WriteString("JobID|User|Submit|Start|End|Timelimit|NNodes|State\n")
	show := func(at segue.Time, known bool) string {
		if !known {
			return "Unknown"
		}
		return at.Std().Format("2006-01-02T15:04:05")
	}
	for i := range jobs {
		ref := simulator.Ref(i)
		q := cluster.Job(ref)
		if q.Submit >= now {
			continue
		}
		start, end, state := cluster.StartOf(ref), cluster.EndOf(ref), "PENDING"
		if start.Known() {
			state = "RUNNING"
		}
		if end.Known() {
			state = "COMPLETED"
		}
		fmt.Fprintf(&text, "%d|%s|%s|%s|%s|%s|%d|%s\n", q.ID.Number+1, q.User, show(q.Submit, true), show(start, start.Known()),
			show(end, end.Known()), segue.FormatLimit(q.Limit), q.Nodes, state)
	}
	return text.String()
}

func TestSummaryLeavesTheOwnerOut(t *testing.T) {
	t.Parallel()
	snap := segue.Snapshot{At: at(10 * hour), Nodes: 10, Running: []segue.QueuedJob{
		{Request: segue.Request{Shape: segue.Shape{Nodes: 3, Limit: 4 * hour}, User: "ada"}, Start: at(8 * hour)},
		{Request: segue.Request{Shape: segue.Shape{Nodes: 5, Limit: 9 * hour}, User: "asker"}, Start: at(9 * hour)},
	}}
	alone := snap
	alone.Running = snap.Running[:1]
	names := predictor.SummaryNames()
	got, want := predictor.Summarise(&snap, "asker", nil), predictor.Summarise(&alone, "", nil)
	if diff := cmp.Diff(want, got); diff != "" || len(got) != len(names) {
		t.Errorf("%d numbers for %d names; with the owner's job they differ (-without +with):\n%s", len(got), len(names), diff)
	}
	i := slices.Index(names, "running.work")
	if got[i] != 3*2/10. {
		t.Errorf("%s is %v, want 0.6 hours of the cluster", names[i], got[i])
	}
}
