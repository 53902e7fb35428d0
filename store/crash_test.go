package store

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
)

// A writer is killed before each of its statements in turn, and before each
// commit. Afterwards the store is sound, another agent takes over at once when the
// lease runs out, and every link that the scheduler was asked for is there.
func TestKilledWriterLeavesAWholeStore(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for killAt := 0; ; killAt += stride(t) {
				where := fresh(t)
				open(t, where)
				said, killed := runKilled(t, where, killAt)
				s := open(t, where)
				wantSound(t, s)
				for token := range strings.FieldsSeq(said) {
					if !strings.HasPrefix(token, "segue:") {
						continue
					}
					if _, err := s.LinkByToken(t.Context(), token); err != nil {
						t.Errorf("killed at %d: a link was submitted and is not there: %v", killAt, err)
					}
				}
				if _, err := s.Acquire(t.Context(), "agent", "next", t0.Add(time.Hour), time.Minute); err != nil {
					t.Errorf("killed at %d: %v", killAt, err)
				}
				if !killed {
					if killAt < 50 {
						t.Errorf("the child ran to its end with %d statements, want more", killAt)
					}
					return
				}
			}
		})
	}
}

// stride is how many statements lie between two kills: in short tests not every
// one is tried.
func stride(t *testing.T) int {
	t.Helper()
	if testing.Short() {
		return 9
	}
	return 1
}

// Six processes open, change and close one store, again and again.
func TestManyProcessesShareAStore(t *testing.T) {
	t.Parallel()
	const processes = 6
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			where := fresh(t)
			var said [processes]bytes.Buffer
			var errs [processes]error
			var all sync.WaitGroup
			for i := range processes {
				cmd := exec.CommandContext(t.Context(), os.Args[0])
				cmd.Env = append(os.Environ(), childVariable+"=many", "WHERE="+where, "NAME=p"+strconv.Itoa(i))
				cmd.Stdout, cmd.Stderr = &said[i], &said[i]
				all.Go(func() { errs[i] = cmd.Run() })
			}
			all.Wait()
			for i, err := range errs {
				if err != nil {
					t.Errorf("process %d: %v\n%s", i, err, &said[i])
				}
			}
			s := open(t, where)
			wantSound(t, s)
			chains, err := s.Chains(t.Context(), ChainQuery{})
			if err != nil || len(chains) != processes*childChains {
				t.Errorf("%d chains, %v; want %d", len(chains), err, processes*childChains)
			}
			links, err := s.LiveLinks(t.Context())
			if err != nil || len(links) != 2*processes*childChains {
				t.Errorf("%d links, %v; want %d", len(links), err, 2*processes*childChains)
			}
		})
	}
}

func runKilled(t *testing.T, where string, killAt int) (said string, killed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"=life", "WHERE="+where, "KILL_AT="+strconv.Itoa(killAt))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return out.String(), true
	}
	if err != nil || !strings.Contains(out.String(), "the end") {
		t.Fatalf("killed at %d: %v\n%s", killAt, err, &out)
	}
	return out.String(), false
}

// wantSound fails the test unless the store keeps what it promises: chains are
// whole, links follow each other without a gap, at most one waits, and each but
// the first has the decision that led to it.
func wantSound(t *testing.T, s *Store) {
	t.Helper()
	for name, query := range map[string]string{
		"chains without a submission":     `SELECT count(*) FROM chains WHERE id NOT IN (SELECT chain FROM submissions)`,
		"chains without a link":           `SELECT count(*) FROM chains WHERE id NOT IN (SELECT chain FROM links WHERE number = 1)`,
		"links after a gap":               `SELECT count(*) FROM links l WHERE number > 1 AND NOT EXISTS (SELECT 1 FROM links p WHERE p.chain = l.chain AND p.number = l.number - 1)`,
		"links without a decision":        `SELECT count(*) FROM links l WHERE number > 1 AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.chain = l.chain AND d.number = l.number)`,
		"chains with two links that wait": `SELECT count(*) FROM (SELECT chain FROM links WHERE state IN ('submitting', 'queued') GROUP BY chain HAVING count(*) > 1) AS twice`,
		"jobs that are seen and past":     `SELECT count(*) FROM sightings g JOIN jobs j ON j.cluster = g.cluster AND j.number = g.number AND j.submit = g.submit AND j.restarts = g.restarts`,
	} {
		var n int
		if err := s.read.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%d %s, %v; want none", n, name, err)
		}
	}
	if s.engine.name() == "sqlite" {
		var verdict sql.NullString
		if err := s.read.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&verdict); err != nil || verdict.String != "ok" {
			t.Errorf("integrity: %s, %v", verdict.String, err)
		}
	}
}

// The server is killed under a store, which says so, and goes on when the server
// is back. A change that it had confirmed is there.
func TestServerGoesAwayAndComesBack(t *testing.T) {
	t.Parallel()
	if !pgtest.Have(t) {
		return
	}
	own := pgtest.Server{Keep: true, Durable: true}
	if err := errors.Join(own.Init(), own.Run()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(own.Stop(), os.RemoveAll(own.Dir())); err != nil {
			t.Error(err)
		}
	})
	s := open(t, own.URL("postgres"))
	last := create(t, s, "c")
	next, err := s.NextLink(t.Context(), last, aDecision(t0))
	if err != nil {
		t.Fatal(err)
	}

	inTheMiddle := true
	s.step = func() error {
		if inTheMiddle {
			inTheMiddle = false
			return own.Stop()
		}
		return nil
	}
	wantKind(t, s.UpdateLink(t.Context(), segue.LinkSubmitting, running(next)), segue.Unavailable)
	s.step = nil
	wantKind(t, s.UpdateLink(t.Context(), segue.LinkSubmitting, running(next)), segue.Unavailable)
	_, err = s.Links(t.Context(), "c")
	wantKind(t, err, segue.Unavailable)
	_, err = s.ImportJobs(t.Context(), "c", historyOf(aJob(1)))
	wantKind(t, err, segue.Unavailable)

	if err := own.Run(); err != nil {
		t.Fatal(err)
	}
	if err := s.UpdateLink(t.Context(), segue.LinkSubmitting, running(next)); err != nil {
		t.Errorf("when the server is back: %v", err)
	}
	wantSound(t, s)
}
