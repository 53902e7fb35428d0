package main

import (
	"os"
	"path/filepath"
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
