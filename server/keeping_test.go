package server

import (
	"context"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// Of two servers one removes what is too old; what it removed it tells.
func TestOneServerRemovesWhatIsOld(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	clock := &clock{at: t0}
	for i, age := range []time.Duration{800 * day, 100 * day, day} {
		if err := s.BeginAudit(t.Context(), store.Audit{ID: fmt.Sprint(i), At: t0.Add(-age), Action: "pause-chain"}); err != nil {
			t.Fatal(err)
		}
	}
	keeper := func(holder string, audit time.Duration) *keeper {
		return newKeeper(s, Config{Now: clock.now, Holder: holder, User: "segue", Retention: store.Retention{Audit: audit}, Log: slog.New(slog.DiscardHandler)})
	}
	left := func() int {
		t.Helper()
		lines, err := s.AuditLog(t.Context(), store.AuditQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, l := range lines {
			if l.Action == "pause-chain" {
				n++
			}
		}
		return n
	}
	other, err := s.Acquire(t.Context(), tidyLease, "two", t0, tidyMost)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		when   string
		before func()
		keep   time.Duration
		want   int
	}{
		{"while another server does it", func() {}, 30 * day, 3},
		{"with nothing said", func() { _ = s.Release(t.Context(), other) }, 0, 2},
		{"for ever", func() {}, -1, 2},
		{"for a month", func() {}, 30 * day, 1},
		{"for a month, when the one that did it is gone", func() {
			_, _ = s.Acquire(t.Context(), tidyLease, "two", clock.at, time.Second)
			clock.advance(60 * day)
		}, 30 * day, 0},
	} {
		step.before()
		if err := keeper("one", step.keep).runOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := left(); got != step.want {
			t.Errorf("%s %d lines of the audit log are left, want %d", step.when, got, step.want)
		}
	}
	lines, err := s.AuditLog(t.Context(), store.AuditQuery{Limit: 1})
	want := store.Audit{
		User: "segue", Via: "the server itself", Action: "remove-old", Object: "0 jobs, 0 snapshots, 0 decisions, 0 chains, 3 lines of this log", Status: 200,
	}
	if diff := cmp.Diff([]store.Audit{want}, lines, cmpopts.IgnoreFields(store.Audit{}, "ID", "At")); diff != "" || err != nil {
		t.Errorf("the audit log of what was removed: %v (-want +got):\n%s", err, diff)
	}
}

// recorded is a scheduler with an accounting, which knows a job of every day but
// those that are listed.
type recorded struct {
	fileCluster
	silent map[string]bool // days
	asked  []string
	fails  error
}

func (*recorded) Capabilities(context.Context) (schedulers.Capabilities, error) {
	return schedulers.Capabilities{Version: "files 1", Cluster: "c", Accounting: true}, nil
}

func (r *recorded) History(_ context.Context, from, until segue.Time, w io.Writer) error {
	name := from.Std().Format("01-02")
	r.asked = append(r.asked, name)
	if r.fails != nil {
		return r.fails
	}
	lines := "JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|NNodes|NCPUS|ReqTRES|AllocTRES|Priority|State|ExitCode|JobName\n"
	if at := from.Std().Unix(); !r.silent[name] {
		lines += fmt.Sprintf("%d|ada|physics|gpu|normal|%d|%[2]d|%[2]d|%d|1-00:00:00|2|64|billing=64,node=2|billing=64,node=2|1|COMPLETED|0:0|a\n", at, at, until.Std().Unix()-60)
	}
	_, err := io.WriteString(w, lines)
	return err
}

// Days of which the history has no job are asked for again, the latest first, some
// at a time and each once.
func TestGapsOfTheHistoryAreFilled(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	clock := &clock{at: t0}
	midnight := t0 - t0%segue.Time(day/time.Microsecond)
	var known iter.Seq2[segue.Job, error] = func(yield func(segue.Job, error) bool) {
		for _, ago := range []int{40, 39, 29, 28, 1, 0} {
			at := midnight.Add(-time.Duration(ago) * day)
			j := segue.Job{
				ID: segue.JobID{Number: int64(ago + 1)}, User: "ada", Submit: at, Eligible: at, Start: at, End: at.Add(time.Hour),
				Limit: day, Nodes: 1, State: segue.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	if _, err := s.ImportJobs(t.Context(), "c", known); err != nil {
		t.Fatal(err)
	}
	driver := &recorded{fileCluster: fileCluster{t.TempDir(), clock.now}, silent: map[string]bool{"02-25": true}}
	srv, err := New(s, Config{
		Now: clock.now, Holder: "one", User: "segue", Driver: driver, Exists: func(string, string) bool { return false }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	asks := func(want string) {
		t.Helper()
		driver.asked = nil
		err := srv.mender.runOnce(t.Context())
		if (err != nil) != (driver.fails != nil) {
			t.Fatal(err)
		}
		if got := strings.Join(driver.asked, " "); got != want {
			t.Errorf("asked for %s, want %s", got, want)
		}
	}
	driver.fails = segue.Errorf(segue.Unavailable, "slurmdbd is down")
	asks("02-27")
	driver.fails = nil
	asks("02-27 02-26 02-25 02-24 02-23 02-22 02-21") // t0 is noon of March 1; of the day before there is a job
	asks("02-20 02-19 02-18 02-17 02-16 02-15 02-14")
	for range 4 {
		if err := srv.mender.runOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	asks("")
	coverage, err := s.Coverage(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(40, len(coverage.Days)); diff != "" {
		t.Errorf("days with jobs, of 41 and one that had none (-want +got):\n%s", diff)
	}
	clock.advance(30 * day)
	asks("03-30 03-29 03-28 03-27 03-26 03-25 03-24") // of which no server ran
}
