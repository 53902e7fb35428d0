package schedulertest

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// Harness is a driver with the cluster that it drives: idle, of at least two
// nodes, and of nobody else while the suite runs.
type Harness struct {
	Driver schedulers.Driver
	Nodes  int
	// Job returns the submission of a job that runs for so long on some nodes and
	// exits with a code.
	Job func(nodes int, limit, run time.Duration, exitCode int) schedulers.Submission
	// Pass lets time pass, in which the scheduler does its work.
	Pass func(d time.Duration)
	// CoarseLimits says that limits are kept to the minute only.
	CoarseLimits bool
}

// Run runs the suite. Its tests follow one another: they share the cluster.
func Run(t *testing.T, h Harness) {
	caps, err := h.Driver.Capabilities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if caps.Version == "" {
		t.Error("the capabilities name no version")
	}
	for name, test := range map[string]func(*testing.T, Harness, schedulers.Capabilities){
		"an idle cluster shows its nodes":               showsNodes,
		"a submission runs, ends and is remembered":     runsAndEnds,
		"a failure has its exit code":                   fails,
		"a job that is too long is ended by its limit":  timesOut,
		"a full cluster makes jobs wait":                waits,
		"a cancelled job ends":                          cancels,
		"a job that never was is not found":             neverWas,
		"a held job starts when it is released":         holds,
		"what a driver cannot do it refuses":            refuses,
		"a request beyond the cluster is refused":       tooLarge,
		"requeueing an ended job does not run it again": requeuesEnded,
	} {
		t.Run(name, func(t *testing.T) { test(t, h, caps) })
	}
}

// patience bounds how long anything may take, in seconds.
const patience = 90

// until lets time pass until done says so.
func (h Harness) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range patience {
		if done() {
			return
		}
		h.Pass(time.Second)
	}
	t.Fatalf("%s did not come true in %d seconds", what, patience)
}

func (h Harness) submit(t *testing.T, token string, s schedulers.Submission) segue.JobID {
	t.Helper()
	s.Token = token
	got, err := h.Driver.Submit(t.Context(), s)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	if got.Job.Number <= 0 || !strings.Contains(got.Says, got.Job.String()) {
		t.Errorf("submitted job %s, and the scheduler said %q", got.Job, got.Says)
	}
	return got.Job
}

// job returns a job as State shows it.
func (h Harness) job(t *testing.T, id segue.JobID) (schedulers.Job, bool) {
	t.Helper()
	s, err := h.Driver.State(t.Context())
	if err != nil {
		t.Fatalf("state: %v", err)
	}
	if s.Skipped > 0 {
		t.Errorf("%d records of the state were skipped: %v", s.Skipped, s.Problems)
	}
	for _, j := range s.Jobs {
		if j.ID == id {
			return j, true
		}
	}
	return schedulers.Job{}, false
}

// ended waits until a job has ended, and returns it.
func (h Harness) ended(t *testing.T, id segue.JobID) schedulers.Job {
	t.Helper()
	var last schedulers.Job
	h.until(t, "the end of job "+id.String(), func() bool {
		j, ok := h.job(t, id)
		last = j
		return ok && j.State.Ended()
	})
	return last
}

func showsNodes(t *testing.T, h Harness, _ schedulers.Capabilities) {
	s, err := h.Driver.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	inService := 0
	for _, n := range s.Nodes {
		if n.InService {
			inService++
		}
	}
	if inService != h.Nodes {
		t.Errorf("%d nodes in service, want %d", inService, h.Nodes)
	}
}

