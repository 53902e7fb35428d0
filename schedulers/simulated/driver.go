package simulated

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/simulator"
)

// Run is what the program of a job does: it runs for so long, unless its limit
// ends it before, and exits with a code.
type Run struct {
	For      time.Duration
	ExitCode int
}

// Driver is a simulated cluster of one pool. It implements schedulers.Driver. Jobs
// of the replayed history are shown like those that were submitted.
type Driver struct {
	run func(schedulers.Submission) Run

	mu    sync.Mutex
	sim   *simulator.Sim
	users []string
	jobs  []submitted // by position: simulator.Ref minus first
	first simulator.Ref
}

// submitted is a job that was submitted through the driver.
type submitted struct {
	ref       simulator.Ref
	s         schedulers.Submission
	run       Run
	at        segue.Time
	start     segue.Time
	end       segue.Time
	cancelled bool
}

// New returns the driver of a simulated cluster, of which cfg is the
// configuration. run says what the program of a submission will do; nobody else
// may advance sim.
func New(sim *simulator.Sim, cfg simulator.Config, run func(schedulers.Submission) Run) (*Driver, error) {
	if len(cfg.Pools) != 1 {
		return nil, segue.Errorf(segue.Invalid, "a simulated cluster of %d pools, want 1", len(cfg.Pools))
	}
	d := &Driver{run: run, sim: sim, users: slices.Clone(cfg.Users), first: -1}
	sim.Observe(d)
	return d, nil
}

// Advance lets time pass up to an instant.
func (d *Driver) Advance(to segue.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sim.AdvanceTo(to)
}

// Now returns the simulated time.
func (d *Driver) Now() segue.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sim.Now()
}

// Submitted implements simulator.Observer.
func (d *Driver) Submitted(simulator.Ref, segue.Time) {}

// Started implements simulator.Observer. It is called while time passes.
func (d *Driver) Started(ref simulator.Ref, at segue.Time) {
	if j := d.own(ref); j != nil {
		j.start, j.end = at, segue.NoTime
	}
}

// Ended implements simulator.Observer. It is called while time passes.
func (d *Driver) Ended(ref simulator.Ref, start, at segue.Time) {
	if j := d.own(ref); j != nil {
		j.start, j.end = start, at
	}
}

func (d *Driver) own(ref simulator.Ref) *submitted {
	if i := int(ref - d.first); d.first >= 0 && i >= 0 && i < len(d.jobs) {
		return &d.jobs[i]
	}
	return nil
}

// Name returns "simulated".
func (d *Driver) Name() string { return "simulated" }

// Capabilities says that the simulator remembers everything, and cannot hold,
// requeue or signal.
func (d *Driver) Capabilities(context.Context) (schedulers.Capabilities, error) {
	return schedulers.Capabilities{Version: "simulator", Cluster: "simulated", Accounting: true, TokenSearch: true}, nil
}

// minJobAge is how long State shows a job after its end, as Slurm does by default.
const minJobAge = 5 * time.Minute

// State shows the pool, and the submitted jobs that have ended a moment ago.
func (d *Driver) State(context.Context) (schedulers.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	snap := d.sim.Snapshot(0)
	s := schedulers.State{At: snap.At}
	for i := range snap.Nodes {
		s.Nodes = append(s.Nodes, schedulers.Node{Name: "n" + strconv.Itoa(i+1), GPUs: snap.GPUsPerNode, InService: true})
	}
	shown := make(map[simulator.Ref]bool, len(snap.Running)+len(snap.Pending))
	s.Jobs = make([]schedulers.Job, 0, len(snap.Running)+len(snap.Pending)+len(d.jobs)/8)
	for _, list := range [][]segue.QueuedJob{snap.Running, snap.Pending} {
		for _, q := range list {
			shown[simulator.Ref(q.ID.Number)] = true
			s.Jobs = append(s.Jobs, d.shown(q))
		}
	}
	for i := range d.jobs { // that have ended, or were submitted this instant
		j := &d.jobs[i]
		if forgotten := j.end.Known() && s.At.Sub(j.end) > minJobAge; !forgotten && !shown[j.ref] {
			s.Jobs = append(s.Jobs, d.shown(d.sim.Job(j.ref)))
		}
	}
	return s, nil
}

