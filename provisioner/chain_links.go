package provisioner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// follow brings the links up to date with what the scheduler says of their jobs,
// and returns them as they are now. What is unknown stays as it was.
func (c *Chains) follow(ctx context.Context, chain segue.Chain, links []segue.Link, status heard) ([]segue.Link, error) {
	for i := range links {
		if links[i].State != segue.LinkSubmitting {
			continue
		}
		if err := c.recover(ctx, chain.User, &links[i]); err != nil {
			return nil, err
		}
	}
	for i := range links {
		was := links[i]
		if was.State != segue.LinkQueued && was.State != segue.LinkRunning {
			continue
		}
		if err := c.letGo(ctx, was, status.of(was)); err != nil {
			return nil, err
		}
		now, err := c.observed(ctx, was, chain.User, status.of(was))
		if err != nil {
			return nil, err
		}
		if now == was {
			continue
		}
		if err := c.on(was.Chain).UpdateLink(ctx, was.State, now); err != nil {
			return nil, err
		}
		links[i] = now
		if err := c.handedOver(ctx, links, now); err != nil {
			return nil, err
		}
	}
	return links, c.hear(ctx, chain, links)
}

// settle records what is heard of the live links of a chain that is over. One that
// still waits is of no use where the work is done, or has failed, and is cancelled;
// of a chain that its user has stopped it is the user's.
func (c *Chains) settle(ctx context.Context, over segue.Chain, links []segue.Link, status heard) error {
	for i := range links {
		was := links[i]
		if was.State == segue.LinkSubmitting {
			var err error
			if c.underway[was.Chain] != nil {
				_, err = c.conclude(ctx, was.Chain)
			} else {
				err = c.recover(ctx, over.User, &links[i])
			}
			if err != nil {
				return err
			}
			continue
		}
		now, err := c.observed(ctx, was, over.User, status.of(was))
		if err != nil {
			return err
		}
		if now != was {
			if err := c.on(was.Chain).UpdateLink(ctx, was.State, now); err != nil {
				return err
			}
			was = now
		}
		if was.State != segue.LinkQueued || over.State == segue.ChainStopped || status.of(was).Life != schedulers.Alive {
			continue
		}
		why := fmt.Sprintf("link %d of chain %s, which is %s", was.Number, was.Chain, over.State)
		if err := c.cancel(ctx, was.Job, over.User, why); err != nil {
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
func (c *Chains) isReady(chain segue.Chain, l segue.Link) bool {
	if l.State != segue.LinkRunning || l.Ready.Known() {
		return false
	}
	file := c.readyFile(chain, l)
	return file != "" && c.cfg.Exists(chain.User, file)
}

// readyFile returns the file by which a link says that it is of use, empty for none.
func (c *Chains) readyFile(chain segue.Chain, l segue.Link) string {
	dir := cmp.Or(chain.Terms.ReadyDir, c.cfg.ReadyDir)
	if dir == "" {
		return ""
	}
	return segue.ReadyFile(dir, l.Chain, l.Number)
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

// handedOver records what became of the hand-overs to a link that has changed, and
// from it, of which the later one has started and the earlier one ended. Attempts
// of which nothing ran do not stand between two links.
func (c *Chains) handedOver(ctx context.Context, links []segue.Link, changed segue.Link) error {
	for i, l := range links {
		before, ok := predecessor(links[:i])
		if !ok || l != changed && before != changed || before.State != segue.LinkEnded || !before.Start.Known() || !l.Start.Known() {
			continue
		}
		gap := l.Start.Sub(before.End)
		err := c.on(l.Chain).RecordOutcome(ctx, store.Outcome{
			Chain: l.Chain, Number: l.Number, At: c.cfg.Now(), Interruption: max(0, gap), Overlap: max(0, -gap),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// predecessor returns the last of the links that were not lost.
func predecessor(links []segue.Link) (segue.Link, bool) {
	for _, l := range slices.Backward(links) {
		if l.State != segue.LinkLost {
			return l, true
		}
	}
	return segue.Link{}, false
}

// hear notes which running links say that they are of use.
func (c *Chains) hear(ctx context.Context, chain segue.Chain, links []segue.Link) error {
	for i := range links {
		l := &links[i]
		if !c.isReady(chain, *l) {
			continue
		}
		at := c.cfg.Now()
		if err := c.on(l.Chain).MarkReady(ctx, l.Token(), at); err != nil {
			return err
		}
		l.Ready = at
	}
	return nil
}

// recover finds out what became of a submission that nobody saw the end of. It looks
// once a round: a chain whose link is being submitted holds up no other.
func (c *Chains) recover(ctx context.Context, owner string, l *segue.Link) error {
	job, found, sure, err := c.cluster.Recover(ctx, l.Token(), owner, l.Planned)
	switch {
	case errors.Is(err, schedulers.ErrForgotten):
		return c.giveUp(ctx, l)
	case err != nil:
		return err
	case !sure:
		return nil
	}
	c.cfg.Log.Info("submission is recovered", "token", l.Token(), "found", found, "job", job.String())
	if !found {
		return c.lose(ctx, l)
	}
	l.State, l.Job, l.Submitted = segue.LinkQueued, job, l.Planned
	return c.on(l.Chain).UpdateLink(ctx, segue.LinkSubmitting, *l)
}

// giveUp has a person look whether a submission made a job, of which Slurm does not
// know any more.
func (c *Chains) giveUp(ctx context.Context, l *segue.Link) error {
	err := c.pause(ctx, l.Chain, fmt.Sprintf("Nobody saw whether the submission of link %d at %s made a job, and the scheduler has forgotten by now: "+
		"see whether it ran, by what it has written. `segue resume %s` submits it again.", l.Number, l.Planned, l.Chain))
	if err != nil {
		return err
	}
	return c.lose(ctx, l)
}

// lose records that an attempt at a link came to nothing. A chain whose attempts do
// so again and again pauses before that, so that it does if this process dies in
// between.
func (c *Chains) lose(ctx context.Context, l *segue.Link) error {
	if err := c.relent(ctx, *l); err != nil {
		return err
	}
	was := l.State
	l.State, l.End = segue.LinkLost, c.cfg.Now()
	return c.on(l.Chain).UpdateLink(ctx, was, *l)
}

// maxLostAttempts is how many attempts at a link may make no job, or one that is
// lost, before its chain is paused, and again after it was resumed.
const maxLostAttempts = 20

// relent pauses the chain of an attempt that comes to nothing if it is one too many.
func (c *Chains) relent(ctx context.Context, l segue.Link) error {
	if l.Attempt%maxLostAttempts != 0 {
		return nil
	}
	return c.pause(ctx, l.Chain,
		fmt.Sprintf("%d attempts at link %d made no job, or one that was lost. `segue resume %s` goes on.", l.Attempt, l.Number, l.Chain))
}

// pause pauses a chain that goes on.
func (c *Chains) pause(ctx context.Context, chain, why string) error {
	err := c.on(chain).SetChainState(ctx, chain, segue.ChainActive, segue.ChainPaused, why)
	if segue.KindOf(err) == segue.Conflict {
		return nil
	}
	return err
}
