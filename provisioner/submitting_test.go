package provisioner_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
)

// stuck is a cluster on which ben's submissions hang, until they are let go on or given up. What is given up may have made a job.
type stuck struct {
	schedulers.Driver
	asked  chan struct{} // gets one for each that hangs
	goOn   chan struct{}
	gaveUp chan struct{} // gets one for each that was given up
}

func newStuck(d schedulers.Driver) *stuck {
	return &stuck{Driver: d, asked: make(chan struct{}, 10), goOn: make(chan struct{}), gaveUp: make(chan struct{}, 10)}
}

func (s *stuck) Submit(ctx context.Context, what schedulers.Submission) (schedulers.Submitted, error) {
	if what.Request.User != "ben" {
		return s.Driver.Submit(ctx, what)
	}
	s.asked <- struct{}{}
	select {
	case <-s.goOn:
		return s.Driver.Submit(ctx, what)
	case <-ctx.Done():
		s.gaveUp <- struct{}{}
		return schedulers.Submitted{}, fmt.Errorf("%w: %w", schedulers.ErrAmbiguous, ctx.Err())
	}
}

// beginFor begins a chain of a user, whose first link runs for 12 hours.
func (w *world) beginFor(user, id string) {
	w.t.Helper()
	asked := segue.Request{Shape: segue.Shape{Nodes: 1, Limit: 12 * hour}, User: user}
	w.beginOf(segue.Chain{ID: id, Name: "train", User: user, Request: asked, Terms: segue.Terms{MaxLinks: 2}}, asked, segue.LinkQueued)
}

func (w *world) lastOf(chain string) segue.Link {
	w.t.Helper()
	links, err := w.store.Links(w.t.Context(), chain)
	if err != nil {
		w.t.Fatal(err)
	}
	return links[len(links)-1]
}

// serverOn returns the loop of a server over everybody's chains, on another driver.
func (w *world) serverOn(d schedulers.Driver, shares *provisioner.Shares) *provisioner.Chains {
	w.t.Helper()
	cluster, err := schedulers.New(d, schedulers.Config{
		Now: w.driver.Now, Fresh: time.Nanosecond, Owners: true,
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	chains, err := provisioner.NewChains(w.store, cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false },
		Shares: shares, Patience: time.Millisecond, DecideEvery: time.Minute,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { chains.Close(context.Background()) })
	return chains
}

// until goes round after round until done.
func (w *world) until(step time.Duration, done func() bool) {
	w.t.Helper()
	for !done() {
		w.driver.Advance(w.driver.Now().Add(step))
		w.round()
		if err := w.t.Context().Err(); err != nil {
			w.t.Fatal(err)
		}
		runtime.Gosched()
	}
}

// hang goes on until a submission hangs.
func (w *world) hang(d *stuck) {
	w.t.Helper()
	w.passBy(quarter, 11*hour-quarter)
	w.until(time.Minute, func() bool { return len(d.asked) > 0 })
}

// benHangs is a cluster on which the second link of ben's chain is being submitted by a
// server, and hangs.
func benHangs(t *testing.T) (*world, *stuck) {
	t.Helper()
	w := newWorld(t, nil, constantLead(hour))
	d := newStuck(w.driver)
	w.chains = w.serverOn(d, w.shares())
	w.beginFor("ben", "ben1")
	w.hang(d)
	return w, d
}

// shares are a server's.
func (w *world) shares() *provisioner.Shares {
	return provisioner.NewShares(provisioner.SharesConfig{Store: w.store, Now: w.driver.Now, Holder: "server", Span: 3 * time.Minute})
}

// Where sbatch hangs for ben, whose home is away, ada's chain goes on meanwhile, and so
// does ben's own other chain when that is over. Nothing is submitted twice.
func TestASubmissionThatHangsHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	d := newStuck(w.driver)
	w.chains = w.serverOn(d, w.shares())
	w.beginFor("ben", "ben1")
	w.beginFor("ben", "ben2")
	w.beginFor("ada", "ada1")
	w.hang(d)
	w.until(time.Second, func() bool { return w.lastOf("ada1").State == segue.LinkRunning && w.lastOf("ada1").Number == 2 })
	states := func() []string {
		var all []string
		for _, chain := range []string{"ben1", "ben2"} {
			l := w.lastOf(chain)
			all = append(all, fmt.Sprintf("%d %s", l.Number, l.State))
		}
		slices.Sort(all)
		return all
	}
	if got, want := states(), []string{"1 running", "2 submitting"}; !slices.Equal(got, want) {
		t.Errorf("ben's chains are at %v, want %v: one submission at a time", got, want)
	}
	close(d.goOn)
	w.until(time.Second, func() bool { return slices.Equal(states(), []string{"2 running", "2 running"}) })
	state, err := w.driver.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Jobs) != 6 {
		t.Errorf("the cluster has %d jobs, want two of each of three chains", len(state.Jobs))
	}
}

