package provisioner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/simulated"
)

// These tests bear the numbers of docs/compatibility.md's reports.

// retold is a cluster whose answers a test changes on their way.
type retold struct {
	schedulers.Driver
	// change alters what is shown of a job, or hides it by returning false.
	change     func(j *schedulers.Job) bool
	accounting error // that every question to the accounting meets
	released   []segue.JobID
	refusal    error // that every submission meets
}

func (r *retold) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	if r.refusal != nil {
		return schedulers.Submitted{}, r.refusal
	}
	return r.Driver.Submit(ctx, s)
}

func (r *retold) State(ctx context.Context) (schedulers.State, error) {
	s, err := r.Driver.State(ctx)
	var shown []schedulers.Job
	for _, j := range s.Jobs {
		if r.change == nil || r.change(&j) {
			shown = append(shown, j)
		}
	}
	s.Jobs = shown
	return s, err
}

func (r *retold) Status(context.Context, []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	return nil, r.accounting
}

func (r *retold) Release(_ context.Context, job segue.JobID) error {
	r.released = append(r.released, job)
	return nil
}

// retell has the loop hear of the cluster what the returned value changes.
func (w *world) retell() *retold {
	w.t.Helper()
	r := &retold{Driver: w.driver}
	w.chains = w.processOn(r)
	return r
}

var errAccountingDown = segue.Errorf(segue.Unavailable, "sacct: Problem talking to the database: Connection refused")

// isFirst reports whether a job is the first link's.
func isFirst(j *schedulers.Job) bool { return strings.HasSuffix(j.Comment, "/1.1") }

// hide hides the first link.
func hide(j *schedulers.Job) bool { return !isFirst(j) }

// A job of which neither source can be asked is neither alive nor gone: nothing is
// submitted in its place, however long that lasts.
func TestReport7NothingIsSubmittedAgainWhileTheAccountingIsDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := w.retell()
	w.begin(segue.Terms{})
	w.pass(hour)
	r.change, r.accounting = hide, errAccountingDown
	for range 120 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		if err := w.chains.RunOnce(t.Context()); segue.KindOf(err) != segue.Unavailable {
			t.Fatalf("error %v, want one of kind unavailable", err)
		}
	}
	if links := w.links(); len(links) != 1 || links[0].State != segue.LinkRunning {
		t.Errorf("the links are %+v, want the one that runs", links)
	}
	r.change, r.accounting = nil, nil
	w.pass(hour)
	if links := w.links(); len(links) != 1 || links[0].State != segue.LinkRunning {
		t.Errorf("shown again the links are %+v, want the one that runs", links)
	}
}

// A scheduler that does not know a job any more for good does not stop its chain.
func TestReport13AJobThatVanishesIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := w.retell()
	w.begin(segue.Terms{})
	w.pass(hour)
	r.change = hide
	w.pass(2 * time.Minute)
	if links := w.links(); len(links) != 1 {
		t.Errorf("two answers without the job, and there are %d links, want 1", len(links))
	}
	w.pass(3 * time.Minute)
	links := w.links()
	if len(links) != 2 || links[0].State != segue.LinkEnded || links[0].Ended != segue.StateUnknown || links[1].State != segue.LinkRunning {
		t.Errorf("the links are %+v, want one that ended nobody knows how, and one that runs", links)
	}
}

// Without its database Slurm goes on, and so do chains.
func TestReport15ChainsGoOnWithoutAccounting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.retell().accounting = errAccountingDown
	w.begin(segue.Terms{MaxLinks: 3})
	w.pass(40 * hour)
	if links := w.links(); len(links) != 3 || w.chain().State != segue.ChainDone {
		t.Errorf("%d links, and the chain is %s, want 3 and done", len(links), w.chain().State)
	}
}

// A preempted job passes through states in which it looks ended, and comes back:
// no link is submitted in its place. That holds for one that requeues itself
// before its limit too.
func TestReports8And60ALinkOnItsWayBackIntoTheQueueHasNoSuccessor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := w.retell()
	w.begin(segue.Terms{})
	w.pass(hour)
	preempted := w.driver.Now()
	steps := []struct {
		what      string
		change    func(j *schedulers.Job)
		wantState segue.LinkState
	}{
		{"preempted", func(j *schedulers.Job) { j.State, j.EndTime, j.Requeueable = segue.Preempted, preempted, true }, segue.LinkRunning},
		{"requeued", func(j *schedulers.Job) { j.State, j.Restarts = segue.Requeued, 1 }, segue.LinkQueued},
		{"pending", func(j *schedulers.Job) {
			j.State, j.Restarts, j.Start, j.EndTime = segue.Pending, 1, segue.NoTime, segue.NoTime
		}, segue.LinkQueued},
		{"running again", func(j *schedulers.Job) { j.Restarts = 1 }, segue.LinkRunning},
	}
	for _, step := range steps {
		r.change = func(j *schedulers.Job) bool {
			step.change(j)
			return true
		}
		w.driver.Advance(w.driver.Now().Add(20 * time.Second))
		w.round()
		if links := w.links(); len(links) != 1 || links[0].State != step.wantState {
			t.Errorf("%s: the links are %+v, want one that is %s", step.what, links, step.wantState)
		}
	}
	if l := w.links()[0]; l.Restarts != 1 {
		t.Errorf("%d restarts are recorded, want 1", l.Restarts)
	}
}

