package provisioner_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/simulated"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
)

// constantLead submits when no more than the lead remains.
type constantLead time.Duration

func (c constantLead) Decide(_ context.Context, state schedulers.State, q provisioner.Question) (segue.Decision, error) {
	d := segue.Decision{At: state.At, Policy: "constant", Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, Reason: "A constant lead."}
	d.Submit = q.Remaining <= time.Duration(c)
	d.SubmitAt = state.At.Add(max(0, q.Remaining-time.Duration(c)))
	return d, nil
}

// world is a cluster with a store and the loop over its chains.
type world struct {
	t       *testing.T
	driver  *simulated.Driver
	cluster *schedulers.Cluster
	store   *store.Store
	chains  *provisioner.Chains
	path    string // of the store
	files   map[string]bool
	runs    func(link int) simulated.Run // what a link does
	extra   map[int][]string             // the variables that each link got
}

// newWorld returns a cluster of 8 nodes with jobs of other people on it.
func newWorld(t *testing.T, jobs []simulator.Job, decider provisioner.Decider) *world {
	t.Helper()
	w := &world{t: t, files: map[string]bool{}, extra: map[int][]string{}, runs: func(int) simulated.Run { return simulated.Run{For: 1000 * hour} }}
	sim := newSim(t, jobs)
	var err error
	w.driver, err = simulated.New(sim, busyCluster, func(s schedulers.Submission) simulated.Run {
		_, _, number, _, _ := segue.FindToken(s.Token)
		w.extra[number] = s.Extra
		return w.runs(number)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.cluster, err = schedulers.New(w.driver, schedulers.Config{
		Now: w.driver.Now, Fresh: time.Nanosecond, Owners: true,
		Sleep: func(_ context.Context, d time.Duration) error { w.driver.Advance(w.driver.Now().Add(d)); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	w.path = filepath.Join(t.TempDir(), "segue.db")
	if w.store, err = store.Open(t.Context(), w.path, store.Config{Volatile: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.store.Close() })
	w.chains, err = provisioner.NewChains(w.store, w.cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: decider, Exists: func(_, path string) bool { return w.files[path] },
		ReadyDir: "ready",
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var busyCluster = simulator.Config{
	Pools: []simulator.Pool{{Name: "batch", Nodes: 8}}, Backfill: simulator.EASY, Users: []string{"ben", "cleo", "dan"},
}

func newSim(t *testing.T, jobs []simulator.Job) *simulator.Sim {
	t.Helper()
	sim, err := simulator.New(busyCluster, jobs)
	if err != nil {
		t.Fatal(err)
	}
	sim.AdvanceTo(noon)
	return sim
}

// busyJobs returns the jobs of two weeks around noon, about as many as 8 nodes
// can run.
func busyJobs() []simulator.Job {
	rng := rand.New(rand.NewPCG(7, 0))
	var jobs []simulator.Job
	for at := noon.Add(-72 * hour); at < noon.Add(12*24*hour); at = at.Add(time.Duration(rng.ExpFloat64() * float64(100*time.Minute))) {
		limit := time.Duration(1+rng.IntN(12)) * hour
		jobs = append(jobs, simulator.Job{
			Submit: at, Limit: limit, Run: time.Duration(rng.Float64() * float64(limit)), Nodes: int32(1 + rng.IntN(4)), User: int32(rng.IntN(3)),
		})
	}
	return jobs
}

var link = segue.Request{Shape: segue.Shape{Nodes: 2, Limit: 12 * hour}, User: "ada"}

// begin submits the first link of a chain, as the wrapper does, and records it.
func (w *world) begin(terms segue.Terms) { w.beginAs(link, terms) }

// beginAs records of the first link that asked was asked for.
func (w *world) beginAs(asked segue.Request, terms segue.Terms) {
	w.t.Helper()
	w.beginOf(segue.Chain{ID: "abc", Name: "train", User: "ada", Request: asked, Terms: terms}, link, segue.LinkQueued)
}

// beginOf submits the job of a request with the token of a chain's first link, and
// records the chain with the link in a state. It returns the job.
func (w *world) beginOf(chain segue.Chain, job segue.Request, state segue.LinkState) segue.JobID {
	w.t.Helper()
	chain.Created = w.driver.Now()
	first := segue.Link{
		Chain: chain.ID, Number: 1, Attempt: 1, State: state,
		Planned: w.driver.Now(), Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	got, err := w.driver.Submit(w.t.Context(), schedulers.Submission{Token: first.Token(), Request: job})
	if err != nil {
		w.t.Fatal(err)
	}
	if state == segue.LinkQueued {
		first.Job, first.Submitted = got.Job, w.driver.Now()
	}
	if err := w.store.CreateChain(w.t.Context(), chain, first); err != nil {
		w.t.Fatal(err)
	}
	return got.Job
}

func (w *world) links() []segue.Link {
	w.t.Helper()
	links, err := w.store.Links(w.t.Context(), "abc")
	if err != nil {
		w.t.Fatal(err)
	}
	return links
}

func (w *world) chain() segue.Chain {
	w.t.Helper()
	c, err := w.store.Chain(w.t.Context(), "abc")
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// round goes through the loop once.
func (w *world) round() {
	w.t.Helper()
	if err := w.chains.RunOnce(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// pass lets time pass, with a round every minute.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.passBy(time.Minute, d)
}

// passBy lets time pass, with a round after each step.
func (w *world) passBy(step, d time.Duration) {
	w.t.Helper()
	for until := w.driver.Now().Add(d); w.driver.Now() < until; {
		w.driver.Advance(w.driver.Now().Add(step))
		w.round()
	}
}

// What the loop does on the simulator's clock is what a backtest says that it
// would do: the same submissions, starts and ends, to the microsecond.
func TestAChainGoesAsTheBacktestSays(t *testing.T) {
	t.Parallel()
	const links, lead, step = 8, 3 * hour, 15 * time.Minute
	jobs := busyJobs()
	shape := simulator.Job{Run: link.Limit, Limit: link.Limit, Nodes: 2, User: 3}
	want, err := outcomes.Follow(newSim(t, jobs), shape, links, step,
		func(_ int, remaining time.Duration, _ *simulator.Sim) (bool, error) { return remaining <= lead, nil }, nil)
	if err != nil {
		t.Fatal(err)
	}

	w := newWorld(t, jobs, constantLead(lead))
	w.begin(segue.Terms{MaxLinks: links})
	for w.chain().State == segue.ChainActive {
		// A backtest asks at whole steps before the end of the link that runs.
		next := w.driver.Now().Add(time.Minute)
		if all := w.links(); all[len(all)-1].State == segue.LinkRunning {
			left := all[len(all)-1].End.Sub(w.driver.Now())
			next = all[len(all)-1].End.Add(-(left - 1).Truncate(step))
		}
		w.driver.Advance(max(next, w.driver.Now().Add(time.Minute)))
		w.round()
	}
	var got []outcomes.Link
	for i, l := range w.links() {
		o := outcomes.Link{Submit: l.Submitted, Start: l.Start, End: l.End}
		if i > 0 {
			o.Outcome = o.Start.Sub(got[i-1].End)
		}
		got = append(got, o)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the chain differs from the backtest (-want +got):\n%s", diff)
	}
	if c := w.chain(); c.State != segue.ChainDone || c.Why != "All 8 links have run." {
		t.Errorf("the chain is %s: %s", c.State, c.Why)
	}
	late := slices.ContainsFunc(want, func(l outcomes.Link) bool { return l.Outcome > 0 })
	early := slices.ContainsFunc(want, func(l outcomes.Link) bool { return l.Outcome < 0 })
	if !late || !early {
		t.Error("the backtest knows no interruption, or no overlap: the test shows nothing")
	}
}

func TestChainsThatEnd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		terms     segue.Terms
		run       func(link int) simulated.Run
		file      time.Duration // after which the file "done" exists
		want      segue.ChainState
		wantWhy   string
		wantLinks int
	}{
		"all links have run": {
			terms: segue.Terms{MaxLinks: 2}, want: segue.ChainDone, wantWhy: "All 2 links have run.", wantLinks: 2,
		},
		"a link says by its exit code that the work is done": {
			run: func(link int) simulated.Run {
				if link == 3 {
					return simulated.Run{For: 5 * hour}
				}
				return simulated.Run{For: 1000 * hour}
			},
			want: segue.ChainDone, wantWhy: "Link 3 ended with exit code 0, which says that the work is done.", wantLinks: 3,
		},
		"another exit code that was asked for": {
			terms: segue.Terms{DoneCodes: []int{93}}, run: func(int) simulated.Run { return simulated.Run{For: hour, ExitCode: 93} },
			want: segue.ChainDone, wantWhy: "Link 1 ended with exit code 93, which says that the work is done.", wantLinks: 1,
		},
		"a file says so": {
			terms: segue.Terms{DoneFile: "done"}, file: 13 * hour,
			want: segue.ChainDone, wantWhy: "The file done exists.", wantLinks: 2,
		},
		"the time that was asked for": {
			terms: segue.Terms{MaxTime: 30 * hour},
			want:  segue.ChainDone, wantWhy: "It has run for 36h0m0s, of 30h0m0s that were asked for.", wantLinks: 3,
		},
		"links that fail at once": {
			run:  func(int) simulated.Run { return simulated.Run{For: 20 * time.Second, ExitCode: 1} },
			want: segue.ChainFailed, wantLinks: 3,
			wantWhy: "3 links in a row failed within 2m0s of their start; the last one, job 3, ended as FAILED with exit code 1.",
		},
		"a budget of GPU-hours": {
			terms: segue.Terms{MaxGPUHours: 60},
			want:  segue.ChainFailed, wantWhy: "One more link could go beyond 60 GPU-hours: 48.0 are used.", wantLinks: 2,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, constantLead(0))
			if tt.run != nil {
				w.runs = tt.run
			}
			w.begin(tt.terms)
			for i := 0; w.chain().State == segue.ChainActive && i < 100; i++ {
				w.pass(hour)
				w.files["done"] = tt.file > 0 && time.Duration(i+1)*hour >= tt.file
			}
			if c := w.chain(); c.State != tt.want || c.Why != tt.wantWhy {
				t.Errorf("the chain is %s: %s\nwant %s: %s", c.State, c.Why, tt.want, tt.wantWhy)
			}
			if n := len(w.links()); n != tt.wantLinks {
				t.Errorf("%d links, want %d", n, tt.wantLinks)
			}
		})
	}
}

// The last jobs of a chain that was stopped are followed to their end, and then
// nobody asks for them any more.
func TestJobsOfAStoppedChainAreFollowedToTheirEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.begin(segue.Terms{})
	w.pass(hour)
	if err := w.store.SetChainState(t.Context(), "abc", segue.ChainActive, segue.ChainStopped, "Stopped by its user."); err != nil {
		t.Fatal(err)
	}
	w.pass(12 * hour)
	links := w.links()
	if len(links) != 1 || links[0].State != segue.LinkEnded || links[0].Ended != segue.Timeout {
		t.Errorf("links %+v, want one that its limit has ended", links)
	}
	if live, err := w.store.LiveLinks(t.Context()); err != nil || len(live) != 0 {
		t.Errorf("live links %+v, %v; want none", live, err)
	}
}

// Whatever is forecast, a link on trial is waited for.
func TestFailingLinksBackOffWhenTheNextIsWantedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(1000*hour))
	w.runs = func(n int) simulated.Run {
		if n == 1 {
			return simulated.Run{For: time.Second, ExitCode: 1}
		}
		return simulated.Run{For: 100 * time.Second, ExitCode: 1}
	}
	w.begin(segue.Terms{MaxFastFails: 4})
	w.pass(2 * hour)
	links := w.links()
	if len(links) != 4 {
		t.Fatalf("%d links, want 4", len(links))
	}
	for i := 1; i < len(links); i++ {
		if want, pause := 2*time.Minute<<(i-1), links[i].Submitted.Sub(links[i-1].End); pause < want {
			t.Errorf("link %d follows after %s, want at least %s", i+1, pause, want)
		}
	}
}

// A forecast of long waits where jobs start at once does not fill the cluster.
func TestLinksDoNotPileUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(1000*hour))
	w.runs = func(int) simulated.Run { return simulated.Run{For: 1000 * hour} }
	w.begin(segue.Terms{})
	w.pass(10 * hour)
	if n := len(w.links()); n != 3 {
		t.Errorf("%d links after 10 of the first one's 12 hours, want 3", n)
	}
	w.pass(3 * hour)
	if n := len(w.links()); n <= 3 {
		t.Errorf("%d links when the first ones have ended, want more", n)
	}
}

// What the scheduler gives a job by default is not for nothing.
func TestABudgetHoldsWhereNoLimitIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	asked := link
	asked.Limit = 0
	w.beginAs(asked, segue.Terms{MaxGPUHours: 30})
	w.pass(24 * hour)
	if c, n := w.chain(), len(w.links()); c.State != segue.ChainFailed || n != 1 {
		t.Errorf("the chain is %s after %d links, want %s after one of 24 GPU-hours: %s", c.State, n, segue.ChainFailed, c.Why)
	}
}