// The user stops a chain while its submission hangs: the job that comes of it is known.
func TestASubmissionThatEndsAfterItsChainIsRecorded(t *testing.T) {
	t.Parallel()
	w, d := benHangs(t)
	if err := w.store.SetChainState(t.Context(), "ben1", segue.ChainActive, segue.ChainStopped, "ben said so"); err != nil {
		t.Fatal(err)
	}
	w.passBy(time.Second, time.Minute)
	if l := w.lastOf("ben1"); l.Number != 2 || l.State != segue.LinkSubmitting {
		t.Errorf("while it is submitted link %d is %s, want 2 and submitting", l.Number, l.State)
	}
	close(d.goOn)
	w.until(time.Second, func() bool { return w.lastOf("ben1").State == segue.LinkRunning })
}

// A server that ends, or whose user's own agent takes over, leaves no sbatch behind, and
// whoever works next finds out what came of it.
func TestASubmissionThatHangsIsGivenUpWithItsServer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*world, *provisioner.Shares){
		"the server ends": func(w *world, s *provisioner.Shares) {
			w.chains.Close(w.t.Context())
			if err := s.Release(w.t.Context()); err != nil {
				w.t.Fatal(err)
			}
		},
		"an agent takes over": func(w *world, _ *provisioner.Shares) {
			w.driver.Advance(w.driver.Now().Add(10 * time.Minute)) // the server is held up
			if _, err := w.store.Acquire(w.t.Context(), provisioner.LeaseOf("ben"), "ben's agent", w.driver.Now(), hour); err != nil {
				w.t.Fatal(err)
			}
			w.round()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, constantLead(hour))
			d := newStuck(w.driver)
			shares := w.shares()
			w.chains = w.serverOn(d, shares)
			w.beginFor("ben", "ben1")
			w.hang(d)
			end(w, shares)
			<-d.gaveUp
			if l := w.lastOf("ben1"); l.Number != 2 || l.State != segue.LinkSubmitting {
				t.Errorf("link %d is %s, want 2 and submitting, as the server left it", l.Number, l.State)
			}
			w.chains = w.serverOn(w.driver, nil)
			w.until(time.Second, func() bool { return w.lastOf("ben1").State == segue.LinkRunning })
			if l := w.lastOf("ben1"); l.Number != 2 || l.Attempt != 2 {
				t.Errorf("link %d runs, attempt %d: want the second attempt at 2", l.Number, l.Attempt)
			}
		})
	}
}

