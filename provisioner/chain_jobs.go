package provisioner

import (
	"context"
	"errors"
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// heard is what is known of the jobs of links, by the links' tokens and not by the
// jobs' numbers, which a scheduler that has lost a job gives to another one.
type heard map[string]schedulers.Status

func (h heard) of(l segue.Link) schedulers.Status { return h[l.Token()] }

// hearOf returns what is known of the jobs of links. The job of a link whose number
// is another job's by now has ended, and nobody knows how. owners are their chains.
// Of everybody's links a job of another user is none, whatever it carries: everybody
// sees tokens. A user's own agent goes by the token, since it may know its user by
// another name than the scheduler does, and can do nothing to others' jobs.
func hearOf(links []segue.Link, owners map[string]segue.Chain, status map[segue.JobID]schedulers.Status, everybodys bool) heard {
	h := heard{}
	for _, l := range links {
		s := status[l.Job]
		owner := owners[l.Chain].User
		if everybodys && s.Life != schedulers.Unknown && schedulers.Foreign(s.User, owner) || anothers(l, owner, s) {
			s = schedulers.Status{Life: schedulers.Ended, Submit: segue.NoTime, Start: segue.NoTime, End: segue.NoTime}
		}
		h[l.Token()] = s
	}
	return h
}

// alive returns since when nobody has seen a job, by its link's token: now for those
// that are alive, and for others what it was before.
func (h heard) alive(before map[string]segue.Time, now segue.Time) map[string]segue.Time {
	seen := make(map[string]segue.Time, len(h))
	for token, s := range h {
		if at, known := before[token]; known {
			seen[token] = at
		}
		if s.Life == schedulers.Alive {
			seen[token] = now
		}
	}
	return seen
}

// anothers reports whether a status is not of the link's own job, but of one that
// got the same number after the scheduler had lost that. A job that does not carry
// the link's token may still be its own: one that was adopted, or whose comment
// somebody has changed. It then has the same user, and is no younger unless it was
// requeued.
func anothers(l segue.Link, owner string, s schedulers.Status) bool {
	switch {
	case s.Life == schedulers.Unknown, s.Token == l.Token():
		return false
	case schedulers.Foreign(s.User, owner):
		return true
	case s.Submit == l.Submitted:
		return false
	case s.Token != "" && (l.Number > 1 || s.Restarts == 0): // a first link may have been adopted
		return true
	case s.Restarts > 0:
		return false
	}
	return s.Submit.Known() && l.Submitted.Known() && s.Submit > l.Submitted.Add(schedulers.Skew)
}

// observed returns a link by what is known of its job. One that waited and is gone
// without having been started is lost, which takes more than a look to be sure of.
func (c *Chains) observed(ctx context.Context, l segue.Link, owner string, s schedulers.Status) (segue.Link, error) {
	now := updated(l, s, c.cfg.Now())
	if !vanished(l, s) {
		return now, nil
	}
	since, err := c.since(ctx, l)
	if err != nil {
		return l, err
	}
	traced, err := c.cluster.Trace(ctx, l.Job, l.Token(), owner, since)
	switch {
	case err != nil:
		return l, fmt.Errorf("job %s of link %d is gone: %w", l.Job, l.Number, err)
	case traced.Fate == schedulers.FateUnknown:
		return l, nil
	case traced.Fate == schedulers.FateThere:
		if traced.Job != l.Job {
			c.cfg.Log.Warn("job has another number", "chain", l.Chain, "link", l.Number, "job", traced.Job.String(), "before", l.Job.String())
		}
		l.Job = traced.Job
		return updated(l, traced.Status, c.cfg.Now()), nil
	case traced.Fate == schedulers.FateOpen:
		return now, nil
	}
	c.cfg.Log.Warn("scheduler has lost a job that waited: another attempt at the link follows",
		"chain", l.Chain, "link", l.Number, "attempt", l.Attempt, "job", l.Job.String())
	if err := c.relent(ctx, l); err != nil { // before it is recorded, as in lose
		return l, err
	}
	l.State, l.End = segue.LinkLost, c.cfg.Now()
	return l, nil
}

// since returns the instant from which on the job of a link that waited may have
// run: where nothing is accounted, when it was last shown.
func (c *Chains) since(ctx context.Context, l segue.Link) (segue.Time, error) {
	caps, err := c.cluster.Capabilities(ctx)
	if at, known := c.shown[l.Token()]; known && err == nil && !caps.Accounting {
		return max(at, l.Planned), nil
	}
	return l.Planned, err
}

// vanished reports whether the job of a link that waited, and never ran, is gone
// with no word about a start or an end.
func vanished(l segue.Link, s schedulers.Status) bool {
	return l.State == segue.LinkQueued && l.Restarts == 0 && s.Restarts == 0 && s.Life == schedulers.Ended && !s.HasRun()
}

// cancelReturned cancels the jobs that the scheduler had lost and has again: their
// links are tried again, and two would run for one. Of a chain that is paused or
// stopped nothing is tried again, and they are the user's. live are the links that
// the store takes for alive.
func (c *Chains) cancelReturned(ctx context.Context, state schedulers.State, live []segue.Link) error {
	alive := map[string]bool{}
	for _, l := range live {
		alive[l.Token()] = !l.State.Final()
	}
	var all []error
	for i := range state.Jobs {
		j := &state.Jobs[i]
		token, _, _, _, ok := segue.FindToken(j.Comment)
		if !ok || alive[token] || schedulers.LifeOf(j.State) != schedulers.Alive || c.cfg.User != "" && j.User != c.cfg.User {
			continue
		}
		l, err := c.store.LinkByToken(ctx, token)
		if segue.KindOf(err) == segue.NotFound || err == nil && l.State != segue.LinkLost {
			continue // of another store, or just being followed
		}
		if err == nil {
			var chain segue.Chain
			if chain, err = c.store.Chain(ctx, l.Chain); err == nil && (chain.State == segue.ChainPaused || chain.State == segue.ChainStopped || chain.User != j.User) {
				continue
			}
		}
		if err == nil {
			err = c.cancel(ctx, j.ID, j.User, fmt.Sprintf("it was lost as link %d of chain %s, attempt %d, which is tried again", l.Number, l.Chain, l.Attempt))
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// updated returns a link by what is known of its job.
func updated(l segue.Link, s schedulers.Status, now segue.Time) segue.Link {
	if s.Life == schedulers.Unknown {
		return l
	}
	if s.Submit.Known() && s.Restarts == 0 {
		l.Submitted = s.Submit
	}
	if s.Restarts > l.Restarts {
		l.Restarts, l.Ready = s.Restarts, segue.NoTime
	}
	switch {
	case s.Life == schedulers.Ended:
		l.State, l.Ended, l.ExitCode, l.Signal = segue.LinkEnded, s.State, s.ExitCode, s.Signal
		if s.Start.Known() {
			l.Start = s.Start
		}
		if l.End = s.End; !l.End.Known() {
			l.End = now // it is gone, and nobody knows since when
		}
	case s.State == segue.Pending || s.State == segue.Requeued:
		l.State, l.Start, l.End = segue.LinkQueued, segue.NoTime, segue.NoTime
	default:
		l.State, l.Start, l.End = segue.LinkRunning, s.Start, s.End
	}
	return l
}