func runsAndEnds(t *testing.T, h Harness, caps schedulers.Capabilities) {
	since := h.now(t)
	submission := h.Job(1, time.Hour, 3*time.Second, 0)
	id := h.submit(t, "segue:suite/1.1", submission)
	h.until(t, "the start", func() bool {
		j, ok := h.job(t, id)
		return ok && j.State != segue.Pending
	})
	if j, _ := h.job(t, id); j.State == segue.Running {
		switch {
		case j.Limit != time.Hour || j.Request.Nodes != 1 || !j.Submit.Known() || !j.Start.Known() || j.Start < j.Submit:
			t.Errorf("it shows as %+v", j)
		case j.EndTime != j.Start.Add(time.Hour):
			t.Errorf("its limit ends it at %s, want an hour after %s", j.EndTime, j.Start)
		case !strings.Contains(j.Comment, "segue:suite/1.1"):
			t.Errorf("its comment is %q, want the token in it", j.Comment)
		}
	}
	j := h.ended(t, id)
	if j.State != segue.Completed || j.ExitCode != 0 || !j.EndTime.Known() || j.EndTime < j.Start {
		t.Errorf("it ended as %s with %d, from %s to %s", j.State, j.ExitCode, j.Start, j.EndTime)
	}
	found, err := h.Driver.FindByToken(t.Context(), "segue:suite/1.1", since.Add(-time.Minute))
	if err != nil || len(found) != 1 || found[0] != id {
		t.Errorf("the token finds %v, %v; want job %s", found, err, id)
	}
	if caps.Accounting { // which tells the job from another one of its number
		h.until(t, "a record of the accounting with the token", func() bool {
			known, err := h.Driver.Status(t.Context(), []segue.JobID{id})
			return err == nil && known[id].Token == "segue:suite/1.1" && known[id].User == j.User
		})
	}
	if caps.TokenSearch {
		found, err := h.Driver.FindByToken(t.Context(), "segue:suite/1.10", since.Add(-time.Minute))
		if err != nil || len(found) != 0 {
			t.Errorf("a longer token finds %v, %v; want nothing", found, err)
		}
	}
}

func (h Harness) now(t *testing.T) segue.Time {
	t.Helper()
	s, err := h.Driver.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.At
}

func fails(t *testing.T, h Harness, _ schedulers.Capabilities) {
	id := h.submit(t, "segue:suite/2.1", h.Job(1, time.Hour, time.Second, 3))
	if j := h.ended(t, id); j.State != segue.Failed || j.ExitCode != 3 {
		t.Errorf("it ended as %s with %d, want FAILED with 3", j.State, j.ExitCode)
	}
}

func timesOut(t *testing.T, h Harness, _ schedulers.Capabilities) {
	if h.CoarseLimits {
		return // it would take minutes
	}
	id := h.submit(t, "segue:suite/3.1", h.Job(1, 10*time.Second, time.Hour, 0))
	if j := h.ended(t, id); j.State != segue.Timeout || j.EndTime.Sub(j.Start) != 10*time.Second {
		t.Errorf("it ended as %s after %s, want TIMEOUT after 10s", j.State, j.EndTime.Sub(j.Start))
	}
}

func waits(t *testing.T, h Harness, _ schedulers.Capabilities) {
	all := h.submit(t, "segue:suite/4.1", h.Job(h.Nodes, time.Hour, time.Hour, 0))
	h.until(t, "the start of the first", func() bool { j, ok := h.job(t, all); return ok && j.State == segue.Running })
	next := h.submit(t, "segue:suite/5.1", h.Job(2, 2*time.Hour, time.Second, 0))
	h.Pass(3 * time.Second)
	j, ok := h.job(t, next)
	if !ok || j.State != segue.Pending || j.Start.Known() || j.Request.Nodes != 2 || j.Limit != 2*time.Hour {
		t.Errorf("the second shows as %+v, %t; want it pending, of 2 nodes for 2 hours, without a start", j, ok)
	}
	for _, id := range []segue.JobID{all, next} {
		if err := h.Driver.Cancel(t.Context(), id); err != nil {
			t.Errorf("cancel: %v", err)
		}
	}
	h.ended(t, all)
	h.ended(t, next)
}

func cancels(t *testing.T, h Harness, _ schedulers.Capabilities) {
	id := h.submit(t, "segue:suite/6.1", h.Job(1, time.Hour, time.Hour, 0))
	h.until(t, "the start", func() bool { j, ok := h.job(t, id); return ok && j.State == segue.Running })
	for range 2 { // the second time it has ended, or is about to
		if err := h.Driver.Cancel(t.Context(), id); err != nil && segue.KindOf(err) != segue.NotFound && segue.KindOf(err) != segue.Conflict {
			t.Errorf("cancel: %v", err)
		}
	}
	if j := h.ended(t, id); j.State != segue.Cancelled {
		t.Errorf("it ended as %s, want CANCELLED", j.State)
	}
}

