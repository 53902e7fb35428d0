package schedulers_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/simulated"
	"github.com/segue-project/segue/simulator"
)

var noon = segue.Seconds(1676376000)

// troubled is a cluster whose answers are lost, late or empty as a test says.
type troubled struct {
	*simulated.Driver
	submits     int
	afterSubmit error // returned though the job was taken
	instead     error // returned by Submit, which takes nothing
	states      int
	stateErr    error
	hidden      map[segue.JobID]bool // jobs that State does not show
	accounted   map[segue.JobID]schedulers.Status
	findErrs    []error // of the next look-ups
	finds       int
}

func (d *troubled) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	d.submits++
	if d.instead != nil {
		return schedulers.Submitted{}, d.instead
	}
	got, err := d.Driver.Submit(ctx, s)
	if err == nil && d.afterSubmit != nil {
		return schedulers.Submitted{}, d.afterSubmit
	}
	return got, err
}

func (d *troubled) State(ctx context.Context) (schedulers.State, error) {
	d.states++
	if d.stateErr != nil {
		return schedulers.State{}, d.stateErr
	}
	s, err := d.Driver.State(ctx)
	var shown []schedulers.Job
	for _, j := range s.Jobs {
		if !d.hidden[j.ID] {
			shown = append(shown, j)
		}
	}
	s.Jobs = shown
	return s, err
}

func (d *troubled) Status(_ context.Context, jobs []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	out := map[segue.JobID]schedulers.Status{}
	for _, id := range jobs {
		if s, ok := d.accounted[id]; ok {
			out[id] = s
		}
	}
	return out, nil
}

func (d *troubled) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	d.finds++
	if len(d.findErrs) > 0 {
		err := d.findErrs[0]
		d.findErrs = d.findErrs[1:]
		if err != nil {
			return nil, err
		}
	}
	return d.Driver.FindByToken(ctx, token, since)
}

// newCluster returns a cluster in trouble, on whose clock a pause passes at once.
func newCluster(t *testing.T) (*schedulers.Cluster, *troubled) {
	t.Helper()
	cfg := simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 4}}, Backfill: simulator.EASY}
	sim, err := simulator.New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	sim.AdvanceTo(noon)
	driver, err := simulated.New(sim, cfg, func(schedulers.Submission) simulated.Run { return simulated.Run{For: time.Hour} })
	if err != nil {
		t.Fatal(err)
	}
	d := &troubled{Driver: driver, hidden: map[segue.JobID]bool{}}
	c, err := schedulers.New(d, schedulers.Config{
		Now: driver.Now,
		Sleep: func(_ context.Context, pause time.Duration) error {
			driver.Advance(driver.Now().Add(pause))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, d
}

func submission() schedulers.Submission {
	return schedulers.Submission{
		Token:   "segue:abc/1.1",
		Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: 2 * time.Hour}, User: "ada"},
	}
}

var (
	errTimedOut = segue.Errorf(segue.Unavailable, "%w: Socket timed out on send/recv operation", schedulers.ErrAmbiguous)
	errDown     = segue.Errorf(segue.Unavailable, "Unable to contact slurm controller")
)

// Report 1 of the catalogue: sbatch says that the socket timed out, and the job
// was taken all the same.
func TestAJobThatWasTakenInSilenceIsFoundAndNotSubmittedAgain(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	d.afterSubmit = errTimedOut
	got, err := c.Submit(t.Context(), submission())
	if err != nil {
		t.Fatal(err)
	}
	if found, _ := d.Driver.FindByToken(t.Context(), "segue:abc/1.1", 0); d.submits != 1 || len(found) != 1 || found[0] != got.Job {
		t.Errorf("%d submissions made the jobs %v, and Submit returned %s", d.submits, found, got.Job)
	}
}

func TestASubmissionThatMadeNoJobIsToldAfterSeveralLooks(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	d.instead = errTimedOut
	_, err := c.Submit(t.Context(), submission())
	if segue.KindOf(err) != segue.Unavailable || errors.Is(err, schedulers.ErrAmbiguous) {
		t.Errorf("error %v, want one of kind unavailable that is not ambiguous", err)
	}
	if d.submits != 1 || d.finds != 3 {
		t.Errorf("%d submissions and %d looks, want 1 and 3", d.submits, d.finds)
	}
}

func TestASubmissionStaysAmbiguousWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	d.afterSubmit, d.findErrs = errTimedOut, []error{errDown}
	at := d.Now()
	if _, err := c.Submit(t.Context(), submission()); !errors.Is(err, schedulers.ErrAmbiguous) {
		t.Fatalf("error %v, want an ambiguous one", err)
	}
	job, found, err := c.Resolve(t.Context(), "segue:abc/1.1", "ada", at)
	if err != nil || !found || job.Number == 0 {
		t.Errorf("later it resolves to %s, %t, %v; want the job", job, found, err)
	}
}

// Who comes again is not kept waiting, and is as sure after as many answers.
func TestWhoComesAgainIsToldWithoutWaiting(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	at := d.Now()
	for i, after := range []time.Duration{0, time.Second, 10 * time.Second, 10 * time.Second} {
		d.Advance(d.Now().Add(after))
		before := d.Now()
		_, found, sure, err := c.Recover(t.Context(), "segue:abc/1.1", "ada", at)
		if want := i == 3; err != nil || found || sure != want || d.Now() != before {
			t.Errorf("look %d: found %t, sure %t, %v after %s; want no job, sure %t, at once", i+1, found, sure, err, d.Now().Sub(before), want)
		}
	}
	d.findErrs = []error{errDown}
	if _, found, sure, err := c.Recover(t.Context(), "segue:abc/1.1", "ada", at); !errors.Is(err, schedulers.ErrAmbiguous) || found || sure {
		t.Errorf("while nobody answers: found %t, sure %t, %v; want an ambiguous error", found, sure, err)
	}
	if _, err := c.Submit(t.Context(), submission()); err != nil {
		t.Fatal(err)
	}
	job, found, sure, err := c.Recover(t.Context(), "segue:abc/1.1", "ada", at)
	if err != nil || !found || !sure || job.Number == 0 {
		t.Errorf("with a job: %s, found %t, sure %t, %v", job, found, sure, err)
	}
}

func TestARefusedSubmissionIsNotLookedFor(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	d.instead = segue.Errorf(segue.Invalid, "invalid partition")
	if _, err := c.Submit(t.Context(), submission()); segue.KindOf(err) != segue.Invalid || d.finds != 0 {
		t.Errorf("error %v after %d looks, want one of kind invalid after none", err, d.finds)
	}
	s := submission()
	s.Token = ""
	if _, err := c.Submit(t.Context(), s); segue.KindOf(err) != segue.Invalid || d.submits != 1 {
		t.Errorf("error %v without a token, want one of kind invalid before the scheduler is asked", err)
	}
}

// status asks for one job.
func status(t *testing.T, c *schedulers.Cluster, id segue.JobID) schedulers.Status {
	t.Helper()
	got, err := c.Status(t.Context(), []segue.JobID{id})
	if err != nil {
		t.Fatal(err)
	}
	return got[id]
}

// Reports 11, 12 and 19: one empty answer is no end.
func TestAJobIsGoneOnlyAfterSeveralAnswersLackIt(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	got, err := c.Submit(t.Context(), submission())
	if err != nil {
		t.Fatal(err)
	}
	d.Advance(d.Now().Add(time.Minute))
	if s := status(t, c, got.Job); s.Life != schedulers.Alive || s.State != segue.Running {
		t.Fatalf("it is %s, %s; want alive and RUNNING", s.Life, s.State)
	}
	d.hidden[got.Job] = true
	for i := range 3 {
		d.Advance(d.Now().Add(15 * time.Second))
		for range 3 { // asked three times in a row, it counts once
			want := schedulers.Unknown
			if i == 2 {
				want = schedulers.Ended
			}
			if s := status(t, c, got.Job); s.Life != want {
				t.Errorf("after %d answers without it the job is %s, want %s", i+1, s.Life, want)
			}
		}
	}
	d.hidden[got.Job] = false
	d.Advance(d.Now().Add(15 * time.Second))
	if s := status(t, c, got.Job); s.Life != schedulers.Alive {
		t.Errorf("shown again it is %s, want alive", s.Life)
	}
	d.hidden[got.Job] = true
	d.Advance(d.Now().Add(15 * time.Second))
	if s := status(t, c, got.Job); s.Life != schedulers.Unknown {
		t.Errorf("hidden again it is %s at once, want unknown", s.Life)
	}
}

