package server

import (
	"strings"
	"testing"

	"github.com/segue-project/segue"
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

func TestAServerTakesChainsOfThoseForWhomItSubmits(t *testing.T) {
	t.Parallel()
	driver := fileCluster{t.TempDir(), realNow}
	for name, tt := range map[string]struct {
		cfg  Config
		user string
		want string // of the refusal; "" for none
	}{
		"a server of root, for a user":        {Config{Driver: driver, Root: true, User: "root"}, "nobody", ""},
		"a server of root, for root":          {Config{Driver: driver, Root: true, User: "root"}, "root", "chains of root are not taken over"},
		"a server of root, for who is nobody": {Config{Driver: driver, Root: true, User: "root"}, "no-such-user-here", "not known"},
		"a user's server, for the user":       {Config{Driver: driver, User: "ada"}, "ada", ""},
		"a user's server, for another":        {Config{Driver: driver, User: "ada"}, "nobody", "submits as ada, and for nobody else"},
		"a server without a scheduler":        {Config{User: "ada"}, "ada", "no scheduler"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			chain, first := handedOver("abc123", tt.user, 7)
			err := intake{chains{s}, tt.cfg, newAccounts(realNow)}.Create(t.Context(), chain, first)
			if tt.want == "" && err != nil || tt.want != "" && (segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tt.want)) {
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
	in := intake{chains{openStore(t)}, Config{Driver: fileCluster{t.TempDir(), realNow}, Root: true, User: "root"}, newAccounts(realNow)}
	for _, c := range []struct {
		id, user string
		want     segue.Kind
		fails    bool
	}{
		{"abc123", "nobody", 0, false},
		{"def456", "nobody", segue.Conflict, true},
		{"ghi789", "daemon", 0, false}, // what a user says of a job holds up nobody else
		{"abc123", "daemon", segue.Conflict, true},
	} {
		chain, first := handedOver(c.id, c.user, 7)
		if err := in.Create(t.Context(), chain, first); (err != nil) != c.fails || segue.KindOf(err) != c.want {
			t.Errorf("chain %s of %s: %v", c.id, c.user, err)
		}
	}
}

func TestAUserHasTheSchedulerAskedAboutFewLinks(t *testing.T) {
	t.Parallel()
	in := intake{chains{openStore(t)}, Config{Driver: fileCluster{t.TempDir(), realNow}, User: "ada"}, newAccounts(realNow)}
	for i := range mostOpen + 1 {
		chain, first := handedOver("open"+string(rune('a'+i)), "ada", 0)
		first.State, first.Submitted = segue.LinkSubmitting, segue.NoTime
		want := segue.Other
		if i == mostOpen {
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
	in := intake{chains{s}, Config{Driver: fileCluster{t.TempDir(), realNow}, User: "ada"}, newAccounts(realNow)}
	for i := range mostChains {
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
