package store

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// fill puts something into every table.
func fill(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	last := create(t, s, "c")
	if _, err := s.NextLink(ctx, last, aDecision(t0)); err != nil {
		t.Fatal(err)
	}
	done := create(t, s, "done")
	done.State, done.End = segue.LinkEnded, t0.Add(9*time.Hour)
	if err := s.UpdateLink(ctx, segue.LinkRunning, done); err != nil {
		t.Fatal(err)
	}
	if err := s.SetChainState(ctx, "done", segue.ChainActive, segue.ChainDone, "exit code 0"); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordOutcome(ctx, Outcome{Chain: "c", Number: 2, At: t0, Interruption: time.Minute}); err != nil {
		t.Fatal(err)
	}
	importAll(t, s, "c", aJob(1), aJob(2))
	if _, err := s.RecordSnapshot(ctx, "c", segue.Snapshot{At: t0, Pending: []segue.QueuedJob{queued(8)}, Running: []segue.QueuedJob{startedAt(9, t0)}}); err != nil {
		t.Fatal(err)
	}
	if err := s.BeginTraining(ctx, aTraining("1", t0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(ctx, "agent", "a", t0, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// contents returns every row of every table as text.
func contents(t *testing.T, s *Store) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		columns, err := columnsOf(t.Context(), s.read, table)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, table, columns)
		for row, err := range rowsOf(t.Context(), s.read, table+" ORDER BY 1, 2", columns) {
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range row {
				if raw, ok := v.([]byte); ok {
					row[i] = string(raw)
				}
			}
			fmt.Fprintf(&b, "%#v\n", row)
		}
	}
	return b.String()
}

// A backup of either engine fills a store of either.
func TestBackupMovesBetweenEngines(t *testing.T) {
	t.Parallel()
	for from, fresh := range engines(t) {
		t.Run("from "+from, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			fill(t, s)
			file := filepath.Join(t.TempDir(), "backup.db.gz")
			if err := s.Backup(t.Context(), file); err != nil {
				t.Fatal(err)
			}
			wantKind(t, s.Backup(t.Context(), file), segue.Conflict)
			want := contents(t, s)
			for to, fresh := range engines(t) {
				restored := open(t, fresh(t))
				if err := restored.Restore(t.Context(), file); err != nil {
					t.Fatalf("to %s: %v", to, err)
				}
				if diff := cmp.Diff(want, contents(t, restored)); diff != "" {
					t.Errorf("to %s (-want +got):\n%s", to, diff)
				}
				if _, err := restored.Acquire(t.Context(), "agent", "b", t0, time.Hour); err != nil {
					t.Errorf("to %s: a lease came along: %v", to, err)
				}
				wantKind(t, restored.Restore(t.Context(), file), segue.Conflict)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".segue*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestDamagedBackupIsRefused(t *testing.T) {
	t.Parallel()
	source := open(t, freshSQLite(t))
	fill(t, source)
	importAll(t, source, "more", func() (jobs []segue.Job) {
		for i := range int64(500) {
			jobs = append(jobs, aJob(i))
		}
		return jobs
	}()...)
	good := filepath.Join(t.TempDir(), "good")
	if err := source.Backup(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	plain := gunzip(t, packed)
	damaged := map[string]struct {
		content []byte
		want    segue.Kind
	}{
		"cut short":          {packed[:len(packed)/2], segue.Corrupt},
		"a flipped bit":      {flipped(packed, len(packed)/2), segue.Corrupt},
		"not compressed":     {plain, segue.Corrupt},
		"no database":        {gzipped(t, []byte("hello")), segue.Corrupt},
		"empty":              {nil, segue.Corrupt},
		"a page overwritten": {gzipped(t, overwritten(plain)), segue.Corrupt},
	}
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			before := contents(t, s)
			for name, d := range damaged {
				file := filepath.Join(t.TempDir(), "damaged")
				if err := os.WriteFile(file, d.content, 0o600); err != nil {
					t.Fatal(err)
				}
				err := s.Restore(t.Context(), file)
				if segue.KindOf(err) != d.want {
					t.Errorf("%s: error %v, want one of kind %s", name, err, d.want)
				}
			}
			wantKind(t, s.Restore(t.Context(), good+" is not there"), segue.NotFound)
			if diff := cmp.Diff(before, contents(t, s)); diff != "" {
				t.Errorf("the store changed (-before +after):\n%s", diff)
			}
		})
	}
}

func gunzip(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func gzipped(t *testing.T, plain []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func flipped(content []byte, at int) []byte {
	c := bytes.Clone(content)
	c[at] ^= 1
	return c
}

// overwritten returns a database of which all pages but the first few are random.
func overwritten(plain []byte) []byte {
	c := bytes.Clone(plain)
	for i := len(c) / 2; i < len(c); i++ {
		c[i] = byte(i * 31)
	}
	return c
}

// A path that begins at the working folder is one as good as another.
func TestBackupToARelativePath(t *testing.T) {
	s := open(t, freshSQLite(t))
	create(t, s, "c1")
	t.Chdir(t.TempDir())
	if err := s.Backup(t.Context(), "copy.db.gz"); err != nil {
		t.Fatal(err)
	}
	again := open(t, freshSQLite(t))
	if err := again.Restore(t.Context(), "copy.db.gz"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, s), contents(t, again)); diff != "" {
		t.Errorf("what is restored (-want +got):\n%s", diff)
	}
}