// What has come of a submission when its server ends is recorded by it.
func TestASubmissionThatEndsWithItsServerIsRecorded(t *testing.T) {
	t.Parallel()
	w, d := benHangs(t)
	close(d.goOn)
	for jobs := 0; jobs < 2; runtime.Gosched() {
		state, err := w.driver.State(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		jobs = len(state.Jobs)
	}
	w.chains.Close(t.Context())
	if l := w.lastOf("ben1"); l.Number != 2 || l.State != segue.LinkQueued || l.Job.Number == 0 {
		t.Errorf("link %d is %s as job %s, want 2 and queued", l.Number, l.State, l.Job)
	}
}

// away is a cluster that takes no submission for a while, and says so.
type away struct {
	schedulers.Driver
	until segue.Time
	now   func() segue.Time
	tried int
}

func (a *away) Submit(ctx context.Context, what schedulers.Submission) (schedulers.Submitted, error) {
	if a.tried++; a.now() < a.until {
		return schedulers.Submitted{}, segue.Errorf(segue.Unavailable, "sbatch was not run: the directory of users does not answer")
	}
	return a.Driver.Submit(ctx, what)
}

// What is away for an hour pauses no chain: attempts follow each other less and less
// often.
func TestAttemptsThatComeToNothingAreMadeLessAndLessOften(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	d := &away{Driver: w.driver, until: w.driver.Now().Add(12 * hour), now: w.driver.Now}
	cluster, err := schedulers.New(d, schedulers.Config{Now: w.driver.Now, Fresh: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	w.chains, err = provisioner.NewChains(w.store, cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.begin(segue.Terms{MaxLinks: 2})
	for end := w.driver.Now().Add(12*hour + 10*time.Minute); w.driver.Now() < end; {
		w.driver.Advance(w.driver.Now().Add(10 * time.Second))
		if err := w.chains.RunOnce(t.Context()); err != nil && segue.KindOf(err) != segue.Unavailable {
			t.Fatal(err)
		}
	}
	last := w.lastOf("abc")
	if c := w.chain(); c.State != segue.ChainActive || last.State != segue.LinkRunning || last.Number != 2 {
		t.Errorf("the chain is %s: %s, and link %d %s; want link 2 to run", c.State, c.Why, last.Number, last.State)
	}
	if d.tried < 5 || d.tried > 20 {
		t.Errorf("%d attempts within an hour, want 5 to 20", d.tried)
	}
}

// held is a cluster on which what cancels as a user is stopped by the user, until it is
// let go on.
type held struct {
	schedulers.Driver
	user string
	goOn chan struct{}
	told chan struct{}
}

func (h *held) As(user string) (schedulers.Driver, error) {
	if user != h.user {
		return h.Driver, nil
	}
	return heldAs{h.Driver, h}, nil
}

type heldAs struct {
	schedulers.Driver
	held *held
}

func (h heldAs) Cancel(ctx context.Context, job segue.JobID) error {
	h.held.told <- struct{}{}
	select {
	case <-h.held.goOn:
		return h.Driver.Cancel(ctx, job)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Ben may stop what cancels a job as him: others' chains go on, and his job is cancelled
// when he lets it.
func TestACancellationThatHangsHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	h := &held{Driver: w.driver, user: "ben", goOn: make(chan struct{}), told: make(chan struct{}, 10)}
	w.chains = w.serverOn(h, w.shares())
	w.beginFor("ada", "ada1")
	asked := segue.Request{Shape: segue.Shape{Nodes: 8, Limit: 12 * hour}, User: "ben"}
	waits := w.beginOf(segue.Chain{ID: "ben1", Name: "train", User: "ben", Request: asked}, asked, segue.LinkQueued)
	if err := w.store.SetChainState(t.Context(), "ben1", segue.ChainActive, segue.ChainDone, "ben's work is done"); err != nil {
		t.Fatal(err)
	}
	w.passBy(quarter, 11*hour-quarter)
	w.until(time.Minute, func() bool { return w.lastOf("ada1").Number == 2 })
	if len(h.told) != 1 {
		t.Errorf("the cancellation is under way %d times, want once", len(h.told))
	}
	if l := w.lastOf("ben1"); l.State != segue.LinkQueued || l.Job != waits {
		t.Errorf("ben's job %s is %s, want %s, which waits", l.Job, l.State, waits)
	}
	close(h.goOn)
	w.until(time.Second, func() bool { return w.lastOf("ben1").State == segue.LinkEnded })
}
