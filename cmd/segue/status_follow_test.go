package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// said is what a process has written so far.
func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// `segue status --follow` tells what changes, and goes on when the server comes back.
func TestChangesAreFollowed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes half a minute
	}
	s := newService(t, buildSegue(t), 3*time.Second)
	socket := filepath.Join(s.dir, "segue.sock")
	address := freeAddress(t)
	start := func() *running { return s.start("data", address, "--every", "1s", "--socket", socket) }
	r := start()
	follow := func(args ...string) *running {
		f := &running{service: s, process: exec.CommandContext(t.Context(), s.program, append([]string{"status", "--follow", "--server", "unix://" + socket}, args...)...)}
		f.process.Env, f.process.Dir, f.process.Stdout, f.process.Stderr = s.environment(), s.dir, f, f
		if err := f.process.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.process.Process.Kill(); _ = f.process.Wait() }) // where the test ended before
		return f
	}
	all := follow()
	s.until("the stream begins", func() bool { return strings.Contains(all.said(), "no chain") })
	s.submit("train", 3)
	s.until("the second link runs", func() bool { return strings.Contains(all.said(), "link 2 runs as job 2, until 20") })
	r.kill()
	start()
	one := follow("--json", "train")
	s.until("the chain is done", func() bool {
		return strings.Contains(all.said(), "train is done: All 3 links have run.") && strings.Contains(one.said(), `"state":"done"`)
	})
	if text := one.said(); !strings.HasPrefix(text, `{"at":"`) || !strings.Contains(text, `"link":{"number":3`) {
		t.Errorf("in JSON it says\n%s", text)
	}
	for _, f := range []*running{all, one} {
		if err := errors.Join(f.process.Process.Signal(os.Interrupt), f.process.Wait()); err != nil {
			t.Errorf("told to end: %v\n%s", err, f.said())
		}
	}
}
