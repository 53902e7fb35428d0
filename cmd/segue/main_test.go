package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
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
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
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
	if code := run([]string{"frobnicate"}, strings.NewReader(""), &stdout, &stderr); code != exitUsage {
		t.Errorf("exit code is %d, want %d", code, exitUsage)
	}
	if got := strings.Count(stderr.String(), "frobnicate"); got != 1 {
		t.Errorf("the error is printed %d times, want once:\n%s", got, &stderr)
	}
	if stdout.Len() > 0 {
		t.Errorf("standard output has %q, want nothing", &stdout)
	}
}
