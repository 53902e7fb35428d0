package provisioner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// orphaning is a cluster whose submissions outlive the process that makes them: that
// is killed while one is under way, and the scheduler gets it later.
type orphaning struct {
	schedulers.Driver
	lingers time.Duration
	under   *schedulers.Submission
}

func (o *orphaning) Capabilities(ctx context.Context) (schedulers.Capabilities, error) {
	caps, err := o.Driver.Capabilities(ctx)
	caps.Lingers = o.lingers
	return caps, err
}

func (o *orphaning) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	if o.under != nil {
		return o.Driver.Submit(ctx, s)
	}
	o.under = &s
	return schedulers.Submitted{}, fmt.Errorf("%w: %w", schedulers.ErrAmbiguous, errKilled)
}

func (o *orphaning) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	if o.under == nil || ctx.Value(dead{}) != nil {
		return nil, errKilled
	}
	return o.Driver.FindByToken(ctx, token, since)
}

// dead marks what the killed process still asks, which nobody answers.
type dead struct{}

// What a killed process has left behind submits its job two minutes later. The next
// process does not submit another one meanwhile; and where none comes, it does so
// when none can come any more.
func TestASubmissionThatOutlivesItsProcessIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	for name, arrives := range map[string]bool{"it arrives": true, "it does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, constantLead(hour))
			w.begin(segue.Terms{MaxLinks: 2})
			o := &orphaning{Driver: w.driver, lingers: 3 * time.Minute}
			killed := w.processOn(o)
			for o.under == nil {
				w.driver.Advance(w.driver.Now().Add(quarter))
				if err := killed.RunOnce(context.WithValue(t.Context(), dead{}, true)); err != nil && !errors.Is(err, errKilled) {
					t.Fatal(err)
				}
			}
			w.chains = w.processOn(o)
			w.pass(2 * time.Minute)
			w.wantLinks("1.1 running", "2.1 submitting")
			if arrives {
				if _, err := w.driver.Submit(t.Context(), *o.under); err != nil {
					t.Fatal(err)
				}
			}
			w.pass(4 * time.Minute)
			want := []string{"1.1 running", "2.1 lost", "2.2 running"}
			if arrives {
				want = []string{"1.1 running", "2.1 running"}
			}
			w.wantLinks(want...)
		})
	}
}

// unremembered is a cluster without accounting that has forgotten whether a submission
// made a job.
type unremembered struct {
	schedulers.Driver
	token string
}

func (f *unremembered) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	if token == f.token {
		return nil, segue.Errorf(segue.Unavailable, "%s: %w", token, schedulers.ErrForgotten)
	}
	return f.Driver.FindByToken(ctx, token, since)
}

func TestAChainWhoseSubmissionIsForgottenAsksItsUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	w.begin(segue.Terms{MaxLinks: 2})
	planned := w.driver.Now().Add(hour)
	w.driver.Advance(planned)
	w.pass(time.Minute)
	decision := segue.Decision{At: planned, Policy: "test", Submit: true, SubmitAt: planned, Request: link}
	if _, err := w.store.NextLink(t.Context(), w.links()[0], decision); err != nil {
		t.Fatal(err)
	}
	w.chains = w.processOn(&unremembered{w.driver, "segue:abc/2.1"})
	w.pass(quarter)
	w.wantLinks("1.1 running", "2.1 lost")
	want := "Nobody saw whether the submission of link 2 at " + planned.String() + " made a job"
	if c := w.chain(); c.State != segue.ChainPaused || !strings.HasPrefix(c.Why, want) || !strings.HasSuffix(c.Why, "`segue resume abc` submits it again.") {
		t.Errorf("the chain is %s: %s, want paused: %s", c.State, c.Why, want)
	}
	if err := w.store.SetChainState(t.Context(), "abc", segue.ChainPaused, segue.ChainActive, ""); err != nil {
		t.Fatal(err)
	}
	w.passBy(quarter, 30*hour)
	w.wantLinks("1.1 ended", "2.1 lost", "2.2 ended")
}

// Without accounting, a job that was shown a moment ago and is gone cannot have run
// and been forgotten since, however long it had waited.
func TestALostJobThatWaitedLongIsKnownByWhenItWasLastShown(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 2})
	w.chains = w.processOn(&remembering{f, w, 5 * time.Minute})
	w.pass(quarter)
	if err := f.lose(t.Context(), w.links()[1].Job); err != nil {
		t.Fatal(err)
	}
	w.pass(4 * time.Minute)
	w.wantLinks("1.1 running", "2.1 lost", "2.2 queued")
}

// remembering is a cluster without accounting that shows jobs for a while after
// their end.
type remembering struct {
	*forgetful
	w   *world
	age time.Duration
}

