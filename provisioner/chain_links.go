package provisioner

import (
	"context"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// follow brings the links up to date with what the scheduler says of their jobs,
// and returns them as they are now. What is unknown stays as it was.
func (c *Chains) follow(ctx context.Context, links []segue.Link, status map[segue.JobID]schedulers.Status) ([]segue.Link, error) {
	for i := range links {
		if links[i].State != segue.LinkSubmitting {
			continue
		}
		if err := c.recover(ctx, &links[i]); err != nil {
			return nil, err
		}
	}
	for i := range links {
		was := links[i]
		if was.State != segue.LinkQueued && was.State != segue.LinkRunning {
			continue
		}
		if err := c.letGo(ctx, was, status[was.Job]); err != nil {
			return nil, err
		}
		now := updated(was, status[was.Job], c.cfg.Now())
		if now == was {
			continue
		}
		if err := c.store.UpdateLink(ctx, was.State, now); err != nil {
			return nil, err
		}
		links[i] = now
		for _, n := range []int{i, i + 1} {
			if err := c.handedOver(ctx, links, n); err != nil {
				return nil, err
			}
		}
	}
	return links, c.hear(ctx, links)
}

// settle records what is heard of the live links of a chain that is over. One that
// still waits is of no use where the work is done, or has failed, and is cancelled;
// of a chain that its user has stopped it is the user's.
func (c *Chains) settle(ctx context.Context, over segue.ChainState, links []segue.Link, status map[segue.JobID]schedulers.Status) error {
	for i := range links {
		was := links[i]
		if was.State == segue.LinkSubmitting {
			if err := c.recover(ctx, &links[i]); err != nil {
				return err
			}
			continue
		}
		if now := updated(was, status[was.Job], c.cfg.Now()); now != was {
			if err := c.store.UpdateLink(ctx, was.State, now); err != nil {
				return err
			}
			was = now
		}
		if was.State != segue.LinkQueued || over == segue.ChainStopped || status[was.Job].Life != schedulers.Alive {
			continue
		}
		c.cfg.Log.Info("job is cancelled: its chain is over", "chain", was.Chain, "link", was.Number, "job", was.Job.String(), "state", over.String())
		if err := c.cluster.Cancel(ctx, was.Job); err != nil {
			return err
		}
	}
	return nil
}

// launchFailed is Slurm's reason of a job that it put back and holds, after a
// node or slurmctld itself failed while it was being started. Nobody meant that:
// without a release it waits for ever.
const launchFailed = "launch failed requeued held"

// mishap reports whether a scheduler holds a job by mishap.
func mishap(s schedulers.Status) bool {
	return s.Life == schedulers.Alive && strings.Contains(strings.ReplaceAll(s.Reason, "_", " "), launchFailed)
}

// isReady reports whether a link says that it is of use, and nobody heard it yet.
func (c *Chains) isReady(l segue.Link) bool {
	return c.cfg.ReadyFile != nil && l.State == segue.LinkRunning && !l.Ready.Known() && c.cfg.Exists(c.cfg.ReadyFile(l.Chain, l.Number))
}

// jobsOf returns the jobs of the links that the scheduler has.
func jobsOf(links []segue.Link) []segue.JobID {
	var jobs []segue.JobID
	for _, l := range links {
		if l.State == segue.LinkQueued || l.State == segue.LinkRunning {
			jobs = append(jobs, l.Job)
		}
	}
	return jobs
}

func byChain(links []segue.Link) map[string][]segue.Link {
	m := map[string][]segue.Link{}
	for _, l := range links {
		m[l.Chain] = append(m[l.Chain], l)
	}
	return m
}

// letGo releases the job of a link that the scheduler holds by mishap.
func (c *Chains) letGo(ctx context.Context, l segue.Link, s schedulers.Status) error {
	if !mishap(s) {
		return nil
	}
	c.cfg.Log.Warn("job is released: its launch had failed", "chain", l.Chain, "link", l.Number, "job", l.Job.String())
	return c.cluster.Release(ctx, l.Job)
}

// handedOver records what became of the hand-over to the link at a place, once
// it has started and its predecessor has ended.
func (c *Chains) handedOver(ctx context.Context, links []segue.Link, place int) error {
	if place < 1 || place >= len(links) {
		return nil
	}
	before, l := links[place-1], links[place]
	if before.State != segue.LinkEnded || !before.Start.Known() || !l.Start.Known() {
		return nil
	}
	gap := l.Start.Sub(before.End)
	return c.store.RecordOutcome(ctx, store.Outcome{
		Chain: l.Chain, Number: l.Number, At: c.cfg.Now(), Interruption: max(0, gap), Overlap: max(0, -gap),
	})
}

// hear notes which running links say that they are of use.
func (c *Chains) hear(ctx context.Context, links []segue.Link) error {
	for i := range links {
		l := &links[i]
		if !c.isReady(*l) {
			continue
		}
		at := c.cfg.Now()
		if err := c.store.MarkReady(ctx, l.Token(), at); err != nil {
			return err
		}
		l.Ready = at
	}
	return nil
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
