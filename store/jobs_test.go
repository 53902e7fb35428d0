package store

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func historyOf(jobs ...segue.Job) iter.Seq2[segue.Job, error] {
	return func(yield func(segue.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

func importAll(t *testing.T, s *Store, cluster string, jobs ...segue.Job) Imported {
	t.Helper()
	done, err := s.ImportJobs(t.Context(), cluster, historyOf(jobs...))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func jobsOf(t *testing.T, s *Store, q JobQuery) []segue.Job {
	t.Helper()
	var all []segue.Job
	for j, err := range s.Jobs(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, j)
	}
	return all
}

func aJob(number int64) segue.Job {
	submit := t0.Add(time.Duration(number) * time.Minute)
	return segue.Job{
		ID: segue.JobID{Number: number}, Name: "train", User: "ada", Account: "physics", Partition: "gpu", QOS: "normal",
		Submit: submit, Eligible: submit, Start: submit.Add(time.Hour), End: submit.Add(3 * time.Hour), Limit: 4 * time.Hour,
		Nodes: 2, CPUs: 64, GPUs: 16, Priority: 1000, State: segue.Completed,
	}
}

// Whatever a history holds comes back, and comes back once however often it is
// imported, in whatever pieces.
func TestHistoryComesBack(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			rapid.Check(t, func(r *rapid.T) {
				jobs := rapid.SliceOfNDistinct(generatedJob(), 1, 30, func(j segue.Job) jobIdentity {
					return jobIdentity{j.ID, j.Submit, j.Restarts}
				}).Draw(r, "jobs")
				cluster := rapid.StringMatching(`[a-z]{8,12}`).Draw(r, "cluster")
				half := rapid.IntRange(0, len(jobs)).Draw(r, "half")
				for _, part := range [][]segue.Job{jobs[:half], jobs, jobs[half:]} {
					if _, err := s.ImportJobs(r.Context(), cluster, historyOf(part...)); err != nil {
						r.Fatal(err)
					}
				}
				var got []segue.Job
				for j, err := range s.Jobs(r.Context(), JobQuery{Cluster: cluster}) {
					if err != nil {
						r.Fatal(err)
					}
					got = append(got, j)
				}
				byIdentity := func(a, b segue.Job) int {
					return slices.Compare([]int64{int64(a.Submit), a.ID.Number, int64(a.ID.Sub), int64(a.ID.Kind), int64(a.Restarts)},
						[]int64{int64(b.Submit), b.ID.Number, int64(b.ID.Sub), int64(b.ID.Kind), int64(b.Restarts)})
				}
				slices.SortFunc(jobs, byIdentity)
				if diff := cmp.Diff(jobs, got); diff != "" {
					r.Errorf("jobs (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func generatedJob() *rapid.Generator[segue.Job] {
	instants := rapid.OneOf(rapid.Just(segue.NoTime), rapid.Map(rapid.Int64Range(-1e15, 4e15), func(us int64) segue.Time { return segue.Time(us) }))
	limits := rapid.OneOf(rapid.Just(segue.Unlimited), rapid.Map(rapid.Int64Range(0, 1e9), func(s int64) time.Duration { return time.Duration(s) * time.Second }))
	words := rapid.StringMatching(`[ -~éß]{0,9}`)
	return rapid.Custom(func(r *rapid.T) segue.Job {
		j := segue.Job{
			ID:   segue.JobID{Number: rapid.Int64Range(0, 50).Draw(r, "number"), Sub: rapid.Int32Range(0, 3).Draw(r, "sub"), Kind: segue.JobIDKind(rapid.IntRange(0, 2).Draw(r, "kind"))},
			Name: words.Draw(r, "name"), User: words.Draw(r, "user"), Account: words.Draw(r, "account"), Partition: words.Draw(r, "partition"), QOS: words.Draw(r, "qos"),
			Submit: segue.Time(rapid.Int64Range(-1e15, 4e15).Draw(r, "submit")), Eligible: instants.Draw(r, "eligible"), Start: instants.Draw(r, "start"), End: instants.Draw(r, "end"),
			Limit: limits.Draw(r, "limit"), Nodes: rapid.Int32().Draw(r, "nodes"), CPUs: rapid.Int32().Draw(r, "cpus"), GPUs: rapid.Int32().Draw(r, "gpus"),
			Priority: rapid.Int64().Draw(r, "priority"), State: segue.JobState(rapid.IntRange(0, int(segue.Requeued)).Draw(r, "state")),
			ExitCode: rapid.Int16().Draw(r, "exit"), Signal: rapid.Int16().Draw(r, "signal"), Restarts: rapid.Int16Range(0, 3).Draw(r, "restarts"),
		}
		return j
	})
}

func TestImportUpdatesWhatItKnowsMoreOf(t *testing.T) {
	t.Parallel()
	runs := aJob(1)
	runs.State, runs.End = segue.Running, segue.NoTime
	renamed := aJob(1)
	renamed.Account = "chemistry"
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			for i, step := range []struct {
				job     segue.Job
				changed int
				want    segue.Job
			}{
				{runs, 1, runs},
				{runs, 0, runs},
				{aJob(1), 1, aJob(1)},
				{runs, 0, aJob(1)}, // an older record of a job that has ended
				{renamed, 1, renamed},
			} {
				done := importAll(t, s, "c", step.job)
				if done.Read != 1 || done.Changed != step.changed {
					t.Errorf("step %d: %+v, want 1 read and %d changed", i, done, step.changed)
				}
				if diff := cmp.Diff([]segue.Job{step.want}, jobsOf(t, s, JobQuery{Cluster: "c"})); diff != "" {
					t.Errorf("step %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

func TestOneBadRecordLosesNoOthers(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			bad, odd := aJob(2), aJob(3)
			bad.Submit = segue.NoTime
			odd.Name = "caf\xe9\x00"
			done := importAll(t, s, "c", aJob(1), bad, odd, aJob(3))
			want := Imported{Read: 4, Changed: 2, Refused: 1, Problems: []string{"job 2 has no submit time"}}
			if diff := cmp.Diff(want, done); diff != "" {
				t.Errorf("import (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]segue.Job{aJob(1), aJob(3)}, jobsOf(t, s, JobQuery{Cluster: "c"})); diff != "" {
				t.Errorf("of two records of one job the last counts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImportKeepsWhatCameBeforeAnError(t *testing.T) {
	t.Parallel()
	broken := segue.Errorf(segue.Corrupt, "line 3 is damaged")
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			_, err := s.ImportJobs(t.Context(), "c", func(yield func(segue.Job, error) bool) {
				_ = yield(aJob(1), nil) && yield(aJob(2), nil) && yield(segue.Job{}, broken)
			})
			wantKind(t, err, segue.Corrupt)
			if got := jobsOf(t, s, JobQuery{Cluster: "c"}); len(got) != 2 {
				t.Errorf("%d jobs are kept, want 2", len(got))
			}
		})
	}
}

// The first round meets an empty table, the second one that holds every job.
func TestImportsAtOnceEndAsOne(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := fresh(t)
			const jobs = 3000
			forwards := madeUp(jobs)
			importers := map[*Store]iter.Seq2[segue.Job, error]{}
			for range 2 {
				importers[open(t, where)], importers[open(t, where)] = forwards, backwards(forwards)
			}
			for range 2 {
				errs := make(chan error, len(importers))
				start := make(chan struct{})
				for s, history := range importers {
					go func() {
						<-start
						_, err := s.ImportJobs(t.Context(), "c", history)
						errs <- err
					}()
				}
				close(start)
				for range importers {
					if err := <-errs; err != nil {
						t.Error(err)
					}
				}
			}
			if got := len(jobsOf(t, open(t, where), JobQuery{Cluster: "c"})); got != jobs {
				t.Errorf("%d jobs, want %d", got, jobs)
			}
		})
	}
}

func backwards(history iter.Seq2[segue.Job, error]) iter.Seq2[segue.Job, error] {
	var jobs []segue.Job
	for job, err := range history {
		if err != nil {
			return history
		}
		jobs = append(jobs, job)
	}
	return func(yield func(segue.Job, error) bool) {
		for _, job := range slices.Backward(jobs) {
			if !yield(job, nil) {
				return
			}
		}
	}
}

// How far the accounting was asked only goes forward, and is told of a cluster
// that has no jobs too.
func TestHowFarTheAccountingWasAsked(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			if until, err := s.Accounted(t.Context(), "c"); err != nil || until.Known() {
				t.Errorf("at first %s, %v; want no time", until, err)
			}
			for _, at := range []segue.Time{t0, t0.Add(-time.Hour), t0.Add(time.Hour), t0} {
				if err := s.SetAccounted(t.Context(), "c", at); err != nil {
					t.Fatal(err)
				}
			}
			if until, err := s.Accounted(t.Context(), "c"); err != nil || until != t0.Add(time.Hour) {
				t.Errorf("then %s, %v; want %s", until, err, t0.Add(time.Hour))
			}
		})
	}
}

// The first import into PostgreSQL goes without indexes: they are there again
// when it is over, whatever became of it.
func TestAnImportLeavesTheIndexes(t *testing.T) {
	t.Parallel()
	indexes := func(s *Store) (names []string) {
		query := `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'jobs' AND sql IS NOT NULL ORDER BY name`
		if s.engine.name() == "postgres" {
			query = `SELECT indexname FROM pg_indexes WHERE tablename = 'jobs' AND indexname <> 'jobs_pkey' ORDER BY indexname`
		}
		names, err := collect(t.Context(), s.read, func(row scanner) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		}, query)
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	damaged := func(yield func(segue.Job, error) bool) {
		if yield(aJob(1), nil) {
			yield(segue.Job{}, segue.Errorf(segue.Corrupt, "damaged"))
		}
	}
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			want := indexes(s)
			if len(want) != 3 {
				t.Fatalf("indexes %v, want 3", want)
			}
			canceled, cancel := context.WithCancel(t.Context())
			interrupted := func(yield func(segue.Job, error) bool) {
				cancel()
				yield(aJob(1), nil)
			}
			if _, err := s.ImportJobs(canceled, "c", interrupted); err == nil {
				t.Error("an import that was interrupted succeeds")
			}
			if diff := cmp.Diff(want, indexes(s)); diff != "" || len(jobsOf(t, s, JobQuery{Cluster: "c"})) != 0 {
				t.Errorf("jobs, or indexes after an interruption (-want +got):\n%s", diff)
			}
			_, err := s.ImportJobs(t.Context(), "c", damaged)
			wantKind(t, err, segue.Corrupt)
			if diff := cmp.Diff(want, indexes(s)); diff != "" || len(jobsOf(t, s, JobQuery{Cluster: "c"})) != 1 {
				t.Errorf("jobs, or indexes after a damaged history (-want +got):\n%s", diff)
			}
			importAll(t, s, "c", aJob(1), aJob(2))
			if diff := cmp.Diff(want, indexes(s)); diff != "" || len(jobsOf(t, s, JobQuery{Cluster: "c"})) != 2 {
				t.Errorf("jobs, or indexes after a second import (-want +got):\n%s", diff)
			}
		})
	}
}

// A history of many batches that come in any order is imported once, in the quick
// way too, and what is told twice counts as it was told last.
func TestAFirstImportOfManyBatches(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			n := int64(2*s.engine.batch() + 10)
			if testing.Short() && name == "sqlite" {
				n = int64(s.engine.batch() + 10)
			}
			renamed := aJob(n)
			renamed.Account = "chemistry"
			backwards := func(yield func(segue.Job, error) bool) {
				for i := n; i > 0; i-- {
					if !yield(aJob(i), nil) {
						return
					}
				}
				yield(renamed, nil)
			}
			done, err := s.ImportJobs(t.Context(), "c", backwards)
			if err != nil || int64(done.Read) != n+1 {
				t.Fatalf("imported %+v, %v; want %d read", done, err, n+1)
			}
			all := jobsOf(t, s, JobQuery{Cluster: "c"})
			if int64(len(all)) != n || all[0].ID.Number != 1 || all[n-1].Account != "chemistry" {
				t.Errorf("%d jobs, the last of account %s; want %d, and chemistry", len(all), all[len(all)-1].Account, n)
			}
		})
	}
}

