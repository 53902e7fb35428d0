package provisioner

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// follow brings the links up to date with what the scheduler says of their jobs,
// and returns them as they are now. What is unknown stays as it was.
func (c *Chains) follow(ctx context.Context, links []segue.Link) ([]segue.Link, error) {
	var jobs []segue.JobID
	for i := range links {
		l := &links[i]
		if l.State == segue.LinkSubmitting {
			if err := c.recover(ctx, l); err != nil {
				return nil, err
			}
		}
		if l.State == segue.LinkQueued || l.State == segue.LinkRunning {
			jobs = append(jobs, l.Job)
		}
	}
	status, err := c.cluster.Status(ctx, jobs)
	if err != nil {
		return nil, fmt.Errorf("observe: %w", err)
	}
	for i := range links {
		was := links[i]
		if was.State != segue.LinkQueued && was.State != segue.LinkRunning {
			continue
		}
		now := updated(was, status[was.Job], c.cfg.Now())
		if now == was {
			continue
		}
		if err := c.store.UpdateLink(ctx, was.State, now); err != nil {
			return nil, err
		}
		links[i] = now
	}
	return links, nil
}

// recover finds out what became of a submission that nobody saw the end of.
func (c *Chains) recover(ctx context.Context, l *segue.Link) error {
	job, found, err := c.cluster.Resolve(ctx, l.Token(), l.Planned)
	if err != nil {
		return err
	}
	was := l.State
	if found {
		l.State, l.Job, l.Submitted = segue.LinkQueued, job, l.Planned
	} else {
		l.State, l.End = segue.LinkLost, c.cfg.Now()
	}
	c.cfg.Log.Info("submission is recovered", "token", l.Token(), "found", found, "job", job.String())
	return c.store.UpdateLink(ctx, was, *l)
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
