package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// The tab key completes a chain: one that the command can do something with.
func TestChainsAreCompleted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "segue.db")
	s, err := store.Open(t.Context(), file, store.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []string{"aa1111", "ab2222", "ab3333"} {
		at := segue.TimeOf(time.Unix(1_800_000_000+int64(i), 0))
		chain := segue.Chain{
			ID: id, Name: "train", User: "ada", Created: at, Terms: segue.Terms{}.WithDefaults(),
			Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}, User: "ada"},
		}
		link := segue.Link{Chain: id, Number: 1, Attempt: 1, Planned: at, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime}
		if err := s.CreateChain(t.Context(), chain, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetChainState(t.Context(), "ab2222", segue.ChainActive, segue.ChainPaused, "Paused."); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want []string
	}{
		"all":                    {[]string{"status", "--store", file, ""}, []string{"ab3333\ttrain, active", "ab2222\ttrain, paused", "aa1111\ttrain, active"}},
		"those that begin so":    {[]string{"why", "--store", file, "ab"}, []string{"ab3333\ttrain, active", "ab2222\ttrain, paused"}},
		"those that are paused":  {[]string{"resume", "--store", file, ""}, []string{"ab2222\ttrain, paused"}},
		"those that go on":       {[]string{"pause", "--store", file, ""}, []string{"ab3333\ttrain, active", "aa1111\ttrain, active"}},
		"one is enough":          {[]string{"logs", "--store", file, "ab2222", ""}, nil},
		"a server does not say":  {[]string{"status", "--server", "http://127.0.0.1:1", "--token-file", file, ""}, nil},
		"what is wrong is quiet": {[]string{"status", "--store", "mysql://nowhere", ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, said bytes.Buffer
			if code := run(append([]string{"__complete"}, tt.args...), strings.NewReader(""), &out, &said); code != 0 {
				t.Errorf("it ends with %d: %s", code, said.String())
			}
			var got []string
			for line := range strings.Lines(out.String()) {
				if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, ":") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("completions (-want +got):\n%s", diff)
			}
		})
	}
}

// The tab key makes no store where there is none.
func TestNothingIsMadeByCompleting(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	t.Setenv("DATABASE_URL", "")
	t.Setenv("SEGUE_SERVER", "")
	var out, said bytes.Buffer
	if code := run([]string{"__complete", "status", ""}, strings.NewReader(""), &out, &said); code != 0 || !strings.HasPrefix(out.String(), ":") {
		t.Errorf("it ends with %d: %s%s", code, out.String(), said.String())
	}
	if entries, err := fs.ReadDir(os.DirFS(home), "."); err != nil || len(entries) > 0 {
		t.Errorf("it made %v, %v", entries, err)
	}
}
