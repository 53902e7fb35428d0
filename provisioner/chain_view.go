package provisioner

import (
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// view is what is known of a chain at one instant. Its methods are the rules by
// which a chain goes on, and do nothing.
type view struct {
	chain  segue.Chain
	links  []segue.Link // by number and attempt
	now    segue.Time
	exists func(user, path string) bool
}

// latest returns the last attempt at the last link.
func (v view) latest() segue.Link { return v.links[len(v.links)-1] }

// next returns the number of the link that is to be submitted next, and which
// attempt at it that is.
func (v view) next() (number, attempt int) {
	if last := v.latest(); last.State == segue.LinkLost {
		return last.Number, last.Attempt + 1
	}
	return v.latest().Number + 1, 1
}

// again says in a sentence why the latest link is tried again; "" where it is not.
func (v view) again() string {
	if last := v.latest(); last.State == segue.LinkLost {
		return Lost(last)
	}
	return ""
}

// Lost says in a sentence what became of a lost attempt at a link.
func Lost(l segue.Link) string {
	if l.Job.Number == 0 {
		return fmt.Sprintf("Attempt %d at link %d made no job.", l.Attempt, l.Number)
	}
	return fmt.Sprintf("Job %s, attempt %d at link %d, was lost by the scheduler before it started.", l.Job, l.Attempt, l.Number)
}

// running returns the latest link that runs, nil where none does.
func (v view) running() *segue.Link {
	for i := range slices.Backward(v.links) {
		if v.links[i].State == segue.LinkRunning {
			return &v.links[i]
		}
	}
	return nil
}

// verdict returns the state in which the chain is now, and why.
func (v view) verdict() (segue.ChainState, string) {
	terms := v.chain.Terms.WithDefaults()
	if terms.DoneFile != "" && v.exists(v.chain.User, terms.DoneFile) {
		return segue.ChainDone, fmt.Sprintf("The file %s exists.", terms.DoneFile)
	}
	last, ok := v.lastEnded()
	if !ok {
		return v.chain.State, ""
	}
	if exited(last) && slices.Contains(terms.DoneCodes, last.ExitCode) {
		return segue.ChainDone, fmt.Sprintf("Link %d ended with exit code %d, which says that the work is done.", last.Number, last.ExitCode)
	}
	if n := v.fastFailures(); n >= terms.MaxFastFails {
		return segue.ChainFailed, fmt.Sprintf("%d links in a row failed within %s of their start; the last one, job %s, ended as %s with exit code %d.",
			n, terms.FastFail, last.Job, last.Ended, last.ExitCode)
	}
	if v.busy() {
		return v.chain.State, ""
	}
	switch {
	case terms.MaxLinks > 0 && v.latest().Number >= terms.MaxLinks && v.latest().State == segue.LinkEnded:
		return segue.ChainDone, fmt.Sprintf("All %d links have run.", terms.MaxLinks)
	case terms.MaxTime > 0 && v.ran() >= terms.MaxTime:
		return segue.ChainDone, fmt.Sprintf("It has run for %s, of %s that were asked for.", v.ran().Truncate(time.Second), terms.MaxTime)
	case !v.affordable():
		return segue.ChainFailed, fmt.Sprintf("One more link could go beyond %g GPU-hours: %.1f are used.", terms.MaxGPUHours, v.gpuHours())
	}
	return v.chain.State, ""
}

// exited reports whether a link ended by itself, with its exit code. One that
// FAILED with 0 did not: its launch did, or a prolog, or slurmctld lost its end.
func exited(l segue.Link) bool {
	return l.Signal == 0 && (l.Ended == segue.Completed || l.Ended == segue.Failed && l.ExitCode != 0)
}

// halted returns why an active chain is to pause, by what is heard of its jobs and
// not yet recorded; nothing if it goes on. Once it is recorded it halts no more, so
// that a chain can be resumed.
func (v view) halted(status heard) string {
	if v.chain.State != segue.ChainActive {
		return ""
	}
	for _, l := range v.links {
		s := status.of(l)
		switch {
		case l.State != segue.LinkQueued && l.State != segue.LinkRunning:
		case s.Life == schedulers.Alive && s.Reason == neverSatisfied:
			return fmt.Sprintf("Job %s of link %d depends on a job that did not end as it should have, and will never start: "+
				"cancel it or change its dependency. `segue resume %s` goes on.", l.Job, l.Number, v.chain.ID)
		case s.Life == schedulers.Ended && s.State == segue.Cancelled && v.isLast(l) && !v.superseded(l):
			return fmt.Sprintf("Job %s of link %d was cancelled. `segue resume %s` goes on.", l.Job, l.Number, v.chain.ID)
		}
	}
	return ""
}

// neverSatisfied is Slurm's reason of a job with a dependency that can never be
// met. Where Slurm does not cancel such a job (kill_invalid_depend) it pends for
// ever.
const neverSatisfied = "DependencyNeverSatisfied"

// lastEnded returns the latest link that has ended.
func (v view) lastEnded() (segue.Link, bool) {
	for _, l := range slices.Backward(v.links) {
		if l.State == segue.LinkEnded {
			return l, true
		}
	}
	return segue.Link{}, false
}

// isLast reports whether no later link was submitted.
func (v view) isLast(l segue.Link) bool { return v.latest().Number == l.Number }

// superseded reports whether a link was stopped because its successor was ready.
func (v view) superseded(l segue.Link) bool {
	return v.chain.Terms.StopPredecessor && slices.ContainsFunc(v.links, func(m segue.Link) bool { return m.Number == l.Number+1 && m.Ready.Known() })
}

// busy reports whether a link runs or waits.
func (v view) busy() bool {
	return slices.ContainsFunc(v.links, func(l segue.Link) bool { return !l.State.Final() })
}

// fastFailures counts the links that failed soon after their start, from the
// latest one back. One that was never started, or ended well, ends the count.
func (v view) fastFailures() int {
	n := 0
	for _, l := range slices.Backward(v.links) {
		if l.State == segue.LinkLost {
			continue
		}
		if l.State != segue.LinkEnded || !v.failedFast(l) {
			return n
		}
		n++
	}
	return n
}

func (v view) failedFast(l segue.Link) bool {
	failed := l.Ended == segue.Failed || l.Ended == segue.OutOfMemory || l.Ended == segue.NodeFail || l.Ended == segue.BootFail ||
		l.Ended == segue.StateUnknown
	ran := time.Duration(0)
	if l.Start.Known() && l.End.Known() {
		ran = l.End.Sub(l.Start)
	}
	return failed && ran < v.chain.Terms.WithDefaults().FastFail
}

// lostAttempts counts the attempts at the latest link that made no job, or one that
// the scheduler has lost.
func (v view) lostAttempts() int {
	n := 0
	for i := len(v.links) - 1; i >= 0 && v.links[i].State == segue.LinkLost; i-- {
		n++
	}
	return n
}

// backOff returns how long to wait after the latest link before the next is
// submitted.
func (v view) backOff() time.Duration {
	if n := v.lostAttempts(); n == 1 && v.latest().Job.Number != 0 {
		return 0 // it was taken, and is no sign of trouble with submissions
	} else if n > 0 {
		return lostPause << min(n-1, 6)
	}
	if n := v.fastFailures(); n > 0 {
		return v.chain.Terms.WithDefaults().FastFail << min(n-1, 10)
	}
	return 0
}

// rests reports whether it is too early to follow the latest link. One that ends later than
// clocks may be apart is from before the clock was set back.
func (v view) rests(last segue.Link) bool {
	pause, since := v.backOff(), v.now.Sub(last.End)
	return pause > 0 && since < pause && since > -schedulers.Skew
}

// Earliest returns when the next link of a chain may be submitted if the latest one
// has made no job, was lost again or failed at once, and false if it has not.
func Earliest(chain segue.Chain, links []segue.Link) (segue.Time, bool) {
	if len(links) == 0 {
		return segue.NoTime, false
	}
	v := view{chain: chain, links: links}
	pause := v.backOff()
	return v.latest().End.Add(pause), pause > 0
}

// lostPause is how long after an attempt that made no job another one follows;
// the pause doubles each time, up to an hour.
const lostPause = time.Minute

// maySubmit reports whether another link may be submitted now, if it is time.
func (v view) maySubmit() bool {
	terms := v.chain.Terms
	last := v.latest()
	switch {
	case v.chain.State != segue.ChainActive,
		last.State == segue.LinkSubmitting, last.State == segue.LinkQueued,
		terms.MaxLinks > 0 && last.Number >= terms.MaxLinks && last.State != segue.LinkLost,
		!v.affordable(),
		last.State.Final() && v.rests(last):
		return false
	}
	if r := v.running(); r != nil {
		switch {
		case !r.End.Known(), // without a limit nothing ends by itself
			v.atOnce() >= maxAtOnce,
			v.onTrial(r):
			return false
		}
	}
	return terms.MaxTime == 0 || v.covered() < terms.MaxTime
}

// maxAtOnce is how many links of a chain may run at once before the next one waits
// for the first of them to end. A forecast of long waits where jobs start at once
// would have all links run side by side.
const maxAtOnce = 3

func (v view) atOnce() int {
	n := 0
	for _, l := range v.links {
		if l.State == segue.LinkRunning {
			n++
		}
	}
	return n
}

// onTrial reports whether a link that runs may fail as fast as the one before it
// did. Until it is known no other follows, or a chain of failing links would not
// back off.
func (v view) onTrial(r *segue.Link) bool {
	before, ok := v.lastEnded()
	return ok && before.Number < r.Number && v.failedFast(before) && v.now.Sub(r.Start) < v.chain.Terms.WithDefaults().FastFail
}

// question asks about the next link: the one that runs now is left with what
// remains of it, less the time that the next one needs to be of use.
func (v view) question() Question {
	q := Question{Request: v.chain.Request, Prefer: v.chain.Terms.WithDefaults().Prefer, MaxLead: v.chain.Terms.MaxLead}
	if r := v.running(); r != nil && r.End.Known() {
		q.Remaining = max(0, r.End.Sub(v.now)-v.chain.Terms.Startup)
		if q.Request.Limit == 0 { // the scheduler's default, which it has applied
			q.Request.Limit = r.End.Sub(r.Start)
		}
	}
	q.Request.Nodes = max(q.Request.Nodes, 1)
	return q
}

// obsolete returns the job of a link whose successor is ready, where the chain
// asks for that.
func (v view) obsolete() (segue.JobID, bool) {
	if !v.chain.Terms.StopPredecessor {
		return segue.JobID{}, false
	}
	for _, l := range v.links {
		if l.State == segue.LinkRunning && v.superseded(l) {
			return l.Job, true
		}
	}
	return segue.JobID{}, false
}

// ran returns how long at least one link has run.
func (v view) ran() time.Duration {
	return v.union(func(l segue.Link) segue.Time { return min(l.End, v.now) })
}

// covered is what ran will be when the links that run now have ended.
func (v view) covered() time.Duration { return v.union(func(l segue.Link) segue.Time { return l.End }) }

// union returns the time that the links cover, which may overlap.
func (v view) union(end func(segue.Link) segue.Time) time.Duration {
	sum, until := time.Duration(0), segue.NoTime
	for _, l := range v.links { // starts ascend but for links that overtake, which change nothing
		if !l.Start.Known() || !l.End.Known() {
			continue
		}
		from := max(l.Start, until)
		if to := end(l); to > from {
			sum += to.Sub(from)
			until = to
		}
	}
	return sum
}

// gpuHours returns what the links have used, or may still use.
func (v view) gpuHours() float64 {
	sum := 0.0
	for _, l := range v.links {
		if l.Start.Known() && l.End.Known() {
			sum += l.End.Sub(l.Start).Hours()
		}
	}
	return sum * v.gpus()
}

func (v view) gpus() float64 {
	return float64(v.chain.Request.Nodes * max(v.chain.Request.GPUsPerNode, 1))
}

// affordable reports whether one more link stays within the chain's GPU-hours.
func (v view) affordable() bool {
	most := v.chain.Terms.MaxGPUHours
	return most == 0 || v.gpuHours()+v.limit().Hours()*v.gpus() <= most
}

// limit returns the time limit of a link. Where none was asked for it is the
// scheduler's default: the longest that a link had, while it ran, or has used.
func (v view) limit() time.Duration {
	longest := v.chain.Request.Limit
	if longest > 0 {
		return longest
	}
	for _, l := range v.links {
		if l.Start.Known() && l.End.Known() {
			longest = max(longest, l.End.Sub(l.Start))
		}
	}
	return longest
}
