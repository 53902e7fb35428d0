package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/segue-project/segue"
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
		"the server refuses it": {422, 1, "until `segue status` is asked again"},
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