// What ends a link without its doing is followed by the next one, by the agent
// and not by the job, which may be gone with its node; and it is no failure of the
// link's own.
func TestReports17And65ALinkThatIsTakenAwayIsFollowed(t *testing.T) {
	t.Parallel()
	for _, state := range []segue.JobState{segue.Preempted, segue.NodeFail, segue.Timeout, segue.Deadline} {
		w := newWorld(t, nil, constantLead(0))
		r := w.retell()
		w.begin(segue.Terms{})
		w.pass(hour)
		ended := w.driver.Now()
		r.change = func(j *schedulers.Job) bool {
			if isFirst(j) {
				j.State, j.EndTime, j.Requeueable = state, ended, false
			}
			return true
		}
		w.pass(2 * time.Minute)
		links := w.links()
		if len(links) != 2 || links[0].Ended != state || links[1].State != segue.LinkRunning || w.chain().State != segue.ChainActive {
			t.Errorf("%s: the links are %+v, and the chain is %s", state, links, w.chain().State)
		}
	}
}

// Preemption does not use up the failures that a chain may have.
func TestReport66APreemptionIsNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := w.retell()
	w.runs = func(int) simulated.Run { return simulated.Run{For: 20 * time.Second, ExitCode: 1} }
	w.begin(segue.Terms{MaxFastFails: 2})
	w.pass(time.Minute)
	r.change = func(j *schedulers.Job) bool {
		if j.State == segue.Failed {
			j.State, j.ExitCode, j.Requeueable = segue.Preempted, 0, false
		}
		return true
	}
	w.pass(10 * time.Minute)
	if links := w.links(); len(links) < 5 || w.chain().State != segue.ChainActive {
		t.Errorf("after %d preempted links the chain is %s: %s", len(links), w.chain().State, w.chain().Why)
	}
}

// A job whose launch has failed is held until somebody releases it.
func TestReport66AJobThatIsHeldByMishapIsReleased(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"launch failed requeued held", "launch_failed_requeued_held", "JobHeldUser"} {
		w := newWorld(t, nil, constantLead(0))
		r := w.retell()
		w.begin(segue.Terms{})
		r.change = func(j *schedulers.Job) bool {
			j.State, j.Reason, j.Start, j.EndTime = segue.Pending, reason, segue.NoTime, segue.NoTime
			return true
		}
		w.round()
		want := 1
		if reason == "JobHeldUser" { // which its user meant
			want = 0
		}
		if len(r.released) != want {
			t.Errorf("%s: %d releases, want %d", reason, len(r.released), want)
		}
	}
}

// A job whose dependency can never be met looks like one that waits, for ever: the
// chain says so.
func TestReport69ADependencyThatIsNeverMetIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := w.retell()
	w.begin(segue.Terms{})
	r.change = func(j *schedulers.Job) bool {
		j.State, j.Reason, j.Start, j.EndTime = segue.Pending, "DependencyNeverSatisfied", segue.NoTime, segue.NoTime
		return true
	}
	w.pass(10 * time.Minute)
	want := "Job 1 of link 1 depends on a job that did not end as it should have, and will never start: cancel it or change its dependency. `segue resume abc` goes on."
	if c := w.chain(); c.State != segue.ChainPaused || c.Why != want || len(w.links()) != 1 {
		t.Errorf("the chain of %d links is %s: %s\nwant it paused: %s", len(w.links()), c.State, c.Why, want)
	}
}

