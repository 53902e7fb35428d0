package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
)

// empties returns what makes a database of each engine in which nothing is yet.
func empties(t *testing.T) map[string]func(*testing.T) string {
	t.Helper()
	all := map[string]func(*testing.T) string{"sqlite": func(t *testing.T) string { t.Helper(); return freshSQLite(t) }}
	if pgtest.Have(t) {
		all["postgres"] = func(t *testing.T) string {
			t.Helper()
			if err := shared.Start(); err != nil {
				t.Fatal(err)
			}
			return shared.URL(shared.Clone(t, ""))
		}
	}
	return all
}

// unmigrated returns a store whose schema is not touched.
func unmigrated(t *testing.T, where string) *Store {
	t.Helper()
	s, err := connect(t.Context(), where, Config{}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Whatever step a migration stops at, the next one goes on from there.
func TestInterruptedMigrationGoesOn(t *testing.T) {
	t.Parallel()
	stopped := errors.New("power failure")
	for name, empty := range empties(t) {
		for stop := range migrations {
			t.Run(fmt.Sprintf("%s/before step %d", name, stop+1), func(t *testing.T) {
				t.Parallel()
				where := empty(t)
				s := unmigrated(t, where)
				left := stop
				s.step = func() error {
					if left--; left < 0 {
						return stopped
					}
					return nil
				}
				if err := s.migrate(t.Context(), migrations, slog.New(slog.DiscardHandler)); !errors.Is(err, stopped) {
					t.Fatalf("migration: %v, want it to stop", err)
				}
				create(t, open(t, where), "c")
			})
		}
	}
}

// A step that fails half way leaves nothing of itself.
func TestFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	steps := slices.Concat(migrations, []migration{{int64(len(migrations) + 1), "broken", "CREATE TABLE half (a BIGINT); ALTER TABLE chains ADD COLUMN half BIGINT; CREATE TABLE chains (a BIGINT)"}})
	mended := slices.Clone(steps)
	mended[len(steps)-1].text = "CREATE TABLE half (a BIGINT); ALTER TABLE chains ADD COLUMN half BIGINT"
	for name, empty := range empties(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := unmigrated(t, empty(t))
			log := slog.New(slog.DiscardHandler)
			err := s.migrate(t.Context(), steps, log)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("step %d", len(steps))) {
				t.Errorf("error %v, want one that names step %d", err, len(steps))
			}
			if version, err := s.version(t.Context()); err != nil || version != int64(len(migrations)) {
				t.Errorf("version %d, %v; want %d", version, err, len(migrations))
			}
			if err := s.migrate(t.Context(), mended, log); err != nil {
				t.Errorf("the mended one: %v", err)
			}
		})
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	steps := slices.Concat(migrations, []migration{{int64(len(migrations) + 1), "newer", "CREATE TABLE newer (a BIGINT)"}})
	for name, empty := range empties(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := empty(t)
			if err := unmigrated(t, where).migrate(t.Context(), steps, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			_, err := Open(t.Context(), where, Config{})
			wantKind(t, err, segue.Invalid)
			if want := fmt.Sprintf("version %d, and this program knows up to %d", len(steps), len(migrations)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q in it", err, want)
			}
		})
	}
}

// A store that the program before this one made, in which chains go on: the lost
// jobs of its links are attempts from now on, and nothing else changes.
func TestAStoreOfTheSixthStepLearnsOfLostJobs(t *testing.T) {
	t.Parallel()
	for name, empty := range empties(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := empty(t)
			old := unmigrated(t, where)
			if err := old.migrate(t.Context(), migrations[:6], slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			runs := create(t, old, "runs")
			waits, err := old.NextLink(t.Context(), create(t, old, "waits"), aDecision(t0))
			if err != nil {
				t.Fatal(err)
			}
			waits.State, waits.Job = segue.LinkQueued, segue.JobID{Number: 17}
			if err := old.UpdateLink(t.Context(), segue.LinkSubmitting, waits); err != nil {
				t.Fatal(err)
			}
			lost := waits
			lost.State = segue.LinkLost
			wantKind(t, old.UpdateLink(t.Context(), segue.LinkQueued, lost), segue.Conflict)
			before, err := old.LiveLinks(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			s := open(t, where)
			after, err := s.LiveLinks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the links changed (-before +after):\n%s", diff)
			}
			if err := s.UpdateLink(t.Context(), segue.LinkQueued, lost); err != nil {
				t.Errorf("a job that waited is lost: %v", err)
			}
			if again, err := s.NextLink(t.Context(), lost, aDecision(t0.Add(time.Minute))); err != nil || again.Token() != "segue:waits/2.2" {
				t.Errorf("the next one is %s, %v; want another attempt at the second", again.Token(), err)
			}
			if _, err := s.write.ExecContext(t.Context(), `UPDATE links SET state = 'lost' WHERE chain = $1`, runs.Chain); err == nil {
				t.Error("a link that runs is lost by hand")
			}
			wantSound(t, s)
		})
	}
}

func TestManyProcessesMigrateOnce(t *testing.T) {
	t.Parallel()
	for name, empty := range empties(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := empty(t)
			errs := make([]error, 6)
			var all sync.WaitGroup
			for i := range errs {
				all.Go(func() {
					s, err := Open(context.WithoutCancel(t.Context()), where, Config{Log: slog.New(slog.DiscardHandler)})
					if err == nil {
						err = s.Close()
					}
					errs[i] = err
				})
			}
			all.Wait()
			if err := errors.Join(errs...); err != nil {
				t.Error(err)
			}
			var steps int
			if err := open(t, where).read.QueryRowContext(t.Context(), `SELECT count(*) FROM `+versionTable+` WHERE version_id > 0`).Scan(&steps); err != nil || steps != len(migrations) {
				t.Errorf("%d steps were made, %v; want %d", steps, err, len(migrations))
			}
		})
	}
}

func TestMigrationIsOneTextForBothEngines(t *testing.T) {
	t.Parallel()
	m := readMigrations(fstest.MapFS{"m/00001_x.sql": {Data: []byte("a\n-- only sqlite\nb\n-- end\nc\n-- only postgres\nd\n-- end\ne\n")}}, "m")[0]
	for engine, want := range map[string]string{
		"sqlite":   "a\n-- only sqlite\nb\n-- end\nc\ne\n",
		"postgres": "a\nc\n-- only postgres\nd\n-- end\ne\n",
	} {
		if diff := cmp.Diff(want, m.textFor(engine)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", engine, diff)
		}
	}
}
