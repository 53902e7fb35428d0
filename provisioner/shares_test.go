package provisioner_test

import (
	"context"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/store"
)

const round = 5 * time.Minute

// drivers are a server that keeps everybody's chains going and ada's own agent, on
// one store.
func drivers(w *world) (server, agent *provisioner.Agent) {
	w.t.Helper()
	shares := provisioner.NewShares(provisioner.SharesConfig{Store: w.store, Now: w.driver.Now, Holder: "server", Span: 3 * round})
	still := func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }
	agentOf := func(lease, user string, shares *provisioner.Shares) *provisioner.Agent {
		a, err := provisioner.NewAgent(w.store, w.cluster, w.loopOf(user, shares), provisioner.AgentConfig{
			Now: w.driver.Now, Holder: lease + " process", Lease: lease, Every: round, Shares: shares, Sleep: still,
		})
		if err != nil {
			w.t.Fatal(err)
		}
		return a
	}
	return agentOf("server", "", shares), agentOf(provisioner.LeaseOf("ada"), "ada", nil)
}

func (w *world) loopOf(user string, shares *provisioner.Shares) func(*store.Store) (*provisioner.Chains, error) {
	return func(under *store.Store) (*provisioner.Chains, error) {
		return provisioner.NewChains(under, w.cluster, provisioner.ChainsConfig{
			Now: w.driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false }, User: user, Shares: shares,
		})
	}
}

// Only one of the two submits the links of ada's chain: whoever came first, until it
// ends or dies.
func TestAServerLeavesAloneTheChainsOfAUserWhoseAgentWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	w.begin(segue.Terms{MaxLinks: 4})
	server, agent := drivers(w)
	holder := func() string {
		leases, err := w.store.Leases(t.Context(), w.driver.Now())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leases {
			if l.Name == provisioner.LeaseOf("ada") {
				return l.Holder
			}
		}
		return "nobody"
	}
	pass := func(d time.Duration, working ...*provisioner.Agent) {
		for end := w.driver.Now().Add(d); w.driver.Now() < end; {
			w.driver.Advance(w.driver.Now().Add(round))
			for _, a := range working {
				if err := a.RunOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	pass(round, agent, server)
	if got := holder(); got != "agent of ada process" {
		t.Errorf("%s keeps ada's chain going, want her agent, which came first", got)
	}
	pass(12*hour, agent, server)
	w.wantLinks("1.1 ended", "2.1 running")
	pass(4*round, server) // the agent is killed
	if got := holder(); got != "server" {
		t.Errorf("%s keeps ada's chain going, want the server", got)
	}
	pass(12*hour, server, agent)
	w.wantLinks("1.1 ended", "2.1 ended", "3.1 running")
	if got := holder(); got != "server" {
		t.Errorf("%s keeps ada's chain going, want the server, which came before the agent began again", got)
	}
	pass(24*hour, agent, server)
	if c := w.chain(); c.State != segue.ChainDone || len(w.links()) != 4 {
		t.Errorf("after %d links the chain is %s: %s", len(w.links()), c.State, c.Why)
	}
	pass(round, server)
	if got := holder(); got != "nobody" && got != "agent of ada process" {
		t.Errorf("%s keeps the chains of ada going, who has none any more", got)
	}
}

// A server that is held up longer than its lease lasts changes nothing any more when
// it goes on.
func TestAServerThatWasHeldUpChangesNothingOfAChainThatAnAgentHasTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	w.begin(segue.Terms{MaxLinks: 4})
	shares := provisioner.NewShares(provisioner.SharesConfig{Store: w.store, Now: w.driver.Now, Holder: "server", Span: 3 * time.Minute})
	under, err := shares.Of(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Acquire(t.Context(), provisioner.LeaseOf("ada"), "agent", w.driver.Now(), hour); segue.KindOf(err) != segue.Conflict {
		t.Errorf("the agent takes the lease beside the server: %v", err)
	}
	w.driver.Advance(w.driver.Now().Add(10 * time.Minute))
	if _, err := w.store.Acquire(t.Context(), provisioner.LeaseOf("ada"), "agent", w.driver.Now(), hour); err != nil {
		t.Fatal(err)
	}
	if err := under.SetChainState(t.Context(), "abc", segue.ChainActive, segue.ChainPaused, "held up"); segue.KindOf(err) != segue.Conflict {
		t.Errorf("the server's change: %v, want a conflict", err)
	}
	if _, err := shares.Of(t.Context(), "ada"); segue.KindOf(err) != segue.Conflict {
		t.Errorf("the server's next round: %v, want a conflict", err)
	}
}
