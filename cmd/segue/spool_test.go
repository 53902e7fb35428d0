package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// took is a recorder that remembers, or answers with an error.
type took struct {
	chains []spooled
	err    error
}

func (r *took) Record(chain segue.Chain, link segue.Link) error {
	r.chains = append(r.chains, spooled{Chain: chain, Link: link})
	return r.err
}

// aChain is a chain whose submission holds bytes that are no text.
func aChain(state segue.LinkState) spooled {
	return spooled{
		Chain: segue.Chain{
			ID: "k3v9q2", Name: "train", User: "u", Created: 5, Terms: segue.Terms{MaxLinks: 3, Prefer: segue.NoGap}.WithDefaults(),
			Request: segue.Request{Shape: segue.Shape{Nodes: 2, Limit: segue.Unlimited}},
			Submission: segue.Submission{
				Args: []string{"-J", "\xff", "job.sh"}, ScriptAt: 2, Script: []byte("#!/bin/sh\n\xfe"), Env: []string{"A=\xff"}, Dir: "/d", Umask: 0o27,
				Limits: []segue.ResourceLimit{{Name: "NOFILE", Soft: 1024, Hard: 1<<64 - 1}},
			},
		},
		Link: segue.Link{Chain: "k3v9q2", Number: 1, Attempt: 1, State: state, Submitted: segue.NoTime},
	}
}

func TestSpooledChainIsHandedOverByteForByteAndOnce(t *testing.T) {
	t.Parallel()
	s := spool{dir: t.TempDir()}
	want := aChain(segue.LinkQueued)
	if err := s.Record(want.Chain, want.Link); err != nil {
		t.Fatal(err)
	}
	var r took
	for range 2 {
		if err := s.HandOver(&r, 0); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]spooled{want}, r.chains); diff != "" {
		t.Errorf("handed over (-want +got):\n%s", diff)
	}
}

func TestSpooledChainIsForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	s := spool{dir: filepath.Join(t.TempDir(), "state")}
	c := aChain(segue.LinkQueued)
	if err := s.Record(c.Chain, c.Link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{s.path(c.Chain.ID): 0o600, filepath.Dir(s.path(c.Chain.ID)): 0o700, s.dir: 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestSpooledChainWaitsUntilItIsTaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state segue.LinkState
		now   segue.Time
		err   error
		want  int // how often two rounds offer it
	}{
		"nobody can take it now":           {segue.LinkQueued, 0, segue.Errorf(segue.Unavailable, "no store"), 2},
		"it was taken before":              {segue.LinkQueued, 0, segue.Errorf(segue.Conflict, "known"), 1},
		"it is being submitted":            {segue.LinkSubmitting, 1, nil, 0},
		"whoever submitted it has crashed": {segue.LinkSubmitting, segue.Time(0).Add(16 * time.Minute), nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spool{dir: t.TempDir()}
			chain := aChain(c.state)
			if err := s.Record(chain.Chain, chain.Link); err != nil {
				t.Fatal(err)
			}
			r := took{err: c.err}
			for range 2 {
				err := s.HandOver(&r, c.now)
				if failed := segue.KindOf(c.err) == segue.Unavailable; (err != nil) != failed {
					t.Fatal(err)
				}
			}
			if len(r.chains) != c.want {
				t.Errorf("offered %d times, want %d", len(r.chains), c.want)
			}
		})
	}
}

func TestDamagedFileOfTheSpoolKeepsNothingElseBack(t *testing.T) {
	t.Parallel()
	s := spool{dir: t.TempDir()}
	c := aChain(segue.LinkQueued)
	if err := s.Record(c.Chain, c.Link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path("aaaaaa"), []byte("no chain"), 0o600); err != nil {
		t.Fatal(err)
	}
	var r took
	if err := s.HandOver(&r, 0); err == nil || len(r.chains) != 1 {
		t.Errorf("error %v, and %d chains", err, len(r.chains))
	}
}

// Whenever the process ends that keeps a refused chain here, one of the two who may
// take the chain does, and it is never both: not even where the server takes chains
// by then.
func TestARefusedChainIsKeptHereOnceWheneverItsProcessEnds(t *testing.T) {
	t.Parallel()
	for _, serverFirst := range []bool{true, false} {
		killed := true
		for endAt := 1; killed; endAt++ {
			dir := t.TempDir()
			here, local := spool{dir: dir, server: "unix:///here"}, spool{dir: dir}
			c := aChain(segue.LinkQueued)
			if err := here.Record(c.Chain, c.Link); err != nil {
				t.Fatal(err)
			}
			steps := 0
			killed = endsAt(func() bool { steps++; return steps == endAt }, func(step func()) {
				here.step = step
				if err := here.HandOver(&took{err: errRefused}, 0); !errors.Is(err, errRefused) {
					t.Errorf("error is %v, want the refusal", err)
				}
				here.step = nil
			})
			here.step = nil
			var server, store took
			for i := range 4 {
				to, by := &server, here
				if (i%2 == 0) != serverFirst {
					to, by = &store, local
				}
				if err := by.HandOver(to, 0); err != nil {
					t.Fatal(err)
				}
			}
			if got := len(server.chains) + len(store.chains); got != 1 {
				t.Errorf("ended before step %d: the server took it %d times, the store %d times; want one of them once", endAt, len(server.chains), len(store.chains))
			}
			if !killed && (len(store.chains) != 1 || steps < 4) {
				t.Errorf("after all %d steps the store took it %d times, want at least 4 and 1", steps, len(store.chains))
			}
		}
	}
}

// endsAt lets do run in a goroutine, which ends in the middle of it, as a process does
// that is killed, when at is true; it reports whether it did.
func endsAt(at func() bool, do func(step func())) (ended bool) {
	over := make(chan bool, 1)
	go func() {
		ended := true
		defer func() { over <- ended }()
		do(func() {
			if at() {
				runtime.Goexit()
			}
		})
		ended = false
	}()
	return <-over
}

// A process that submits for longer than others leave its chain to it does not bring it
// back when they have taken it.
func TestAChainThatWasTakenMeanwhileIsNotRecordedAgain(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{"the server took it": nil, "the server refused it": errRefused} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := aChain(segue.LinkSubmitting)
			h := handover{spool: spool{dir: dir, server: "unix:///here"}, chain: c.Chain, link: c.Link, stderr: io.Discard}
			if err := h.spool.Record(h.chain, h.link); err != nil {
				t.Fatal(err)
			}
			if err := h.spool.HandOver(&took{err: refusal}, segue.Time(0).Add(16*time.Minute)); !errors.Is(err, refusal) {
				t.Fatal(err)
			}
			h.submitted(segue.JobID{Number: 7})
			var server took
			if err := h.spool.HandOver(&server, 0); err != nil || len(server.chains) != 0 {
				t.Errorf("%v, and it is offered again %d times", err, len(server.chains))
			}
		})
	}
}
