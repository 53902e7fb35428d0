package provisioner_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/simulated"
	"github.com/segue-project/segue/store"
)

// Of a user who has more chains than an hour may see submissions none is passed over for
// ever, and that is told once an hour, not for each of them in every round.
func TestChainsBeyondWhatAnHourMaySeeTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.runs = func(int) simulated.Run { return simulated.Run{For: 3 * time.Minute, ExitCode: 1} }
	var told bytes.Buffer
	var err error
	w.chains, err = provisioner.NewChains(w.store, w.cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: constantLead(0), Exists: func(string, string) bool { return false }, MaxSubmissions: 4,
		Log: slog.New(slog.NewTextHandler(&told, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	asked := segue.Request{Shape: segue.Shape{Nodes: 1, Limit: hour}, User: "ada"}
	for i := range 8 {
		w.driver.Advance(w.driver.Now().Add(time.Second))
		w.beginOf(segue.Chain{ID: fmt.Sprintf("c%d", i), Name: "train", User: "ada", Request: asked}, asked, segue.LinkQueued)
	}
	w.pass(6 * hour)
	for i := range 8 {
		if l := w.lastOf(fmt.Sprintf("c%d", i)); l.Number < 3 || l.Number > 5 {
			t.Errorf("chain c%d is at link %d, want 4 or one beside it: 8 chains and 4 submissions an hour, for 6 hours", i, l.Number)
		}
	}
	if n := strings.Count(told.String(), "\n"); n == 0 || n > 6 {
		t.Errorf("told %d times in 6 hours, want once an hour:\n%.2000s", n, told.String())
	}
}

// everyRound decides to wait, by a forecast, and counts how often it is asked.
type everyRound struct{ asked int }

func (e *everyRound) Decide(_ context.Context, state schedulers.State, q provisioner.Question) (segue.Decision, error) {
	e.asked++
	return segue.Decision{
		At: state.At, Policy: "test", Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, SubmitAt: state.At.Add(q.Remaining), Reason: "Wait.",
		Forecast: segue.NewForecast(state.At, "test", []time.Duration{time.Minute}),
	}, nil
}

// What was planned while the clock was fast does not keep a chain waiting until it is as
// late again.
func TestAClockThatIsSetBackHoldsUpNoChain(t *testing.T) {
	t.Parallel()
	decider := &everyRound{}
	w := newWorld(t, nil, decider)
	fast := time.Duration(0)
	var err error
	w.chains, err = provisioner.NewChains(w.store, w.cluster, provisioner.ChainsConfig{
		Now:     func() segue.Time { return w.driver.Now().Add(fast) },
		Decider: decider, Exists: func(string, string) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.begin(segue.Terms{MaxLinks: 2})
	w.pass(10 * time.Minute)
	fast = 6 * hour
	w.pass(10 * time.Minute)
	fast, decider.asked = 0, 0
	w.pass(20 * time.Minute)
	if decider.asked < 3 || decider.asked > 6 {
		t.Errorf("%d decisions in 20 minutes after the clock was set back, want one in five", decider.asked)
	}
}

// After an attempt that made no job while the clock was fast another one is made as soon
// as ever.
func TestAClockThatIsSetBackHoldsUpNoAttempt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := &retold{Driver: w.driver}
	w.runs = func(int) simulated.Run { return simulated.Run{For: hour, ExitCode: 1} }
	fast := time.Duration(0)
	cluster, err := schedulers.New(r, schedulers.Config{Now: w.driver.Now, Fresh: time.Nanosecond, Owners: true})
	if err != nil {
		t.Fatal(err)
	}
	w.chains, err = provisioner.NewChains(w.store, cluster, provisioner.ChainsConfig{
		Now:     func() segue.Time { return w.driver.Now().Add(fast) },
		Decider: constantLead(0), Exists: func(string, string) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.begin(segue.Terms{})
	w.pass(hour - time.Minute)
	r.refusal, fast = segue.Errorf(segue.Unavailable, "sbatch: job submit limit"), 24*hour
	for range 5 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		_ = w.chains.RunOnce(t.Context()) // which is told of the refusal
	}
	if l := w.lastOf("abc"); l.State != segue.LinkLost {
		t.Fatalf("link %d is %s, want one that made no job", l.Number, l.State)
	}
	r.refusal, fast = nil, 0
	w.pass(5 * time.Minute)
	if l := w.lastOf("abc"); l.Number != 2 || l.State != segue.LinkRunning {
		t.Errorf("link %d is %s five minutes after the clock was set back, want 2 and running", l.Number, l.State)
	}
}

// unfindable is a cluster of which a submission does not tell whether it made a job, nor
// anybody else.
type unfindable struct {
	schedulers.Driver
	away bool
}

var errAway = segue.Errorf(segue.Unavailable, "sacct: Connection refused")

func (u *unfindable) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	if u.away {
		return schedulers.Submitted{}, fmt.Errorf("sbatch was killed: %w", schedulers.ErrAmbiguous)
	}
	return u.Driver.Submit(ctx, s)
}

func (u *unfindable) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	if u.away {
		return nil, errAway
	}
	return u.Driver.FindByToken(ctx, token, since)
}

// Whatever goes wrong in every round for three hours is told at once, once an hour, and
// that it is over.
func TestWhatGoesWrongForHoursIsToldOnceAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	u := &unfindable{Driver: w.driver}
	cluster, err := schedulers.New(u, schedulers.Config{Now: w.driver.Now, Fresh: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	var told bytes.Buffer
	log := slog.New(slog.NewTextHandler(&told, nil))
	loop := func(under *store.Store) (*provisioner.Chains, error) {
		return provisioner.NewChains(under, cluster, provisioner.ChainsConfig{
			Now: w.driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false }, Log: log,
		})
	}
	w.begin(segue.Terms{MaxLinks: 2})
	rounds := 0
	agent, err := provisioner.NewAgent(w.store, cluster, loop, provisioner.AgentConfig{
		Now: w.driver.Now, Holder: "one", Log: log,
		Sleep: func(ctx context.Context, _ time.Duration) error {
			if ctx != t.Context() { // what keeps the lease during a round
				<-ctx.Done()
				return ctx.Err()
			}
			if rounds > 18*60 {
				return context.Canceled
			}
			rounds++
			u.away = rounds > 10*60 && rounds < 14*60
			w.driver.Advance(w.driver.Now().Add(time.Minute))
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{"chain does not go on": 4, "round is incomplete": 4, "rounds are complete again": 1} {
		if n := strings.Count(told.String(), what); n < 1 || n > want {
			t.Errorf("%q is told %d times in three hours, want once to %d times", what, n, want)
		}
	}
	if l := w.lastOf("abc"); l.Number != 2 || l.State != segue.LinkRunning {
		t.Errorf("link %d is %s, want 2 and running", l.Number, l.State)
	}
}

// leaver is a cluster that cancels no job of a user who is not known any more.
type leaver struct {
	schedulers.Driver
	asked int
}

func (l *leaver) Cancel(context.Context, segue.JobID) error {
	l.asked++
	return segue.Errorf(segue.Invalid, "user \"ben\" is not known")
}

// A job that cannot be cancelled is not cancelled in every round.
func TestACancellationThatFailsIsTriedAgainAfterMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	l := &leaver{Driver: w.driver}
	w.chains = w.serverOn(l, nil)
	asked := segue.Request{Shape: segue.Shape{Nodes: 8, Limit: 12 * hour}, User: "ben"}
	adas := asked
	adas.User = "ada"
	w.beginOf(segue.Chain{ID: "ada1", Name: "train", User: "ada", Request: adas}, adas, segue.LinkQueued) // has all nodes
	w.beginOf(segue.Chain{ID: "ben1", Name: "train", User: "ben", Request: asked}, asked, segue.LinkQueued)
	if err := w.store.SetChainState(t.Context(), "ben1", segue.ChainActive, segue.ChainDone, "ben's work is done"); err != nil {
		t.Fatal(err)
	}
	for range 60 {
		w.driver.Advance(w.driver.Now().Add(30 * time.Second))
		_ = w.chains.RunOnce(t.Context()) // which is told of each failure
	}
	if l.asked < 5 || l.asked > 7 {
		t.Errorf("the job is cancelled %d times in half an hour, want once in five minutes", l.asked)
	}
}
