package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func queued(number int64) segue.QueuedJob {
	return segue.QueuedJob{ID: segue.JobID{Number: number}, Request: aRequest(), Submit: t0, Eligible: t0, Start: segue.NoTime, Priority: 7}
}

func startedAt(number int64, start segue.Time) segue.QueuedJob {
	q := queued(number)
	q.Start = start
	return q
}

// pastJob is what history says of a job that snapshots showed.
func pastJob(number int64, start, end segue.Time) segue.Job {
	r := aRequest()
	return segue.Job{
		ID: segue.JobID{Number: number}, User: r.User, Account: r.Account, Partition: r.Partition, QOS: r.QOS,
		Submit: t0, Eligible: t0, Start: start, End: end, Limit: r.Limit, Nodes: 4, GPUs: 32, Priority: 7,
	}
}

// Each snapshot is ten minutes after the one before.
func TestSnapshotsBecomeHistory(t *testing.T) {
	t.Parallel()
	at := func(n int) segue.Time { return t0.Add(time.Duration(n) * 10 * time.Minute) }
	early := at(0).Add(-48*time.Hour + 15*time.Minute) // its limit ends it between two snapshots
	requeued := pastJob(3, at(0), at(2))
	requeued.State = segue.Requeued
	again := pastJob(3, at(2).Add(time.Minute), at(4))
	again.Restarts = 1
	cases := map[string]struct {
		snapshots []segue.Snapshot
		seen      []Observed
		want      []segue.Job
	}{
		"a job pends, runs and is gone": {
			[]segue.Snapshot{{Pending: []segue.QueuedJob{queued(1)}}, {Running: []segue.QueuedJob{startedAt(1, at(0).Add(time.Second))}}, {}},
			[]Observed{{Appeared: 1}, {Started: 1}, {Gone: 1}},
			[]segue.Job{pastJob(1, at(0).Add(time.Second), at(2))},
		},
		"a job is cancelled before it runs": {
			[]segue.Snapshot{{Pending: []segue.QueuedJob{queued(1)}}, {}},
			[]Observed{{Appeared: 1}, {Gone: 1}},
			[]segue.Job{pastJob(1, segue.NoTime, at(1))},
		},
		"a job is ended by its limit": {
			[]segue.Snapshot{{Running: []segue.QueuedJob{startedAt(2, early)}}, {Running: []segue.QueuedJob{startedAt(2, early)}}, {}},
			[]Observed{{Appeared: 1}, {}, {Gone: 1}},
			[]segue.Job{pastJob(2, early, t0.Add(15*time.Minute))},
		},
		"a job is requeued": {
			[]segue.Snapshot{
				{Running: []segue.QueuedJob{startedAt(3, at(0))}},
				{Running: []segue.QueuedJob{startedAt(3, at(0))}},
				{Pending: []segue.QueuedJob{queued(3)}},
				{Running: []segue.QueuedJob{startedAt(3, at(2).Add(time.Minute))}},
				{},
			},
			[]Observed{{Appeared: 1}, {}, {Requeued: 1}, {Started: 1}, {Gone: 1}},
			[]segue.Job{requeued, again},
		},
		"a job was merely not shown": {
			[]segue.Snapshot{{Pending: []segue.QueuedJob{queued(1)}}, {}, {Pending: []segue.QueuedJob{queued(1)}}},
			[]Observed{{Appeared: 1}, {Gone: 1}, {Appeared: 1}},
			nil,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for name, fresh := range engines(t) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					s := open(t, fresh(t))
					for i, snap := range c.snapshots {
						snap.At = at(i)
						seen, err := s.RecordSnapshot(t.Context(), "c", snap)
						if diff := cmp.Diff(c.seen[i], seen); diff != "" || err != nil {
							t.Errorf("snapshot %d, %v (-want +got):\n%s", i, err, diff)
						}
					}
					if diff := cmp.Diff(c.want, jobsOf(t, s, JobQuery{Cluster: "c"})); diff != "" {
						t.Errorf("history (-want +got):\n%s", diff)
					}
				})
			}
		})
	}
}

// What accounting says stands, whichever came first.
func TestAccountingReplacesAnEstimate(t *testing.T) {
	t.Parallel()
	known := pastJob(1, t0.Add(time.Second), t0.Add(7*time.Minute))
	known.State, known.ExitCode = segue.Failed, 1
	snapshots := []segue.Snapshot{{At: t0, Pending: []segue.QueuedJob{queued(1)}}, {At: t0.Add(10 * time.Minute)}}
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			for _, cluster := range []string{"after", "before"} {
				if cluster == "before" {
					importAll(t, s, cluster, known)
				}
				for _, snap := range snapshots {
					if _, err := s.RecordSnapshot(t.Context(), cluster, snap); err != nil {
						t.Fatal(err)
					}
				}
				if cluster == "after" {
					importAll(t, s, cluster, known)
				}
				if diff := cmp.Diff([]segue.Job{known}, jobsOf(t, s, JobQuery{Cluster: cluster})); diff != "" {
					t.Errorf("accounting came %s (-want +got):\n%s", cluster, diff)
				}
			}
		})
	}
}

func TestSnapshotsAreKeptInOrderAndPruned(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			for i := range 3 {
				snap := segue.Snapshot{At: t0.Add(time.Duration(i) * time.Hour), Nodes: 84, GPUsPerNode: 3, Running: []segue.QueuedJob{startedAt(1, t0)}, Pending: []segue.QueuedJob{queued(2), queued(3)}}
				if _, err := s.RecordSnapshot(t.Context(), "c", snap); err != nil {
					t.Fatal(err)
				}
			}
			_, err := s.RecordSnapshot(t.Context(), "c", segue.Snapshot{At: t0.Add(2 * time.Hour)})
			wantKind(t, err, segue.Conflict)

			create(t, s, "c")
			waiting := Recorded{Chain: "c", Number: 2, Attempt: 1, Decision: aDecision(t0)}
			waiting.Decision.Submit = false
			for _, r := range []Recorded{waiting, {Chain: "c", Number: 2, Attempt: 1, Decision: aDecision(t0.Add(time.Second))}} {
				if err := s.RecordDecision(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			importAll(t, s, "c", aJob(1), aJob(200))
			pruned, err := s.Prune(t.Context(), Retention{Jobs: time.Hour, Snapshots: time.Hour, Decisions: time.Hour}, t0.Add(2*time.Hour))
			if diff := cmp.Diff(Pruned{Jobs: 1, Snapshots: 1, Decisions: 1}, pruned); diff != "" || err != nil {
				t.Errorf("pruned, %v (-want +got):\n%s", err, diff)
			}
			loads, err := s.Loads(t.Context(), "c", t0)
			want := []Load{{t0.Add(time.Hour), 84, 3, 1, 2, 4, 8}, {t0.Add(2 * time.Hour), 84, 3, 1, 2, 4, 8}}
			if diff := cmp.Diff(want, loads); diff != "" || err != nil {
				t.Errorf("loads, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