// A chain of failing links does not hammer the scheduler: each waits twice as
// long as the one before.
func TestFailingLinksBackOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.runs = func(int) simulated.Run { return simulated.Run{For: 20 * time.Second, ExitCode: 1} }
	w.begin(segue.Terms{MaxFastFails: 5})
	w.pass(2 * hour)
	links := w.links()
	if len(links) != 5 {
		t.Fatalf("%d links, want 5", len(links))
	}
	for i := 1; i < len(links); i++ {
		want := 2 * time.Minute << (i - 1)
		if pause := links[i].Submitted.Sub(links[i-1].End); pause < want || pause > want+time.Minute {
			t.Errorf("link %d follows after %s, want %s and at most a minute more", i+1, pause, want)
		}
	}
}

// What a user cancels stays cancelled, until the user resumes the chain.
func TestACancelledLinkPausesItsChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	w.begin(segue.Terms{})
	w.pass(time.Hour)
	if err := w.driver.Cancel(t.Context(), w.links()[0].Job); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Hour)
	want := "Job 1 of link 1 was cancelled. `segue resume abc` goes on."
	if c := w.chain(); c.State != segue.ChainPaused || c.Why != want || len(w.links()) != 1 {
		t.Errorf("the chain of %d links is %s: %s", len(w.links()), c.State, c.Why)
	}
	if err := w.store.SetChainState(t.Context(), "abc", segue.ChainPaused, segue.ChainActive, ""); err != nil {
		t.Fatal(err)
	}
	w.pass(10 * time.Minute)
	if c, links := w.chain(), w.links(); c.State != segue.ChainActive || len(links) != 2 || links[1].State != segue.LinkRunning {
		t.Errorf("resumed, the chain of %d links is %s: %s; want a second link that runs", len(links), c.State, c.Why)
	}
}

func TestAServerOverlapsByItsStartUpTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0)) // on an empty cluster, where nothing waits
	w.begin(segue.Terms{Startup: 20 * time.Minute, MaxLinks: 3})
	w.pass(40 * hour)
	links := w.links()
	for i := 1; i < len(links); i++ {
		if overlap := links[i-1].End.Sub(links[i].Start); overlap < 19*time.Minute || overlap > 21*time.Minute {
			t.Errorf("link %d overlaps its predecessor by %s, want 20 minutes", i+1, overlap)
		}
	}
	if len(links) != 3 {
		t.Errorf("%d links, want 3", len(links))
	}
}

func TestAPredecessorStopsWhenItsSuccessorIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(2*hour))
	w.begin(segue.Terms{StopPredecessor: true, MaxLinks: 2})
	w.pass(10*hour + 30*time.Minute)
	links := w.links()
	if len(links) != 2 || links[0].State != segue.LinkRunning || links[1].State != segue.LinkRunning {
		t.Fatalf("the links are %+v, want two that run", links)
	}
	w.files["ready/abc.2"] = true
	w.pass(10 * time.Minute)
	links = w.links()
	if links[0].State != segue.LinkEnded || links[0].Ended != segue.Cancelled || links[1].State != segue.LinkRunning {
		t.Errorf("the first link is %s (%s), the second %s", links[0].State, links[0].Ended, links[1].State)
	}
	if c := w.chain(); c.State != segue.ChainActive {
		t.Errorf("the chain is %s: %s", c.State, c.Why)
	}
}

