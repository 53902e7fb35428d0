package server

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// handedOver is a chain of a user with its first link.
func handedOver(id, user string, job int64) (segue.Chain, segue.Link) {
	now := realNow()
	chain := segue.Chain{ID: id, Name: "train", User: user, Created: now, Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: segue.Unlimited}, User: user}}
	return chain, segue.Link{
		Chain: id, Number: 1, Attempt: 1, State: segue.LinkQueued, Job: segue.JobID{Number: job}, Planned: now, Submitted: now,
		Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
}

func newTestIntake(t *testing.T, s *store.Store, cfg Config) intake {
	t.Helper()
	cfg.Now, cfg.Log = realNow, slog.New(slog.DiscardHandler)
	if cfg.Driver == nil {
		return newIntake(s, nil, cfg)
	}
	cluster, err := schedulers.New(cfg.Driver, patienceOf(cfg.withDefaults()))
	if err != nil {
		t.Fatal(err)
	}
	return newIntake(s, cluster, cfg)
}

func TestAServerTakesChainsOfThoseForWhomItSubmits(t *testing.T) {
	t.Parallel()
	driver := fileCluster{t.TempDir(), realNow}
	for name, tt := range map[string]struct {
		cfg  Config
		user string
		want string // of the refusal; "" for none
		kind segue.Kind
	}{
		"a server of root, for a user":        {Config{Driver: driver, Root: true, User: "root"}, "nobody", "", segue.Other},
		"a server of root, for root":          {Config{Driver: driver, Root: true, User: "root"}, "root", "chains of root are not taken over", segue.Invalid},
		"a server of root, for who is nobody": {Config{Driver: driver, Root: true, User: "root"}, "no-such-user-here", "is known", segue.Unavailable},
		"a user's server, for the user":       {Config{Driver: driver, User: "ada"}, "ada", "", segue.Other},
		"a user's server, for another":        {Config{Driver: driver, User: "ada"}, "nobody", "submits as ada, and for nobody else", segue.Invalid},
		"a server without a scheduler":        {Config{User: "ada"}, "ada", "no scheduler", segue.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			chain, first := handedOver("abc123", tt.user, 7)
			err := newTestIntake(t, s, tt.cfg).Create(t.Context(), chain, first)
			if tt.want == "" && err != nil || tt.want != "" && (segue.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("error is %v, want %q", err, tt.want)
			}
			if _, err := s.Chain(t.Context(), "abc123"); (err == nil) != (tt.want == "") {
				t.Errorf("then the store says: %v", err)
			}
		})
	}
}

func TestAJobIsALinkOfOneChainOfItsUser(t *testing.T) {
	t.Parallel()
	in := newTestIntake(t, openStore(t), Config{Driver: fileCluster{t.TempDir(), realNow}, Root: true, User: "root"})
	for _, c := range []struct {
		id, user string
		job      int64
		want     segue.Kind
		fails    bool
		already  bool // it is a link of another chain of the user's
	}{
		{"abc123", "nobody", 7, 0, false, false},
		{"def456", "nobody", 7, segue.Conflict, true, true},
		{"ghi789", "daemon", 7, 0, false, false}, // what a user says of a job holds up nobody else
		{"abc123", "daemon", 8, segue.Conflict, true, false},
	} {
		chain, first := handedOver(c.id, c.user, c.job)
		err := in.Create(t.Context(), chain, first)
		problem, told := errors.AsType[*api.Problem](err)
		if (err != nil) != c.fails || segue.KindOf(err) != c.want || (told && problem.LinkAlready()) != c.already {
			t.Errorf("chain %s of %s: %v", c.id, c.user, err)
		}
	}
}

func TestAUserHasTheSchedulerAskedAboutFewLinks(t *testing.T) {
	t.Parallel()
	in := newTestIntake(t, openStore(t), Config{Driver: fileCluster{t.TempDir(), realNow}, User: "ada"})
	for i := range mostOf.Open + 1 {
		chain, first := handedOver("open"+string(rune('a'+i)), "ada", 0)
		first.State, first.Submitted = segue.LinkSubmitting, segue.NoTime
		want := segue.Other
		if i == mostOf.Open {
			want = segue.Unavailable
		}
		if err := in.Create(t.Context(), chain, first); segue.KindOf(err) != want || (err == nil) != (want == segue.Other) {
			t.Errorf("chain %d: %v", i+1, err)
		}
	}
}

func TestAUserFillsNoStoreWithChains(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	in := newTestIntake(t, s, Config{Driver: fileCluster{t.TempDir(), realNow}, User: "ada"})
	for i := range mostOf.Chains {
		chain, first := handedOver("c"+strings.Repeat("x", i/26)+string(rune('a'+i%26)), "ada", int64(i+1))
		if err := s.CreateChain(t.Context(), chain, first); err != nil {
			t.Fatal(err)
		}
	}
	chain, first := handedOver("onemore", "ada", 5000)
	if err := in.Create(t.Context(), chain, first); segue.KindOf(err) != segue.Invalid {
		t.Errorf("one more: %v, want an error of kind invalid", err)
	}
}

// Two servers on one store are each told of a chain, and both chains name one job.
func TestOfTwoServersAtOnceOneTakesAJob(t *testing.T) {
	t.Parallel()
	where := map[string]string{"SQLite": filepath.Join(t.TempDir(), "segue.db")}
	if pgtest.Have(t) {
		if err := postgres.Start(); err != nil {
			t.Fatal(err)
		}
		where["PostgreSQL"] = postgres.URL(postgres.Clone(t, ""))
	}
	for name, where := range where {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const servers = 8
			errs := make([]error, servers)
			var all sync.WaitGroup
			begin := make(chan struct{})
			for i := range servers {
				s, err := store.Open(t.Context(), where, store.Config{Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Close() })
				in := newTestIntake(t, s, Config{Driver: fileCluster{t.TempDir(), realNow}, User: "ada"})
				chain, first := handedOver(fmt.Sprintf("chain%d", i), "ada", 7)
				all.Go(func() {
					<-begin
					errs[i] = in.Create(t.Context(), chain, first)
				})
			}
			close(begin)
			all.Wait()
			taken := 0
			for _, err := range errs {
				if err == nil {
					taken++
				} else if segue.KindOf(err) != segue.Conflict {
					t.Error(err)
				}
			}
			if taken != 1 {
				t.Errorf("%d chains have the job, want 1", taken)
			}
		})
	}
}
