package predictor_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// No forecaster knows the future: two replays that differ only in what happens
// later, in when running and waiting jobs will end and in who will come, give
// the same forecasts.
func TestForecastsDoNotDependOnTheFuture(t *testing.T) {
	t.Parallel()
	for _, backfill := range []simulator.Backfill{simulator.NoBackfill, simulator.EASY, simulator.SlurmBackfill} {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				nodes := rapid.IntRange(1, 6).Draw(t, "cluster")
				cluster := clusterOf(nodes, backfill)
				jobs := drawJobs(t, nodes, 5)
				now := time.Duration(rapid.IntRange(1, 6*24*60).Draw(t, "now, minutes")) * minute

				one := replay(t, cluster, jobs)
				one.AdvanceTo(at(now))
				other := replay(t, cluster, otherFuture(t, one, jobs, nodes, now))
				other.AdvanceTo(at(now))
				if diff := cmp.Diff(one.Snapshot(0), other.Snapshot(0)); diff != "" {
					t.Fatalf("the snapshots differ (-one +other):\n%s", diff)
				}
				req := request(rapid.IntRange(1, nodes).Draw(t, "request"))
				again := newForecasters(t, cluster)
				for i, f := range newForecasters(t, cluster) {
					want, got := forecastOf(t, f, one.present(), req), forecastOf(t, again[i], other.present(), req)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Fatalf("%s knows the future (-one +other):\n%s", f.Name(), diff)
					}
				}
			})
		})
	}
}

// otherFuture returns the jobs of a replay that is at the instant now, with
// other run times of those that have not ended by then, and other later
// submissions.
func otherFuture(t *rapid.T, r *replayed, jobs []simulator.Job, nodes int, now time.Duration) []simulator.Job {
	var other []simulator.Job
	for i, j := range jobs {
		ref := simulator.Ref(i)
		switch {
		case j.Submit >= at(now): // another job in its place, since numbers are part of what is seen
			j = drawJob(t, nodes, now, now+2*day)
		case r.EndOf(ref).Known():
		case r.StartOf(ref).Known():
			j.Run = drawRun(t, at(now).Sub(r.StartOf(ref)), j.Limit)
		default:
			j.Run = drawRun(t, minute, j.Limit)
		}
		other = append(other, j)
	}
	for range rapid.IntRange(0, 5).Draw(t, "other arrivals") {
		other = append(other, drawJob(t, nodes, now, now+2*day))
	}
	return other
}

func TestRecordedPresentDoesNotDependOnTheFuture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := at(time.Duration(rapid.IntRange(0, 100).Draw(t, "now, hours")) * hour)
		var one, other []segue.Job
		for range rapid.IntRange(0, 30).Draw(t, "jobs") {
			j := drawRecord(t, -50, 150)
			one = append(one, j)
			other = append(other, otherRecord(t, j, now))
		}
		want, got := predictor.RecordedAt(one, now, 4), predictor.RecordedAt(other, now, 4)
		if diff := cmp.Diff(want.Snapshot, got.Snapshot); diff != "" {
			t.Fatalf("the snapshots differ (-one +other):\n%s", diff)
		}
		if !reflect.DeepEqual(want.History, got.History) {
			t.Fatalf("the histories differ: %+v and %+v", want.History, got.History)
		}
		if diff := cmp.Diff(predictor.Known(one, now), predictor.Known(other, now)); diff != "" {
			t.Fatalf("what is known differs (-one +other):\n%s", diff)
		}
		for _, j := range predictor.Known(one, now) {
			for what, instant := range map[string]segue.Time{
				"submission": j.Submit, "eligibility": j.Eligible, "start": j.Start, "end": j.End,
			} {
				if instant >= now {
					t.Fatalf("at %s the %s of job %s at %s is known", now, what, j.ID, instant)
				}
			}
		}
	})
}

