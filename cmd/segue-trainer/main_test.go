//go:build native

package main

import (
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/synthetic"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"segue-trainer": main})
}

// TestScripts runs the command-line tests of testdata/script. Each is a text
// file: what is typed, and what must be printed.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"history": history, "toymodel": toymodel.Script},
	})
}

// history makes up a job history of 8 nodes from the middle of January 2023 on:
// "history file days".
func history(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: history file days")
	}
	days, err := strconv.Atoi(args[1])
	ts.Check(err)
	jobs, err := synthetic.Generate(synthetic.Config{
		Nodes: 8, GPUsPerNode: 3, CPUsPerNode: 128, Users: 40, Load: 0.95, MaxRunning: -1, MaxQueued: 20, Seed: 1,
		Start: segue.TimeOf(time.Date(2023, time.January, 15, 0, 0, 0, 0, time.UTC)), Duration: time.Duration(days) * 24 * time.Hour,
	})
	ts.Check(err)
	w, err := traces.Create(ts.MkAbs(args[0]), traces.WriteOptions{Header: traces.Header{MaxNodes: 8, MaxProcs: 1024}})
	ts.Check(err)
	for j := range jobs {
		ts.Check(w.Write(j))
	}
	ts.Check(w.Close())
}