func neverWas(t *testing.T, h Harness, _ schedulers.Capabilities) {
	id := segue.JobID{Number: 99_999_999}
	if _, ok := h.job(t, id); ok {
		t.Error("the state shows it")
	}
	known, err := h.Driver.Status(t.Context(), []segue.JobID{id})
	if err != nil || len(known) != 0 {
		t.Errorf("its status is %v, %v; want none", known, err)
	}
	if err := h.Driver.Cancel(t.Context(), id); err != nil && segue.KindOf(err) != segue.NotFound {
		t.Errorf("cancel: %v, want nothing or an error of kind not found", err)
	}
	found, err := h.Driver.FindByToken(t.Context(), "segue:nobody/1.1", h.now(t).Add(-time.Minute))
	if err != nil || len(found) != 0 {
		t.Errorf("a token that nobody carries finds %v, %v", found, err)
	}
}

func holds(t *testing.T, h Harness, caps schedulers.Capabilities) {
	if !caps.Hold {
		return
	}
	all := h.submit(t, "segue:suite/7.1", h.Job(h.Nodes, time.Hour, time.Hour, 0))
	h.until(t, "the start of the first", func() bool { j, ok := h.job(t, all); return ok && j.State == segue.Running })
	id := h.submit(t, "segue:suite/8.1", h.Job(1, time.Hour, time.Second, 0))
	if err := h.Driver.Hold(t.Context(), id); err != nil {
		t.Fatalf("hold: %v", err)
	}
	if err := h.Driver.Cancel(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	h.ended(t, all)
	h.Pass(5 * time.Second)
	if j, _ := h.job(t, id); j.State != segue.Pending {
		t.Errorf("held it is %s, want PENDING", j.State)
	}
	if caps.Nice {
		if err := h.Driver.SetNice(t.Context(), id, 100); err != nil {
			t.Errorf("set nice: %v", err)
		}
	}
	if err := h.Driver.Release(t.Context(), id); err != nil {
		t.Fatalf("release: %v", err)
	}
	if j := h.ended(t, id); j.State != segue.Completed {
		t.Errorf("released it ended as %s, want COMPLETED", j.State)
	}
}

func refuses(t *testing.T, h Harness, caps schedulers.Capabilities) {
	ctx, id := t.Context(), segue.JobID{Number: 99_999_999}
	for what, do := range map[string]struct {
		can bool
		try func(context.Context) error
	}{
		"hold":    {caps.Hold, func(ctx context.Context) error { return h.Driver.Hold(ctx, id) }},
		"release": {caps.Hold, func(ctx context.Context) error { return h.Driver.Release(ctx, id) }},
		"requeue": {caps.Requeue, func(ctx context.Context) error { return h.Driver.Requeue(ctx, []segue.JobID{id}) }},
		"nice":    {caps.Nice, func(ctx context.Context) error { return h.Driver.SetNice(ctx, id, 1) }},
		"signal":  {caps.Signals, func(ctx context.Context) error { return h.Driver.Signal(ctx, id, syscall.SIGUSR1) }},
	} {
		if err := do.try(ctx); !do.can && segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", what, err)
		}
	}
}

func tooLarge(t *testing.T, h Harness, _ schedulers.Capabilities) {
	s := h.Job(h.Nodes*1000, time.Hour, time.Second, 0)
	s.Token = "segue:suite/9.1"
	if got, err := h.Driver.Submit(t.Context(), s); segue.KindOf(err) != segue.Invalid {
		t.Errorf("job %s, error %v; want an error of kind invalid", got.Job, err)
	}
}

func requeuesEnded(t *testing.T, h Harness, caps schedulers.Capabilities) {
	if !caps.Requeue {
		return
	}
	id := h.submit(t, "segue:suite/10.1", h.Job(1, time.Hour, time.Second, 0))
	before := h.ended(t, id)
	_ = h.Driver.Requeue(t.Context(), []segue.JobID{id}) // which may say that it cannot
	h.Pass(5 * time.Second)
	if after, _ := h.job(t, id); after.State != before.State || after.Restarts != before.Restarts || after.Start != before.Start {
		t.Errorf("it was %s and is %s after %d restarts: it ran again", before.State, after.State, after.Restarts)
	}
}
