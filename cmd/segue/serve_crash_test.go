package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
)

// What a server has answered is there, and nothing is there twice, whichever of the
// two is killed: it, or its database.
func TestNothingThatWasAnsweredIsLost(t *testing.T) {
	t.Parallel()
	if testing.Short() || !pgtest.Have(t) {
		return // it takes half a minute
	}
	program := buildSegue(t)
	t.Run("the server is killed", func(t *testing.T) {
		t.Parallel()
		killServers(newService(t, program, 2*time.Second))
	})
	t.Run("the database is killed", func(t *testing.T) {
		t.Parallel()
		killDatabase(newService(t, program, 2*time.Second))
	})
}

// killServers kills a server again and again while clients write and a chain goes
// on.
func killServers(s *service) {
	s.t.Helper()
	t := s.t
	address := freeAddress(t)
	start := func() *running { return s.start("data", address, "--every", "1s", "--config", s.shortAnswers()) }
	s.bystanders()
	r := start()
	chain := s.submit("train", 2)
	w := newWriters(s, r)
	for range 3 {
		pause(t.Context(), 1500*time.Millisecond)
		r.kill()
		r = start()
		w.to.Store(r)
	}
	w.judge()
	s.judgeChain(chain, 2)
}

// killDatabase kills every process of the database while clients write and a chain
// goes on, and later takes it away for a while: meanwhile the server says so, and it
// goes on by itself when the database is back.
func killDatabase(s *service) {
	s.t.Helper()
	t := s.t
	s.bystanders()
	r := s.start("data", freeAddress(t), "--every", "1s", "--config", s.shortAnswers())
	chain := s.submit("train", 3)
	s.until("the server leads", r.leads)
	w := newWriters(s, r)
	for range 2 {
		pause(t.Context(), time.Second)
		if err := s.database.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := s.database.Run(); err != nil {
			t.Fatal(err)
		}
		s.until("the server is ready again", func() bool { return r.status("/readyz") == http.StatusOK })
	}
	gone := 8 * time.Second // longer than a token is remembered
	if os.Getenv("SEGUE_E2E") == "long" {
		gone = time.Minute
	}
	pause(t.Context(), time.Second)
	if err := s.database.Stop(); err != nil {
		t.Fatal(err)
	}
	s.sayIt(r, gone)
	if err := s.database.Run(); err != nil {
		t.Fatal(err)
	}
	back := time.Now()
	s.until("the server is ready again", func() bool { return r.status("/readyz") == http.StatusOK })
	t.Logf("ready %s after the database is back", time.Since(back).Round(time.Millisecond))
	s.until("the server leads again", r.leads)
	t.Logf("leads %s after the database is back", time.Since(back).Round(time.Millisecond))
	w.judge()
	s.judgeChain(chain, 3)
}

// sayIt wants the server to say for a while that its database is gone.
func (s *service) sayIt(r *running, gone time.Duration) {
	s.t.Helper()
	until := time.Now().Add(gone)
	s.until("the server says that its database is gone", func() bool { return r.check("store") == "does not answer" })
	for time.Now().Before(until) {
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/v1/chains": 503, "/v1/histories": 503, "/v1/audit": 503} {
			status, text, _ := r.ask(http.MethodGet, path, "", "")
			if status != want {
				s.t.Errorf("without a database %s answers %d, want %d: %s", path, status, want, text)
			}
			if strings.HasPrefix(path, "/v1/") && !strings.Contains(text, "urn:segue:problem:unavailable") {
				s.t.Errorf("without a database %s answers %s, want a problem", path, text)
			}
		}
		pause(s.t.Context(), 500*time.Millisecond)
	}
}

// shortAnswers is a configuration with which a request may take a second, so that
// what a server leaves behind is given up soon.
func (s *service) shortAnswers() string {
	s.t.Helper()
	file := filepath.Join(s.dir, "segue.yaml")
	if err := os.WriteFile(file, []byte("limits: {time: 1s, import_time: 2s}\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// judgeChain wants a chain to come to its end, with each of its links submitted
// once. An attempt that a killed server noted and never got to submit is none.
func (s *service) judgeChain(id string, links int) {
	s.t.Helper()
	s.until("the chain is done", func() bool {
		c, err := s.store.Chain(s.t.Context(), id)
		return err == nil && c.State == segue.ChainDone
	})
	var want, submitted, kept []int
	for i := range links {
		want = append(want, i+1)
	}
	for _, token := range s.slurm.tokens(s.t) {
		if _, chain, number, _, ok := segue.FindToken(token); ok && chain == id {
			submitted = append(submitted, number)
		}
	}
	slices.Sort(submitted)
	if diff := cmp.Diff(want, submitted); diff != "" {
		s.t.Errorf("links that were submitted (-want +got):\n%s", diff)
	}
	known, err := s.store.Links(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, l := range known {
		if l.State != segue.LinkLost {
			kept = append(kept, l.Number)
		}
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		s.t.Errorf("links in the store that are not lost (-want +got):\n%s", diff)
	}
}