// However often it is asked about, one look at the queue is one.
func TestALookAtTheQueueThatServesManyCountsOnce(t *testing.T) {
	t.Parallel()
	_, d := newCluster(t)
	now := noon
	c, err := schedulers.New(d, schedulers.Config{Now: func() segue.Time { return now }, Fresh: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 { // within one minute
		if s := status(t, c, segue.JobID{Number: 77}); s.Life != schedulers.Unknown || d.states != 1 {
			t.Errorf("%s after noon, after %d looks, it is %s; want unknown after one", now.Sub(noon), d.states, s.Life)
		}
		now = now.Add(11 * time.Second)
	}
}

func TestTheAccountingKnowsHowAJobEnded(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	id := segue.JobID{Number: 77}
	d.accounted = map[segue.JobID]schedulers.Status{}
	// slurmdbd calls a job root's of which it heard the end before the start.
	d.accounted[id] = schedulers.Status{Life: schedulers.Ended, State: segue.Failed, ExitCode: 3, User: "root"}
	if s := status(t, c, id); s.Life != schedulers.Ended || s.ExitCode != 3 || s.User != "" {
		t.Errorf("it is %s with %d, want ended with 3", s.Life, s.ExitCode)
	}
}

// An accounting that calls a job running for ever does not keep it alive beyond
// its limit.
func TestARunawayOfTheAccountingEndsWithItsLimit(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	id := segue.JobID{Number: 77}
	d.accounted = map[segue.JobID]schedulers.Status{id: {
		Life: schedulers.Alive, State: segue.Running, Start: noon, End: noon.Add(time.Hour),
	}}
	for range 5 {
		d.Advance(d.Now().Add(time.Minute))
		if s := status(t, c, id); s.Life != schedulers.Unknown {
			t.Errorf("before its limit it is %s, want unknown", s.Life)
		}
	}
	d.Advance(noon.Add(61 * time.Minute))
	if s := status(t, c, id); s.Life != schedulers.Ended {
		t.Errorf("after its limit it is %s, want ended", s.Life)
	}
}

func TestAControllerThatIsDownLeavesEverythingUnknown(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	d.stateErr = errDown
	id := segue.JobID{Number: 1}
	for range 5 {
		d.Advance(d.Now().Add(time.Minute))
		got, err := c.Status(t.Context(), []segue.JobID{id})
		if segue.KindOf(err) != segue.Unavailable || got[id].Life != schedulers.Unknown {
			t.Fatalf("it is %s, error %v; want unknown and an error of kind unavailable", got[id].Life, err)
		}
	}
	d.stateErr = nil
	if s := status(t, c, id); s.Life != schedulers.Unknown {
		t.Errorf("when the controller is back the job is %s: the failures counted", s.Life)
	}
}

func TestAThousandQuestionsAskTheSchedulerOnce(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	for range 1000 {
		if _, err := c.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d.states != 1 {
		t.Errorf("asked %d times, want once", d.states)
	}
	if _, err := c.Submit(t.Context(), submission()); err != nil {
		t.Fatal(err)
	}
	if s, err := c.State(t.Context()); err != nil || len(s.Jobs)+d.states != 1+2 {
		t.Errorf("after a submission %d jobs are shown, asked %d times; want 1 and 2", len(s.Jobs), d.states)
	}
}

func epoch() segue.Time { return 0 }

func TestConfigurationsThatCannotBe(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]schedulers.Config{
		"no clock": {}, "no confirmation": {Now: epoch, Confirmations: -1}, "a negative pause": {Now: epoch, Pause: -1},
		"a negative timeout": {Now: epoch, Timeout: -1},
	} {
		if _, err := schedulers.New(&troubled{}, cfg); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", name, err)
		}
	}
}

// A clock that is set back makes no look at the queue serve until it has caught up.
func TestAClockThatIsSetBackFreezesNothing(t *testing.T) {
	t.Parallel()
	_, d := newCluster(t)
	now := noon
	c, err := schedulers.New(d, schedulers.Config{Now: func() segue.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []segue.Time{noon, noon.Add(time.Second), noon.Add(-time.Hour)} {
		now = at
		if _, err := c.State(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d.states != 2 {
		t.Errorf("the scheduler was asked %d times, want 2: at first, and when the clock was set back", d.states)
	}
}
