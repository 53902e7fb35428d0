package provisioner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
)

// forgetful is a cluster that loses jobs which it has taken, as slurmctld does that
// is killed before it has written its state.
type forgetful struct {
	schedulers.Driver
	forgotten map[segue.JobID]bool // of which it says nothing, whatever becomes of them
	// others are jobs of other people's that it shows: a job that is lost leaves its
	// number to the next one.
	others []schedulers.Job
	// loses says which submissions are lost as soon as they are taken.
	loses func(token string) bool
	// forgetsAll says that there is no accounting, and that too much time has passed.
	forgetsAll bool
}

func (f *forgetful) Capabilities(ctx context.Context) (schedulers.Capabilities, error) {
	caps, err := f.Driver.Capabilities(ctx)
	caps.Accounting, caps.TokenSearch = !f.forgetsAll, !f.forgetsAll
	return caps, err
}

func (f *forgetful) Submit(ctx context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	got, err := f.Driver.Submit(ctx, s)
	if err == nil && f.loses != nil && f.loses(s.Token) {
		err = f.lose(ctx, got.Job)
	}
	return got, err
}

// lose has a job never run, and nothing known of it.
func (f *forgetful) lose(ctx context.Context, job segue.JobID) error {
	f.forgotten[job] = true
	return f.Cancel(ctx, job)
}

func (f *forgetful) State(ctx context.Context) (schedulers.State, error) {
	s, err := f.Driver.State(ctx)
	s.Jobs = slices.DeleteFunc(s.Jobs, func(j schedulers.Job) bool { return f.forgotten[j.ID] })
	s.Jobs = append(s.Jobs, f.others...)
	return s, err
}

func (f *forgetful) Status(ctx context.Context, jobs []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	if f.forgetsAll {
		return nil, nil
	}
	known, err := f.Driver.Status(ctx, jobs)
	for id := range f.forgotten {
		delete(known, id)
	}
	return known, err
}

func (f *forgetful) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	if f.forgetsAll {
		return nil, segue.Errorf(segue.Unavailable, "whether %s was a job cannot be told", token)
	}
	jobs, err := f.Driver.FindByToken(ctx, token, since)
	return slices.DeleteFunc(jobs, func(id segue.JobID) bool { return f.forgotten[id] }), err
}

// quarter is the time between two rounds where nothing is to happen.
const quarter = 15 * time.Minute

// crowded leaves room for one link at a time, and has the second one wait.
func crowded() []simulator.Job {
	return []simulator.Job{
		{Submit: noon, Run: 1000 * hour, Limit: 1000 * hour, Nodes: int32(8 - link.Nodes), User: 1},
		{Submit: noon.Add(hour), Run: 10 * hour, Limit: 10 * hour, Nodes: int32(link.Nodes), User: 2}, // gets what the first link leaves
	}
}

// waiting returns a world in which the first link of a chain runs and the second
// one waits.
func waiting(t *testing.T, terms segue.Terms) (*world, *forgetful) {
	t.Helper()
	w := newWorld(t, crowded(), constantLead(2*hour))
	f := &forgetful{Driver: w.driver, forgotten: map[segue.JobID]bool{}}
	w.chains = w.processOn(f)
	w.begin(terms)
	w.passBy(quarter, 11*hour+2*quarter)
	if diff := cmp.Diff([]string{"1.1 running", "2.1 queued"}, w.told()); diff != "" {
		t.Fatalf("links (-want +got):\n%s", diff)
	}
	return w, f
}

// told returns the links in words: "2.1 queued".
func (w *world) told() []string {
	w.t.Helper()
	var all []string
	for _, l := range w.links() {
		all = append(all, fmt.Sprintf("%d.%d %s", l.Number, l.Attempt, l.State))
	}
	return all
}

// wantLinks fails the test unless the links are these.
func (w *world) wantLinks(want ...string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.told()); diff != "" {
		w.t.Errorf("links (-want +got):\n%s", diff)
	}
}

// A chain of three links runs three times, though the scheduler has lost a job.
// Everybody sees the tokens of others' jobs, and may write one into the comment of an
// own job, make a chain whose tokens are those of another's job, or claim its number.
func TestAJobOfAnotherUserIsNoLinkWhateverItCarries(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]segue.LinkState{"it is found by its token": segue.LinkSubmitting, "its number is claimed": segue.LinkQueued} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, constantLead(hour))
			bens := link
			bens.User = "ben"
			job := w.beginOf(segue.Chain{
				ID: "abc", Name: "train", User: "ada", Request: link,
				Terms: segue.Terms{DoneFile: "done", StopPredecessor: true, ReadyDir: "ready"},
			}, bens, state)
			w.files["done"], w.files["ready/abc.2"] = true, true
			w.pass(2 * hour)
			status, err := w.cluster.Status(t.Context(), []segue.JobID{job})
			if err != nil || status[job].Life != schedulers.Alive {
				t.Errorf("ben's job is %+v, %v; want it to run on", status[job], err)
			}
			if l := w.links()[0]; state == segue.LinkSubmitting && l.Job == job {
				t.Errorf("link %s has ben's job", l.Token())
			}
		})
	}
}