// Where nothing waits, the next link comes with the last look before the end, not
// with the first one after it.
func TestALinkThatEndsBeforeTheNextRoundIsFollowedNow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(0))
	var err error
	w.chains, err = provisioner.NewChains(w.store, w.cluster, provisioner.ChainsConfig{
		Now: w.driver.Now, Decider: constantLead(0), Exists: func(string, string) bool { return false }, Every: 10 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.begin(segue.Terms{MaxLinks: 2})
	for range 6 * 14 {
		w.driver.Advance(w.driver.Now().Add(10 * time.Minute))
		w.round()
	}
	links := w.links()
	if len(links) != 2 || !links[1].Start.Known() {
		t.Fatalf("the links are %+v, want two that started", links)
	}
	if overlap := links[0].End.Sub(links[1].Start); overlap < 0 || overlap > 10*time.Minute {
		t.Errorf("an overlap of %s, want at most the ten minutes between two rounds", overlap)
	}
}

// When a link says that the work is done, its successor that waits already is
// cancelled, and does not run once more for nothing.
func TestTheSuccessorOfTheLastLinkIsCancelled(t *testing.T) {
	t.Parallel()
	busy := []simulator.Job{
		{Submit: noon, Run: 100 * hour, Limit: 100 * hour, Nodes: int32(8 - link.Nodes), User: 1},
		{Submit: noon.Add(hour), Run: 100 * hour, Limit: 100 * hour, Nodes: int32(link.Nodes), User: 2}, // gets what the first link leaves
	}
	w := newWorld(t, busy, constantLead(8*hour)) // there is room for one link: the successor waits
	w.runs = func(int) simulated.Run { return simulated.Run{For: 10 * hour} }
	w.begin(segue.Terms{})
	w.pass(9 * hour)
	if links := w.links(); len(links) != 2 || links[1].State != segue.LinkQueued {
		t.Fatalf("links %+v, want one that waits", links)
	}
	w.pass(20 * hour)
	links := w.links()
	if c := w.chain(); c.State != segue.ChainDone || len(links) != 2 || links[1].State != segue.LinkEnded || links[1].Ended != segue.Cancelled || links[1].Start.Known() {
		t.Errorf("the chain is %s, links %+v; want it done, and the second cancelled before it began", c.State, links)
	}
}