// shown returns a job as a scheduler shows it.
func (d *Driver) shown(q segue.QueuedJob) schedulers.Job {
	ref := simulator.Ref(q.ID.Number)
	q.ID = idOf(ref)
	j := schedulers.Job{QueuedJob: q, State: segue.Pending, EndTime: segue.NoTime}
	if q.Start.Known() {
		j.State, j.EndTime = segue.Running, q.Start.Add(q.Limit)
	}
	if own := d.own(ref); own != nil {
		j.Comment = own.s.Token
		j.User, j.Account = own.s.Request.User, own.s.Request.Account
		if own.end.Known() {
			j.Start, j.EndTime = own.start, own.end
			j.State, j.ExitCode = own.ended(q.Limit)
		}
	}
	return j
}

// ended returns how a job has ended.
func (j *submitted) ended(limit time.Duration) (segue.JobState, int) {
	switch {
	case j.cancelled:
		return segue.Cancelled, 0
	case j.run.For > limit:
		return segue.Timeout, 0
	case j.run.ExitCode != 0:
		return segue.Failed, j.run.ExitCode
	}
	return segue.Completed, 0
}

func idOf(ref simulator.Ref) segue.JobID { return segue.JobID{Number: int64(ref) + 1} }

func refOf(id segue.JobID) simulator.Ref { return simulator.Ref(id.Number - 1) }

// Submit submits a job of the shape that the submission asks for.
func (d *Driver) Submit(_ context.Context, s schedulers.Submission) (schedulers.Submitted, error) {
	if err := s.Request.Validate(); err != nil {
		return schedulers.Submitted{}, fmt.Errorf("simulated: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	run := d.run(s)
	ref, err := d.sim.Submit(simulator.Job{
		Submit: d.sim.Now(), Run: min(run.For, s.Request.Limit), Limit: s.Request.Limit, Nodes: int32(s.Request.Nodes),
		GPUsPerNode: int32(s.Request.GPUsPerNode), User: d.user(s.Request.User), Fails: run.ExitCode != 0,
	})
	if err != nil {
		return schedulers.Submitted{}, fmt.Errorf("simulated: %w", err)
	}
	if d.first < 0 {
		d.first = ref
	}
	d.jobs = append(d.jobs, submitted{ref: ref, s: s, run: run, at: d.sim.Now(), start: segue.NoTime, end: segue.NoTime})
	id := idOf(ref)
	return schedulers.Submitted{Job: id, Says: "Submitted simulated job " + id.String()}, nil
}

// user returns the index of a user, which is a new one if need be.
func (d *Driver) user(name string) int32 {
	i := slices.Index(d.users, name)
	if i < 0 {
		i = len(d.users)
		d.users = append(d.users, name)
	}
	return int32(i)
}

// FindByToken returns the submitted jobs that carry the token.
func (d *Driver) FindByToken(_ context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []segue.JobID
	for _, j := range d.jobs {
		if j.s.Token == token && j.at >= since {
			found = append(found, idOf(j.ref))
		}
	}
	return found, nil
}

// Status knows all jobs that were submitted and have ended.
func (d *Driver) Status(_ context.Context, ids []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := map[segue.JobID]schedulers.Status{}
	for _, id := range ids {
		j := d.own(refOf(id))
		if j == nil || !j.end.Known() {
			continue
		}
		state, code := j.ended(j.s.Request.Limit)
		known[id] = schedulers.Status{
			Life: schedulers.Ended, State: state, Submit: j.at, Start: j.start, End: j.end, ExitCode: code, User: j.s.Request.User, Token: j.s.Token,
		}
	}
	return known, nil
}

// Cancel ends a submitted job.
func (d *Driver) Cancel(_ context.Context, id segue.JobID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	j := d.own(refOf(id))
	if j == nil {
		return segue.Errorf(segue.NotFound, "simulated: no job %s was submitted", id)
	}
	if j.end.Known() {
		return nil
	}
	j.cancelled = true
	d.sim.Cancel(j.ref)
	if !j.end.Known() { // one that had not started is given up without a word
		j.end = d.sim.Now()
	}
	return nil
}

// Hold cannot be done.
func (d *Driver) Hold(context.Context, segue.JobID) error { return cannot("hold") }

// Release cannot be done.
func (d *Driver) Release(context.Context, segue.JobID) error { return cannot("release") }

// Requeue cannot be done.
func (d *Driver) Requeue(context.Context, []segue.JobID) error { return cannot("requeue") }

// SetNice cannot be done.
func (d *Driver) SetNice(context.Context, segue.JobID, int) error {
	return cannot("change the priority of")
}

// Signal cannot be done.
func (d *Driver) Signal(context.Context, segue.JobID, syscall.Signal) error { return cannot("signal") }

func cannot(what string) error {
	return segue.Errorf(segue.Invalid, "simulated: the simulator cannot %s a job", what)
}