func TestALostJobIsAnotherAttemptAtItsLink(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 3})
	job := w.links()[1].Job
	if err := f.lose(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	w.pass(2 * time.Minute)
	w.wantLinks("1.1 running", "2.1 queued") // two answers without it are not enough
	w.pass(3 * time.Minute)
	w.wantLinks("1.1 running", "2.1 lost", "2.2 queued")
	w.passBy(quarter, 60*hour)
	w.wantLinks("1.1 ended", "2.1 lost", "2.2 ended", "3.1 ended")
	if c := w.chain(); c.State != segue.ChainDone || c.Why != "All 3 links have run." {
		t.Errorf("the chain is %s: %s", c.State, c.Why)
	}
	decisions, err := w.store.Decisions(t.Context(), "abc", 1000)
	if err != nil {
		t.Fatal(err)
	}
	again := decisions[slices.IndexFunc(decisions, func(r store.Recorded) bool { return r.Number == 2 && r.Attempt == 2 && r.Decision.Submit })]
	if want := fmt.Sprintf("Job %s, attempt 1 at link 2, was lost by the scheduler before it started.", job); !strings.Contains(again.Decision.Reason, want) {
		t.Errorf("the second attempt has the reason %q, want %q in it", again.Decision.Reason, want)
	}
	links := w.links()
	if want := links[2].Start.Sub(links[0].End); again.Outcome == nil || again.Outcome.Interruption != want {
		t.Errorf("the hand-over to link 2 came to %+v, want an interruption of %s", again.Outcome, want)
	}
}

// When nothing runs the loss is told, and the next attempt is made at once.
func TestAJobThatIsLostWhenNothingRunsIsTriedAtOnce(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 2})
	w.passBy(quarter, hour)
	if err := f.lose(t.Context(), w.links()[1].Job); err != nil {
		t.Fatal(err)
	}
	w.pass(3 * time.Minute)
	w.wantLinks("1.1 ended", "2.1 lost", "2.2 queued")
	if err := f.lose(t.Context(), w.links()[2].Job); err != nil {
		t.Fatal(err)
	}
	w.pass(3 * time.Minute)
	w.wantLinks("1.1 ended", "2.1 lost", "2.2 lost") // one that is lost again is followed a little later
	w.pass(3 * time.Minute)
	w.wantLinks("1.1 ended", "2.1 lost", "2.2 lost", "2.3 queued")
}

// A scheduler that loses every job does not see submissions for ever.
func TestAChainWhoseJobsAreAllLostIsPaused(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{})
	f.loses = func(string) bool { return true }
	if err := f.lose(t.Context(), w.links()[1].Job); err != nil {
		t.Fatal(err)
	}
	w.passBy(5*time.Minute, 30*hour)
	want := "20 attempts at link 2 made no job, or one that was lost. `segue resume abc` goes on."
	if c := w.chain(); c.State != segue.ChainPaused || c.Why != want || len(w.links()) != 21 {
		t.Errorf("after %d links and attempts the chain is %s: %s", len(w.links()), c.State, c.Why)
	}
}

// A run that happened counts: of a job that is lost while it runs, and of one that
// was requeued after a run.
func TestAJobThatIsLostAfterItRanCounts(t *testing.T) {
	t.Parallel()
	for name, requeued := range map[string]bool{"while it runs": false, "while it waits to run again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, constantLead(0))
			f := &forgetful{Driver: w.driver, forgotten: map[segue.JobID]bool{}}
			w.chains = w.processOn(&retold{Driver: f, change: func(j *schedulers.Job) bool {
				if isFirst(j) && requeued && w.driver.Now() > noon.Add(hour) {
					j.State, j.Restarts, j.Start, j.EndTime = segue.Pending, 1, segue.NoTime, segue.NoTime
				}
				return true
			}})
			w.begin(segue.Terms{MaxLinks: 2})
			w.passBy(quarter, 2*hour)
			if err := f.lose(t.Context(), w.links()[0].Job); err != nil {
				t.Fatal(err)
			}
			w.passBy(quarter, 20*hour)
			w.wantLinks("1.1 ended", "2.1 ended")
			if c := w.chain(); c.State != segue.ChainDone {
				t.Errorf("the chain is %s: %s", c.State, c.Why)
			}
		})
	}
}

