package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/internal/toymodel"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"segue": main})
}

// TestScripts runs the command-line tests of testdata/script. Each is a text
// file: what is typed, and what must be printed.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "flip": flip, "keys": keys, "model": model, "toymodel": toymodel.Script,
		},
	})
}

// exits runs a command and wants its exit code: "exits 2 segue frobnicate".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s exits %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// keys reads a file of one JSON object and wants exactly these names in the
// object at a path of names and positions: "keys stdout policies.0 name cost".
// The path "." is the whole.
func keys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: keys file path name...")
	}
	var at any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &at))
	for step := range strings.FieldsFuncSeq(args[1], func(r rune) bool { return r == '.' }) {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			ts.Check(err)
			at = v[i]
		}
	}
	object, ok := at.(map[string]any)
	if !ok {
		ts.Fatalf("%s is %v, no object", args[1], at)
	}
	want := slices.Sorted(slices.Values(args[2:]))
	if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, want) {
		ts.Fatalf("%s has the names\n%q, want\n%q", args[1], got, want)
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	t.Parallel()
	root := newRootCommand()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: the short help is %q, want a phrase without a full stop", cmd.CommandPath(), cmd.Short)
		}
		if !cmd.Runnable() && !cmd.HasSubCommands() {
			t.Errorf("%s does nothing", cmd.CommandPath())
		}
	}
}

func TestErrorIsPrintedOnce(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	if code := run([]string{"frobnicate"}, strings.NewReader(""), &stdout, &stderr); code != cli.ExitUsage {
		t.Errorf("exit code is %d, want %d", code, cli.ExitUsage)
	}
	if got := strings.Count(stderr.String(), "frobnicate"); got != 1 {
		t.Errorf("the error is printed %d times, want once:\n%s", got, &stderr)
	}
	if stdout.Len() > 0 {
		t.Errorf("standard output has %q, want nothing", &stdout)
	}
}