// submitsFourAnHour has the loop submit no more than that for a user.
func (w *world) submitsFourAnHour() {
	w.t.Helper()
	var err error
	w.chains, err = provisioner.NewChains(w.store, w.cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: constantLead(0), Exists: func(string, string) bool { return false }, MaxSubmissions: 4,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// Links that do nothing useful but do not fail at once either are submitted no
// more often than a number an hour.
func TestReport72SubmissionsAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.runs = func(int) simulated.Run { return simulated.Run{For: 3 * time.Minute, ExitCode: 1} }
	w.submitsFourAnHour()
	w.begin(segue.Terms{})
	w.pass(30 * time.Minute)
	w.submitsFourAnHour() // begins anew, as after a restart
	w.pass(29 * time.Minute)
	if links := w.links(); len(links) != 5 || w.chain().State != segue.ChainActive {
		t.Errorf("%d links in an hour, and the chain is %s; want the first and 4 more, and that it goes on", len(links), w.chain().State)
	}
}

// A user whose links are as many as an hour may see holds up nobody else's.
func TestReport72SubmissionsAreBoundedForEachUserAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.runs = func(int) simulated.Run { return simulated.Run{For: 3 * time.Minute, ExitCode: 1} }
	w.submitsFourAnHour()
	w.begin(segue.Terms{})
	for range 40 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		_ = w.chains.RunOnce(t.Context()) // which is told of refusals
	}
	bens := link
	bens.User = "ben"
	w.beginOf(segue.Chain{ID: "def", Name: "train", User: "ben", Request: bens}, bens, segue.LinkQueued)
	for range 10 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		_ = w.chains.RunOnce(t.Context())
	}
	links, err := w.store.Links(t.Context(), "def")
	if err != nil {
		t.Fatal(err)
	}
	if ada := w.links(); len(ada) != 5 || len(links) < 2 {
		t.Errorf("%d links of ada and %d of ben, want 5 and at least 2", len(ada), len(links))
	}
}

// Nobody tries for ever what never succeeds, and it goes on where it is told to.
func TestReport72SubmissionsThatMakeNoJobPauseTheChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	r := w.retell()
	w.runs = func(int) simulated.Run { return simulated.Run{For: hour, ExitCode: 1} }
	w.begin(segue.Terms{})
	r.refusal = segue.Errorf(segue.Unavailable, "sbatch: job submit limit")
	for range 24 * 60 {
		w.driver.Advance(w.driver.Now().Add(time.Minute))
		_ = w.chains.RunOnce(t.Context()) // which is told of every refusal
	}
	want := "20 attempts at link 2 made no job, or one that was lost. `segue resume abc` goes on."
	if c := w.chain(); c.State != segue.ChainPaused || c.Why != want {
		t.Fatalf("the chain is %s: %s\nwant it paused: %s", c.State, c.Why, want)
	}
	r.refusal = nil
	if err := w.store.SetChainState(t.Context(), "abc", segue.ChainPaused, segue.ChainActive, ""); err != nil {
		t.Fatal(err)
	}
	w.pass(2 * hour)
	if links := w.links(); links[len(links)-1].Number < 2 || links[len(links)-1].Job.Number == 0 {
		t.Errorf("resumed, the last of %d links is %+v, want one with a job", len(links), links[len(links)-1])
	}
}

// A later link that the scheduler refuses for good pauses its chain, with the
// scheduler's words; a refusal that may pass does not.
func TestReports76To78ARefusalPausesTheChainUnlessItMayPass(t *testing.T) {
	t.Parallel()
	for kind, want := range map[segue.Kind]segue.ChainState{segue.Invalid: segue.ChainPaused, segue.Unavailable: segue.ChainActive} {
		w := newWorld(t, nil, constantLead(0))
		r := w.retell()
		w.runs = func(int) simulated.Run { return simulated.Run{For: hour, ExitCode: 1} }
		w.begin(segue.Terms{})
		r.refusal = segue.Errorf(kind, "sbatch: requested SU 51022 > 35000")
		for range 70 {
			w.driver.Advance(w.driver.Now().Add(time.Minute))
			_ = w.chains.RunOnce(t.Context()) // which is told of every refusal
		}
		if c := w.chain(); c.State != want || (want == segue.ChainPaused) != strings.Contains(c.Why, "SU 51022 > 35000") {
			t.Errorf("refused as %s, the chain is %s: %s; want %s", kind, c.State, c.Why, want)
		}
		r.refusal = nil
		if want == segue.ChainPaused {
			if err := w.store.SetChainState(t.Context(), "abc", segue.ChainPaused, segue.ChainActive, ""); err != nil {
				t.Fatal(err)
			}
		}
		w.pass(30 * time.Minute)
		if links := w.links(); links[len(links)-1].State != segue.LinkRunning || links[len(links)-1].Number != 2 {
			t.Errorf("refused as %s and taken later, the last of the links is %+v, want the second, and that it runs", kind, links[len(links)-1])
		}
	}
}

// A job that FAILED with exit code 0 did not say that the work is done: Slurm says
// so of one whose launch failed, and of one whose end slurmctld missed.
func TestAFailureWithCodeZeroIsNotTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(hour))
	w.begin(segue.Terms{MaxLinks: 3})
	w.retell().change = func(j *schedulers.Job) bool {
		if j.State == segue.Timeout {
			j.State, j.ExitCode, j.Signal = segue.Failed, 0, 0
		}
		return true
	}
	w.pass(48 * hour)
	if c := w.chain(); c.State != segue.ChainDone || c.Why != "All 3 links have run." {
		t.Errorf("the chain is %s: %s", c.State, c.Why)
	}
}
