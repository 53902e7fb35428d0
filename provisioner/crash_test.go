package provisioner_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

var errKilled = errors.New("killed")

// fragile is a cluster on which the process that drives it is killed before or
// after the n-th call that it makes: from then on nothing that it does counts.
type fragile struct {
	schedulers.Driver
	calls, kill int
	after       bool // the call still reached the scheduler
}

func (f *fragile) call(do func() error) error {
	f.calls++
	switch {
	case f.kill > 0 && f.calls > f.kill, f.kill > 0 && f.calls == f.kill && !f.after:
		return errKilled
	}
	err := do()
	if f.kill > 0 && f.calls == f.kill {
		return errKilled
	}
	return err
}

func (f *fragile) State(ctx context.Context) (s schedulers.State, err error) {
	err = f.call(func() (err error) { s, err = f.Driver.State(ctx); return err })
	return s, err
}

func (f *fragile) Submit(ctx context.Context, s schedulers.Submission) (got schedulers.Submitted, err error) {
	err = f.call(func() (err error) { got, err = f.Driver.Submit(ctx, s); return err })
	if errors.Is(err, errKilled) {
		err = fmt.Errorf("%w: %w", schedulers.ErrAmbiguous, err)
	}
	return got, err
}

func (f *fragile) FindByToken(ctx context.Context, token string, since segue.Time) (jobs []segue.JobID, err error) {
	err = f.call(func() (err error) { jobs, err = f.Driver.FindByToken(ctx, token, since); return err })
	return jobs, err
}

func (f *fragile) Status(ctx context.Context, jobs []segue.JobID) (known map[segue.JobID]schedulers.Status, err error) {
	err = f.call(func() (err error) { known, err = f.Driver.Status(ctx, jobs); return err })
	return known, err
}

func (f *fragile) Cancel(ctx context.Context, job segue.JobID) error {
	return f.call(func() error { return f.Driver.Cancel(ctx, job) })
}

func (f *fragile) Signal(context.Context, segue.JobID, syscall.Signal) error { return errKilled }

// A process that is killed before or after any question that it asks the
// scheduler leaves a chain that another one takes up: with every link once.
func TestAChainSurvivesADeathAtEveryStep(t *testing.T) {
	t.Parallel()
	deaths, every := 0, 1
	if testing.Short() {
		every = 7
	}
	for kill := 1; kill <= 40; kill += every {
		for _, after := range []bool{false, true} {
			w := newWorld(t, nil, constantLead(hour))
			w.begin(segue.Terms{MaxLinks: 3})
			dying := w.processOn(&fragile{Driver: w.driver, kill: kill, after: after})
			living := w.processOn(w.driver)
			dead := false
			for i := 0; w.chain().State == segue.ChainActive && i < 60*48; i++ {
				w.driver.Advance(w.driver.Now().Add(15 * time.Minute))
				if !dead {
					err := dying.RunOnce(t.Context())
					dead = errors.Is(err, errKilled)
					if err != nil && !dead {
						t.Fatal(err)
					}
					continue
				}
				if err := living.RunOnce(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if dead {
				deaths++
			}
			jobs := map[int]int{}
			for _, l := range w.links() {
				found, err := w.driver.FindByToken(t.Context(), l.Token(), noon)
				if err != nil {
					t.Fatal(err)
				}
				jobs[l.Number] += len(found)
			}
			if len(jobs) != 3 || jobs[1] != 1 || jobs[2] != 1 || jobs[3] != 1 || w.chain().State != segue.ChainDone {
				t.Errorf("killed at call %d (after it: %t): %v jobs by link, the chain is %s", kill, after, jobs, w.chain().State)
			}
		}
	}
	if deaths*every < 40 {
		t.Errorf("%d deaths: the test shows little", deaths)
	}
}

// processOn returns the loop of a process of its own.
func (w *world) processOn(driver schedulers.Driver) *provisioner.Chains {
	w.t.Helper()
	return w.processWith(w.store, driver)
}

func (w *world) processWith(s *store.Store, driver schedulers.Driver) *provisioner.Chains {
	w.t.Helper()
	cluster, err := schedulers.New(driver, schedulers.Config{
		Now: w.driver.Now, Fresh: time.Nanosecond,
		Sleep: func(_ context.Context, d time.Duration) error { w.driver.Advance(w.driver.Now().Add(d)); return nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	chains, err := provisioner.NewChains(s, cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return chains
}

// The same where the scheduler loses the second link's job, and the first attempt
// after that: each link runs once, whichever step the process dies at.
func TestAChainWhoseJobsAreLostSurvivesADeathAtEveryStep(t *testing.T) {
	t.Parallel()
	deaths, every := 0, 1
	if testing.Short() {
		every = 35
	}
	for kill := 1; kill <= 70; kill += every {
		for _, after := range []bool{false, true} {
			w := newWorld(t, nil, constantLead(hour))
			f := &forgetful{Driver: w.driver, forgotten: map[segue.JobID]bool{}, loses: func(token string) bool {
				return token == "segue:abc/2.1" || token == "segue:abc/2.2"
			}}
			w.begin(segue.Terms{MaxLinks: 3})
			dying := w.processOn(&fragile{Driver: f, kill: kill, after: after})
			living := w.processOn(f)
			dead := false
			for i := 0; w.chain().State == segue.ChainActive && i < 60*48; i++ {
				w.driver.Advance(w.driver.Now().Add(15 * time.Minute))
				if !dead {
					err := dying.RunOnce(t.Context())
					dead = errors.Is(err, errKilled)
					if err != nil && !dead && segue.KindOf(err) != segue.Unavailable { // a submission that made no job is told
						t.Fatal(err)
					}
					continue
				}
				if err := living.RunOnce(t.Context()); err != nil && segue.KindOf(err) != segue.Unavailable {
					t.Fatal(err)
				}
			}
			if dead {
				deaths++
			}
			if runs := w.runsOf(f); len(runs) != 3 || runs[1] != 1 || runs[2] != 1 || runs[3] != 1 || w.chain().State != segue.ChainDone {
				t.Errorf("killed at call %d (after it: %t): %v runs by link, the chain is %s: %v", kill, after, runs, w.chain().State, w.told())
			}
		}
	}
	if deaths*every < 70 {
		t.Errorf("%d deaths: the test shows little", deaths)
	}
}

// runsOf counts the jobs that have started, by link, as the scheduler has it.
func (w *world) runsOf(f *forgetful) map[int]int {
	w.t.Helper()
	runs := map[int]int{}
	for _, l := range w.links() {
		jobs, err := w.driver.FindByToken(w.t.Context(), l.Token(), noon)
		if err != nil {
			w.t.Fatal(err)
		}
		known, err := w.driver.Status(w.t.Context(), jobs)
		if err != nil {
			w.t.Fatal(err)
		}
		for id, s := range known {
			if s.Start.Known() && !f.forgotten[id] {
				runs[l.Number]++
			}
		}
	}
	return runs
}