// drawRecord draws a job whose life is in order, between two hours.
func drawRecord(t *rapid.T, from, to int) segue.Job {
	instants := make([]segue.Time, 4)
	last := from
	for i := range instants {
		last = rapid.IntRange(last, to).Draw(t, "hour")
		instants[i] = at(time.Duration(last) * hour)
	}
	j := segue.Job{
		ID:     segue.JobID{Number: rapid.Int64Range(1, 1e6).Draw(t, "id")},
		Submit: instants[0], Eligible: instants[1], Start: instants[2], End: instants[3],
		User: rapid.SampledFrom(userNames).Draw(t, "user"), Nodes: int32(rapid.IntRange(0, 4).Draw(t, "nodes")),
		Limit: rapid.SampledFrom([]time.Duration{0, hour, 48 * hour, segue.Unlimited}).Draw(t, "limit"),
		State: rapid.SampledFrom([]segue.JobState{segue.Completed, segue.Failed}).Draw(t, "state"),
	}
	if j.State == segue.Failed {
		j.ExitCode, j.Restarts = 1, 2
	}
	switch rapid.IntRange(0, 5).Draw(t, "sort") {
	case 0:
		j.Start, j.State = segue.NoTime, segue.Cancelled
	case 1:
		j.Eligible = segue.NoTime
	case 2:
		j.End, j.State = segue.NoTime, segue.Running
	}
	return j
}

// otherRecord returns the job with another fate from the instant now on.
func otherRecord(t *rapid.T, j segue.Job, now segue.Time) segue.Job {
	later := func(what string) segue.Time {
		return now.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, what)) * hour)
	}
	if j.Submit >= now {
		k := drawRecord(t, int(now.Sub(0)/hour), 400)
		k.ID = j.ID
		return k
	}
	if j.Eligible >= now {
		j.Eligible = later("eligible")
	}
	if j.Start >= now || !j.Start.Known() && (!j.End.Known() || j.End >= now) {
		j.Start = rapid.SampledFrom([]segue.Time{segue.NoTime, later("start")}).Draw(t, "start or none")
	}
	if !j.End.Known() || j.End >= now {
		j.End = rapid.SampledFrom([]segue.Time{segue.NoTime, later("end")}).Draw(t, "end or none")
		j.State, j.ExitCode, j.Signal, j.Restarts = segue.NodeFail, 3, 9, 1
	}
	return j
}

// A forecaster has no memory that shows: what it says of a moment does not
// depend on what it was asked before.
func TestForecastDoesNotDependOnEarlierQuestions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "cluster")
		cluster := clusterOf(nodes, simulator.EASY)
		cluster.Users = userNames[:2] // the others are met on the way
		a, b := replay(t, cluster, drawJobs(t, nodes, 3)), replay(t, cluster, drawJobs(t, nodes, 3))
		used := newForecasters(t, cluster)
		now := time.Duration(0)
		for range rapid.IntRange(2, 6).Draw(t, "questions") {
			now += time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes later")) * minute
			r := rapid.SampledFrom([]*replayed{a, b}).Draw(t, "start")
			r.AdvanceTo(at(now))
			req := request(rapid.IntRange(1, nodes).Draw(t, "request"))
			for i, fresh := range newForecasters(t, cluster) {
				want, got := forecastOf(t, fresh, r.present(), req), forecastOf(t, used[i], r.present(), req)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s after other questions (-new +used):\n%s", fresh.Name(), diff)
				}
			}
		}
	})
}

// A forecast is a distribution of waits that are possible.
func TestForecastsAreWaits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 6).Draw(t, "cluster")
		cluster := clusterOf(nodes, simulator.EASY)
		r := replay(t, cluster, drawJobs(t, nodes, 3))
		r.AdvanceTo(at(time.Duration(rapid.IntRange(1, 4*24).Draw(t, "now, hours")) * hour))
		now := r.present()
		for _, f := range newForecasters(t, cluster) {
			got := forecastOf(t, f, now, request(rapid.IntRange(1, nodes+2).Draw(t, "request")))
			if got.At != now.Snapshot.At || got.Source != f.Name() {
				t.Fatalf("%s signs as %s at %s, want the instant %s", f.Name(), got.Source, got.At, now.Snapshot.At)
			}
			last := time.Duration(0)
			for _, w := range got.Waits {
				if w < last || w > 14*day {
					t.Fatalf("%s: a wait of %s after one of %s", f.Name(), w, last)
				}
				last = w
			}
		}
	})
}
