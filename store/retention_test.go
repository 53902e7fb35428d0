package store

import (
	"database/sql"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// Of what is old, a chain that goes on, or that ended lately, stays with all that
// belongs to it.
func TestWhatIsOldIsRemoved(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			day := func(n int) segue.Time { return t0.Add(time.Duration(n) * 24 * time.Hour) }
			finish := func(id string, at segue.Time) {
				link := create(t, s, id)
				next, err := s.NextLink(t.Context(), link, aDecision(t0.Add(time.Hour)))
				if err != nil {
					t.Fatal(err)
				}
				next.State, next.End = segue.LinkLost, at
				link.State, link.End = segue.LinkEnded, at
				for _, err := range []error{
					s.UpdateLink(t.Context(), segue.LinkSubmitting, next), s.UpdateLink(t.Context(), segue.LinkRunning, link),
					s.RecordOutcome(t.Context(), Outcome{Chain: id, Number: 2, At: at}),
					s.SetChainState(t.Context(), id, segue.ChainActive, segue.ChainDone, "The work is done."),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			finish("old", day(1))
			finish("late", day(50))
			create(t, s, "going")
			for i, at := range []segue.Time{day(0), day(50)} {
				if err := s.BeginAudit(t.Context(), Audit{ID: string(rune('a' + i)), At: at, Action: "pause-chain"}); err != nil {
					t.Fatal(err)
				}
			}
			importAll(t, s, "live", jobsAt(day(0), day(1), day(59))...)
			importAll(t, s, "imported", jobsAt(t0.Add(-1000*24*time.Hour), t0.Add(-990*24*time.Hour))...)

			month := 30 * 24 * time.Hour
			pruned, err := s.Prune(t.Context(), Retention{Jobs: month, Chains: month, Audit: month}, day(60))
			if diff := cmp.Diff(Pruned{Jobs: 2, Chains: 1, Audit: 1}, pruned); diff != "" || err != nil {
				t.Errorf("pruned, %v (-want +got):\n%s", err, diff)
			}
			_, err = s.Chain(t.Context(), "old")
			wantKind(t, err, segue.NotFound)
			for _, id := range []string{"late", "going"} {
				if links, err := s.Links(t.Context(), id); err != nil || len(links) == 0 {
					t.Errorf("chain %s has %d links, %v; want it to stay", id, len(links), err)
				}
			}
			histories, err := s.Histories(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			left := map[string]int64{}
			for _, h := range histories {
				left[h.Cluster] = h.Jobs
			}
			if diff := cmp.Diff(map[string]int64{"live": 1, "imported": 2}, left); diff != "" {
				t.Errorf("jobs that are left (-want +got):\n%s", diff)
			}
			wantSound(t, s)
			if pruned, err = s.Prune(t.Context(), Retention{}, day(10_000)); err != nil || pruned != (Pruned{}) {
				t.Errorf("without a span %+v is removed, %v; want nothing", pruned, err)
			}
		})
	}
}

// jobsAt returns jobs that were submitted at instants.
func jobsAt(instants ...segue.Time) []segue.Job {
	var all []segue.Job
	for i, at := range instants {
		j := aJob(int64(i + 1))
		j.Submit, j.Eligible, j.Start, j.End = at, at, at, at.Add(time.Hour)
		all = append(all, j)
	}
	return all
}

// More rows than one transaction removes, of which several have one instant, go
// batch by batch.
func TestManyRowsAreRemovedInBatches(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			var jobs []segue.Job
			for i := range 2*pruneBatch + 10 {
				j := aJob(int64(i + 1))
				j.Submit = t0.Add(time.Duration(i/3) * time.Second)
				jobs = append(jobs, j)
			}
			jobs = append(jobs, jobsAt(t0.Add(100*24*time.Hour))...)
			importAll(t, s, "c", jobs...)
			pruned, err := s.Prune(t.Context(), Retention{Jobs: 24 * time.Hour}, t0.Add(100*24*time.Hour))
			if want := int64(2*pruneBatch + 10); err != nil || pruned.Jobs != want {
				t.Errorf("%d jobs are removed, %v; want %d", pruned.Jobs, err, want)
			}
		})
	}
}

// A file shrinks once much of it is free, also one that was made by an older
// program; and it is whole afterwards.
func TestAFileShrinks(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]string{"new": "INCREMENTAL", "by an older program": "NONE"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := freshSQLite(t)
			older, err := sql.Open("sqlite", "file:"+where+"?_auto_vacuum="+made+"&_journal_mode=WAL")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := older.ExecContext(t.Context(), `CREATE TABLE x (y TEXT); DROP TABLE x`); err != nil {
				t.Fatal(err)
			}
			if err := older.Close(); err != nil {
				t.Fatal(err)
			}
			s := open(t, where)
			var jobs []segue.Job
			for i := range 25_000 {
				jobs = append(jobs, aJob(int64(i+1)))
			}
			importAll(t, s, "c", jobs...)
			if freed, err := s.Compact(t.Context()); err != nil || freed != 0 {
				t.Errorf("a full file shrinks by %d bytes, %v; want nothing", freed, err)
			}
			full, err := s.Size(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.write.ExecContext(t.Context(), `DELETE FROM jobs`); err != nil {
				t.Fatal(err)
			}
			freed, err := s.Compact(t.Context())
			if err != nil || freed < full/2 {
				t.Errorf("an empty file shrinks by %d of %d bytes, %v; want most", freed, full, err)
			}
			wantSound(t, s)
			if _, err := s.write.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(where); err != nil || info.Size() > full-freed {
				t.Errorf("on the disk %v, %v; want at most %d bytes", info.Size(), err, full-freed)
			}
		})
	}
}