// A job that was lost, and is there again after its link was tried again, is
// cancelled before both can run.
func TestALostJobThatReturnsIsCancelled(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 2})
	first := w.links()[1].Job
	f.forgotten[first] = true // and it waits all the same
	w.pass(5 * time.Minute)
	w.wantLinks("1.1 running", "2.1 lost", "2.2 queued")
	clear(f.forgotten)
	w.pass(time.Minute)
	known, err := w.driver.Status(t.Context(), []segue.JobID{first})
	if err != nil {
		t.Fatal(err)
	}
	if s := known[first]; s.State != segue.Cancelled || s.Start.Known() {
		t.Errorf("the job that returned is %+v, want it cancelled before it began", s)
	}
	w.passBy(quarter, 40*hour)
	w.wantLinks("1.1 ended", "2.1 lost", "2.2 ended")
	if c := w.chain(); c.State != segue.ChainDone {
		t.Errorf("the chain is %s: %s", c.State, c.Why)
	}
}

// Of a chain that its user has paused nothing is tried again: a job of it that
// returns is the user's.
func TestALostJobOfAPausedChainIsTheUsers(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 2})
	first := w.links()[1].Job
	f.forgotten[first] = true
	w.pass(5 * time.Minute)
	if err := w.store.SetChainState(t.Context(), "abc", segue.ChainActive, segue.ChainPaused, "Paused by its user."); err != nil {
		t.Fatal(err)
	}
	clear(f.forgotten)
	w.pass(time.Minute)
	known, err := w.driver.Status(t.Context(), []segue.JobID{first})
	if err != nil {
		t.Fatal(err)
	}
	if s, ended := known[first]; ended {
		t.Errorf("the job that returned is %+v, want it left alone", s)
	}
}

// A job that is there under another number is the link's all the same.
func TestAJobThatIsFoundByItsTokenIsNotLost(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 2})
	moved := segue.JobID{Number: 900}
	r := &retold{Driver: f, change: func(j *schedulers.Job) bool {
		if strings.HasSuffix(j.Comment, "/2.1") {
			j.ID = moved
		}
		return true
	}}
	w.chains = w.processOn(r)
	w.pass(5 * time.Minute)
	w.wantLinks("1.1 running", "2.1 queued")
	if job := w.links()[1].Job; job != moved {
		t.Errorf("link 2 is job %s, want %s", job, moved)
	}
	w.passBy(quarter, 20*hour)
	w.wantLinks("1.1 ended", "2.1 running")
}

// A scheduler that has lost a job gives its number to the next one that comes: that
// one is not followed, and is not cancelled.
func TestTheNumberOfALostJobIsAnotherJobs(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(j *schedulers.Job){
		"of somebody else":                   func(*schedulers.Job) {},
		"of somebody else, and was requeued": func(j *schedulers.Job) { j.Restarts = 1 },
		"of another chain":                   func(j *schedulers.Job) { j.User, j.Comment = "ada", "segue:xyz/4.1" },
		"of another attempt":                 func(j *schedulers.Job) { j.User, j.Comment = "ada", "segue:abc/2.9" },
		"of the same user, later":            func(j *schedulers.Job) { j.User, j.Submit = "ada", j.Submit.Add(hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, f := waiting(t, segue.Terms{MaxLinks: 2})
			job := w.links()[1].Job
			if err := f.lose(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			now := w.driver.Now()
			other := schedulers.Job{State: segue.Completed, EndTime: now}
			other.ID, other.User, other.Submit, other.Eligible, other.Start = job, "ben", now, now, now
			change(&other)
			f.others = []schedulers.Job{other}
			w.pass(time.Minute)
			w.wantLinks("1.1 running", "2.1 lost", "2.2 queued")
			w.passBy(quarter, 40*hour)
			w.wantLinks("1.1 ended", "2.1 lost", "2.2 ended")
			if c := w.chain(); c.State != segue.ChainDone || c.Why != "All 2 links have run." {
				t.Errorf("the chain is %s: %s", c.State, c.Why)
			}
		})
	}
}

// Where a job may have run and been forgotten, since nobody looked for so long and
// there is no accounting, it counts.
func TestWhatMayHaveRunCounts(t *testing.T) {
	t.Parallel()
	w, f := waiting(t, segue.Terms{MaxLinks: 2})
	f.forgetsAll = true
	if err := f.lose(t.Context(), w.links()[1].Job); err != nil {
		t.Fatal(err)
	}
	w.pass(hour)
	w.wantLinks("1.1 ended", "2.1 ended")
}