func (r *remembering) Capabilities(ctx context.Context) (schedulers.Capabilities, error) {
	caps, err := r.Driver.Capabilities(ctx)
	caps.Accounting, caps.TokenSearch = false, false
	return caps, err
}

func (r *remembering) Status(context.Context, []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	return nil, nil
}

func (r *remembering) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	jobs, err := r.forgetful.FindByToken(ctx, token, since)
	if err == nil && len(jobs) == 0 && r.w.driver.Now().Sub(since) > r.age {
		err = segue.Errorf(segue.Unavailable, "%s: %w", token, schedulers.ErrForgotten)
	}
	return jobs, err
}

// At whichever write the process dies that records the attempt that is one too many,
// the chain pauses: that comes before the record which would have the next process go
// on.
func TestAChainPausesThoughItsProcessDiesMeanwhile(t *testing.T) {
	t.Parallel()
	deaths := 0
	every := 1
	if testing.Short() {
		every = 2
	}
	for kill := 1; kill <= 6; kill += every {
		w, f := waiting(t, segue.Terms{})
		f.loses = func(string) bool { return true }
		if err := f.lose(t.Context(), w.links()[1].Job); err != nil {
			t.Fatal(err)
		}
		for i := 0; len(w.links()) < 21 && i < 2000; i++ {
			w.passBy(5*time.Minute, 5*time.Minute)
		}
		w.wantLast("2.20 queued")
		d := &deadly{kill: kill}
		dying := w.processWith(d.open(w), f)
		for i := 0; i < 20 && !d.died(); i++ {
			w.driver.Advance(w.driver.Now().Add(time.Minute))
			_ = dying.RunOnce(t.Context())
		}
		if d.died() {
			deaths++
		}
		w.passBy(5*time.Minute, 2*hour)
		w.wantLast("2.20 lost")
		if c := w.chain(); c.State != segue.ChainPaused {
			t.Errorf("killed at statement %d the chain is %s: %s", kill, c.State, c.Why)
		}
	}
	if deaths*every < 3 {
		t.Errorf("%d deaths: the test shows little", deaths)
	}
}

func (w *world) wantLast(want string) {
	w.t.Helper()
	told := w.told()
	if got := told[len(told)-1]; got != want {
		w.t.Fatalf("the last link is %s, want %s", got, want)
	}
}

// deadly kills the process that uses the store before the n-th statement of its
// changes: nothing that it does later counts either.
type deadly struct{ steps, kill int }

func (d *deadly) open(w *world) *store.Store {
	w.t.Helper()
	s, err := store.Open(w.t.Context(), w.path, store.Config{Volatile: true, Step: func() error {
		if d.steps++; d.steps >= d.kill {
			return errKilled
		}
		return nil
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (d *deadly) died() bool { return d.steps >= d.kill }

// A process that is killed before any statement of what it writes to the store
// leaves a chain that another one takes up, with every link once; where the
// scheduler loses the second link's first job too.
func TestAChainSurvivesADeathAtEveryWrite(t *testing.T) {
	t.Parallel()
	every := 1
	if testing.Short() {
		every = 11
	}
	for _, loses := range []bool{false, true} {
		deaths := 0
		for kill := 1; kill <= 60; kill += every {
			w := newWorld(t, nil, constantLead(hour))
			f := &forgetful{Driver: w.driver, forgotten: map[segue.JobID]bool{}, loses: func(token string) bool { return loses && token == "segue:abc/2.1" }}
			w.begin(segue.Terms{MaxLinks: 3})
			d := &deadly{kill: kill}
			dying, living := w.processWith(d.open(w), f), w.processOn(f)
			for i := 0; w.chain().State == segue.ChainActive && i < 60*48; i++ {
				w.driver.Advance(w.driver.Now().Add(15 * time.Minute))
				process := living
				if !d.died() {
					process = dying
				}
				if err := process.RunOnce(t.Context()); err != nil && !errors.Is(err, errKilled) && segue.KindOf(err) != segue.Unavailable {
					t.Fatal(err)
				}
			}
			if d.died() {
				deaths++
			}
			if runs := w.runsOf(f); len(runs) != 3 || runs[1] != 1 || runs[2] != 1 || runs[3] != 1 || w.chain().State != segue.ChainDone {
				t.Errorf("killed at statement %d (a job is lost: %t): %v runs by link, the chain is %s: %v", kill, loses, runs, w.chain().State, w.told())
			}
		}
		if deaths*every < 30 {
			t.Errorf("%d deaths (a job is lost: %t): the test shows little", deaths, loses)
		}
	}
}
