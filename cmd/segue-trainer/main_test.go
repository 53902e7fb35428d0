//go:build native

package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/synthetic"
	"github.com/segue-project/segue/trainer/nightly"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"segue-trainer": main, "killed-trainer": killed})
}

// TestScripts runs the command-line tests of testdata/script. Each is a text
// file: what is typed, and what must be printed.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"history": history, "nightly": night, "toymodel": toymodel.Script, "flip": flip},
	})
}

// killed is the program, which is killed when it has printed its first argument on
// a line of its own, or as the beginning of one that ends with a colon: from the
// middle of what it does then it comes no further.
func killed() {
	showEvery = 0
	os.Exit(cli.Run(newRootCommand(), os.Args[2:], os.Stdin, os.Stdout, killer{os.Args[1]}))
}

type killer struct{ at string }

// Write implements io.Writer.
func (k killer) Write(p []byte) (int, error) {
	n, err := os.Stderr.Write(p)
	for line := range strings.Lines(string(p)) {
		if before, _, _ := strings.Cut(strings.TrimSpace(line), ":"); before == k.at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // a signal takes effect when it likes
		}
	}
	return n, err
}

// flip changes one bit in the middle of a file: "flip file".
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip file")
	}
	content, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	content[len(content)/2] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), content, 0o644))
}

// history makes up a job history of 8 nodes from the middle of January 2023 on:
// "history file days".
func history(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: history file days")
	}
	days, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(writeHistory(ts.MkAbs(args[0]), days))
}

func writeHistory(path string, days int) error {
	jobs, err := made(days)
	if err != nil {
		return err
	}
	w, err := traces.Create(path, traces.WriteOptions{Header: traces.Header{MaxNodes: 8, MaxProcs: 1024}})
	if err != nil {
		return err
	}
	for j := range jobs {
		if err := w.Write(j); err != nil {
			return err
		}
	}
	return w.Close()
}

func made(days int) (iter.Seq[segue.Job], error) {
	return synthetic.Generate(synthetic.Config{
		Nodes: 8, GPUsPerNode: 3, CPUsPerNode: 128, Users: 40, Load: 0.95, MaxRunning: -1, MaxQueued: 20, Seed: 1,
		Start: segue.TimeOf(time.Date(2023, time.January, 15, 0, 0, 0, 0, time.UTC)), Duration: time.Duration(days) * 24 * time.Hour,
	})
}

// night trains as the schedule of segue serve does: "nightly history runs models".
func night(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: nightly history runs models")
	}
	ctx, stop := context.WithCancel(context.Background())
	ts.Defer(stop)
	s, err := store.Open(ctx, ts.MkAbs("segue.db"), store.Config{Volatile: true})
	ts.Check(err)
	ts.Defer(func() { _ = s.Close() })
	jobs, err := traces.Open(ts.MkAbs(args[0]), traces.Options{})
	ts.Check(err)
	defer jobs.Close()
	_, err = s.ImportJobs(ctx, "c", jobs.All())
	ts.Check(err)
	n, err := nightlyOf(s, ts.MkAbs(args[1]), ts.MkAbs(args[2]), func() segue.Time { return endOfHistory }, filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "segue-trainer"))
	ts.Check(err)
	t, err := n.Now(ctx)
	if err != nil {
		ts.Fatalf("%v\n%s", err, ts.ReadFile(filepath.Join(args[1], t.ID, "log")))
	}
	entries, err := models.NewRegistry(ts.MkAbs(args[2]), func() segue.Time { return endOfHistory }).Verify()
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "%s at %s: %s\n%s: %d model in the folder\n", t.State, t.Step, t.Why, t.State, len(entries))
	ts.Check(err)
}

// endOfHistory is the day after the last one of a history of 60 days.
var endOfHistory = segue.TimeOf(time.Date(2023, time.March, 16, 0, 0, 0, 0, time.UTC))

// nightlyOf trains on such a history, of the cluster c, by a command.
func nightlyOf(s *store.Store, runs, models string, now func() segue.Time, trainer ...string) (*nightly.Nightly, error) {
	return nightly.New(s, nightly.Config{
		Cluster: "c", Nodes: 8, Judge: 7 * 24 * time.Hour, Back: 60 * 24 * time.Hour, Dir: runs, Models: models, Holder: "one",
		Trainer: trainer, Now: now,
		Args:      []string{"--backfill=easy", "--pairs=2", "--pair-time=12h", "--every=24h", "--replicas=2", "--plain-only"},
		TrainArgs: []string{"--policies=moe-dqn", "--steps=20", "--lead-step=4h", "--node-shares=1"},
	})
}