func TestJobsAreFoundByTheFieldsOfAQuery(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			of2, of3, of4, waits := aJob(2), aJob(3), aJob(4), aJob(5)
			of2.User, of3.Partition, of4.Nodes, of4.Limit = "grace", "big", 8, time.Hour
			of4.Start = aJob(1).Start.Add(-time.Second) // a small job that was quicker
			waits.Start, waits.End, waits.State = segue.NoTime, segue.NoTime, segue.Pending
			importAll(t, s, "c", aJob(1), of2, of3, of4, waits)
			importAll(t, s, "other", aJob(9))
			for name, c := range map[string]struct {
				query         JobQuery
				want, started []int64
			}{
				"all":            {JobQuery{Cluster: "c"}, []int64{1, 2, 3, 4, 5}, []int64{3, 2, 1, 4}},
				"no such one":    {JobQuery{Cluster: "d"}, nil, nil},
				"of a user":      {JobQuery{Cluster: "c", User: "grace"}, []int64{2}, []int64{2}},
				"of a partition": {JobQuery{Cluster: "c", Partition: "big"}, []int64{3}, []int64{3}},
				"of a shape":     {JobQuery{Cluster: "c", Nodes: 8, Limit: time.Hour}, []int64{4}, []int64{4}},
				"of a window":    {JobQuery{Cluster: "c", From: of2.Submit, Until: of4.Submit}, []int64{2, 3}, nil},
			} {
				var got []int64
				for _, j := range jobsOf(t, s, c.query) {
					got = append(got, j.ID.Number)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("jobs %s (-want +got):\n%s", name, diff)
				}
				jobs, err := s.Started(t.Context(), c.query, 10)
				if err != nil {
					t.Fatal(err)
				}
				got = nil
				for _, j := range jobs {
					got = append(got, j.ID.Number)
				}
				if diff := cmp.Diff(c.started, got); diff != "" {
					t.Errorf("started %s (-want +got):\n%s", name, diff)
				}
			}
			latest, err := s.Waits(t.Context(), JobQuery{Cluster: "c", From: aJob(2).Start})
			if diff := cmp.Diff([]time.Duration{time.Hour, time.Hour}, latest); diff != "" || err != nil {
				t.Errorf("waits, %v (-want +got):\n%s", err, diff)
			}
			histories, err := s.Histories(t.Context())
			want := []History{
				{"c", 5, aJob(1).Submit, aJob(5).Submit, segue.NoTime, segue.NoTime},
				{"other", 1, aJob(9).Submit, aJob(9).Submit, segue.NoTime, segue.NoTime},
			}
			if diff := cmp.Diff(want, histories); diff != "" || err != nil {
				t.Errorf("histories, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A reader that has enough leaves, and one that writes meanwhile does not wait.
func TestJobsAreReadWhileOthersWrite(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			importAll(t, s, "c", aJob(1), aJob(2), aJob(3))
			for j, err := range s.Jobs(t.Context(), JobQuery{Cluster: "c"}) {
				if err != nil {
					t.Fatal(err)
				}
				create(t, s, "whileread")
				if j.ID.Number != 1 {
					t.Errorf("first job is %s, want 1", j.ID)
				}
				break
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for _, err := range s.Jobs(ctx, JobQuery{Cluster: "c"}) {
				if !errors.Is(err, context.Canceled) {
					t.Errorf("error %v, want that of the context", err)
				}
			}
		})
	}
}
