package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

// Where it cannot be noted in the user's folder that the job is submitted, the chain is
// handed over all the same, and nobody is told that there is none.
func TestAChainIsHandedOverFromAFullDisk(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		put  int // status of the answer to the chain; 0 without a server
		left int // chains in the spool
		says string
	}{
		"the server takes it":   {201, 0, ""},
		"the server fails":      {500, 1, "brings it there in 15 minutes at the earliest"},
		"the server refuses it": {422, 1, "it waits, since it cannot be kept here"},
		"there is no server":    {0, 1, "is taken up in 15 minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, link := aChain(segue.LinkSubmitting), aChain(segue.LinkQueued).Link
			s := spool{dir: t.TempDir()}
			var to *carrier
			if tt.put != 0 {
				to = newCarrier(t, answersTo(t, c.Chain, tt.put, 404))
				s.server = "https://segue"
			}
			if err := s.Record(c.Chain, c.Link); err != nil {
				t.Fatal(err)
			}
			s.step = func() { // what is written does not get its name
				for _, path := range found(t, filepath.Dir(s.path("")), "*.new") {
					_ = os.Remove(path)
				}
			}
			var said bytes.Buffer
			h := handover{spool: s, server: to, chain: c.Chain, link: link, stderr: &said}
			h.record()
			if left := found(t, filepath.Dir(s.path("")), "*"+spoolSuffix); len(left) != tt.left {
				t.Errorf("in the spool is %q, want %d chains", left, tt.left)
			}
			if strings.Contains(said.String(), "not managed") || !strings.Contains(said.String(), tt.says) || tt.says == "" && said.Len() > 0 {
				t.Errorf("the user is told %q, want %q", &said, tt.says)
			}
		})
	}
}

// found returns the files of a folder that match a pattern.
func found(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// A job has one chain: one that was adopted a second time is dropped once the server says
// so, and not kept going by anybody else.
func TestAChainOfAJobThatIsALinkAlreadyIsDropped(t *testing.T) {
	t.Parallel()
	s := spool{dir: t.TempDir(), server: "https://segue"}
	c := aChain(segue.LinkQueued)
	if err := s.Record(c.Chain, c.Link); err != nil {
		t.Fatal(err)
	}
	refusal := fmt.Errorf("%w: %w", errRefused, api.LinkAlready("job 7 is link 1 of chain x"))
	err := s.HandOver(&took{err: refusal}, 0)
	if !errors.Is(err, errRefused) || !strings.Contains(err.Error(), "job 7 is link 1 of chain x") || !strings.Contains(err.Error(), "chain k3v9q2 is dropped") {
		t.Errorf("the user is told %v", err)
	}
	if left := found(t, filepath.Join(s.dir, "*"), "*"+spoolSuffix); len(left) > 0 {
		t.Errorf("left is %q, want nothing", left)
	}
}

// Whoever adopts a job while the server is away is told whether the chain waits, and
// makes no second one of the job.
func TestAJobIsAdoptedOnceWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	slurm, dir := newFakeSlurm(t, time.Hour), t.TempDir()
	slurm.lasting(t, segue.JobID{Number: 4711}, "none")
	failing := answersTo(t, segue.Chain{}, 500, 404)
	for _, step := range []struct {
		server, says string
		waits        int
	}{
		{"unix://" + dir + "/nowhere.sock", "the job is not adopted", 0},
		{failing, "do not adopt the job again", 1},
		{failing, "which waits for the server " + failing, 1},
		{"", "which waits for the server " + failing, 1},
	} {
		cmd := exec.CommandContext(t.Context(), "segue", "adopt", "4711", "--segue-links=2", "--time=1", "--wrap=true")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "DATABASE_URL=", serverVariable+"="+step.server, "PATH="+slurm.bin()+":"+os.Getenv("PATH"))
		said, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(said), step.says) {
			t.Errorf("with the server %q: %v, %q, want %q", step.server, err, said, step.says)
		}
		if left := found(t, filepath.Join(dir, "segue", "*"), "*"+spoolSuffix); len(left) != step.waits {
			t.Errorf("with the server %q: %q wait, want %d", step.server, left, step.waits)
		}
	}
}

// A job that the user's own agent follows is adopted for a server only once its chain is
// stopped: both would submit what follows it.
func TestAJobOfAChainOfOnesOwnIsNotAdoptedForAServer(t *testing.T) {
	t.Parallel()
	slurm, dir := newFakeSlurm(t, time.Hour), t.TempDir()
	slurm.lasting(t, segue.JobID{Number: 4711}, "none")
	for _, step := range []struct{ server, command, says string }{
		{"", "adopt 4711 --segue-links=2 --time=1 --wrap=true", "is the first link of chain"},
		{"unix://" + dir + "/nowhere.sock", "adopt 4711 --segue-links=2 --time=1 --wrap=true", "already, which"},
		{"", "stop wrap", "is stopped"},
		{"unix://" + dir + "/nowhere.sock", "adopt 4711 --segue-links=2 --time=1 --wrap=true", "the job is not adopted"}, // for nobody answers
	} {
		cmd := exec.CommandContext(t.Context(), "segue", strings.Fields(step.command)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "DATABASE_URL=", serverVariable+"="+step.server, "PATH="+slurm.bin()+":"+os.Getenv("PATH"))
		if said, err := cmd.CombinedOutput(); !strings.Contains(string(said), step.says) {
			t.Errorf("segue %s with the server %q: %v, %q, want %q", step.command, step.server, err, said, step.says)
		}
	}
}

// What a server took more than a year ago is no longer kept.
func TestWhatAServerTookLongAgoIsForgotten(t *testing.T) {
	t.Parallel()
	s := spool{dir: t.TempDir(), server: "https://segue"}
	hand := func(id string) string {
		c := aChain(segue.LinkQueued)
		c.Chain.ID, c.Link.Chain = id, id
		if err := errors.Join(s.Record(c.Chain, c.Link), s.HandOver(&took{}, 0)); err != nil {
			t.Fatal(err)
		}
		return s.aside(id)
	}
	old, lately := hand("old1"), hand("late1")
	for path, age := range map[string]time.Duration{old: keptAside + time.Hour, lately: keptAside - time.Hour, filepath.Join(filepath.Dir(old), "looked"): 25 * time.Hour} {
		at := time.Now().Add(-age)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	hand("new1")
	if left, want := found(t, filepath.Dir(old), "*"+spoolSuffix), []string{lately, s.aside("new1")}; !slices.Equal(left, want) {
		t.Errorf("kept is %q, want %q", left, want)
	}
}
