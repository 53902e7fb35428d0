package provisioner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

// submission is one that is made, in a goroutine of its own.
type submission struct {
	link   segue.Link
	user   string
	reason string // of its decision
	began  segue.Time
	cancel context.CancelFunc

	made chan struct{} // closed when the rest is known
	took time.Duration
	got  schedulers.Submitted
	err  error
}

// After a submission that took longer than its round waited, its user waits for the next
// one so many times as long, and no round waits for that for so long. And so many may go
// on while nobody waits for them. What a user's environment or folder has sbatch do is
// nobody else's trouble.
const (
	barredTimes   = 5
	longestBarred = 15 * time.Minute
	tardyFor      = time.Hour
	mostUnderway  = 16
	// longestUnderway is longer than sbatch and the questions after it may take.
	longestUnderway = 12 * time.Minute
)

// submit records the next link, submits it, and records what came of it. Of several
// users' chains none waits for a submission that takes its time: what came of it is
// recorded in a later round.
func (c *Chains) submit(ctx context.Context, v view, decision segue.Decision) error {
	user := v.chain.User
	until, full, err := c.full(ctx, user, v.now)
	if err != nil {
		return err
	}
	if full {
		c.next[v.chain.ID] = until
		return nil
	}
	whole, err := c.store.Chain(ctx, v.chain.ID) // with what is replayed
	if err != nil {
		return err
	}
	link, err := c.on(v.chain.ID).NextLink(ctx, v.latest(), decision)
	if err != nil {
		return err
	}
	c.recent[user] = append(c.recent[user], v.now)
	s := c.begin(ctx, link, decision.Reason, schedulers.Submission{
		Submission: whole.Submission, Token: link.Token(), Request: whole.Request, Extra: c.extra(whole, link, v.links),
	})
	c.underway[link.Chain] = s
	c.await(ctx, s.user, s.made)
	_, err = c.conclude(ctx, link.Chain)
	return err
}

// begin starts a submission. Where a round may end before it does, it outlives the round.
func (c *Chains) begin(ctx context.Context, link segue.Link, reason string, what schedulers.Submission) *submission {
	if c.cfg.Shares != nil {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &submission{link: link, user: what.Request.User, reason: reason, began: c.cfg.Now(), cancel: cancel, made: make(chan struct{})}
	go func() {
		defer close(s.made)
		defer cancel()
		s.got, s.err = c.cluster.Submit(ctx, what)
		s.took = c.cfg.Now().Sub(s.began)
	}()
	return s
}

// await waits for a user's command as long as its round does: not at all for a user of
// whom one took longer than that lately.
func (c *Chains) await(ctx context.Context, user string, done <-chan struct{}) {
	if c.cfg.Shares == nil {
		<-done
		return
	}
	if until, tardy := c.tardy[user]; tardy && c.cfg.Now() < until {
		return
	}
	patience := time.NewTimer(c.cfg.Patience)
	defer patience.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-patience.C:
		c.tardy[user] = c.cfg.Now().Add(tardyFor)
		c.cfg.Log.Warn("a command of a user takes its time: the other chains go on", "user", user)
	}
}

// cancellation is one that is made, in a goroutine of its own.
type cancellation struct {
	job  segue.JobID
	done chan struct{} // closed when the rest is known
	err  error
}

// cancel cancels a job as its owner, who may hold up what does so: it is waited for as a
// submission is. Of a user one is under way at a time; what it has not done when it ends is
// asked for again in a later round, and one that failed after some minutes. why is for the log.
func (c *Chains) cancel(ctx context.Context, job segue.JobID, owner, why string) error {
	if last := c.cancelling[owner]; last != nil {
		select {
		case <-last.done:
			c.settleCancellation(owner, last)
			if last.err != nil {
				c.cfg.Log.Warn("job was not cancelled", "job", last.job.String(), "user", owner, "error", last.err)
			}
		default:
			return nil
		}
	}
	if at, failed := c.uncancelled[job]; failed && c.cfg.Now().Sub(at).Abs() < cancelAgain {
		return nil
	}
	c.cfg.Log.Info("job is cancelled", "job", job.String(), "user", owner, "why", why)
	now := &cancellation{job: job, done: make(chan struct{})}
	c.cancelling[owner] = now
	if c.cfg.Shares != nil {
		ctx = context.WithoutCancel(ctx)
	}
	go func() {
		defer close(now.done)
		now.err = c.cluster.Cancel(ctx, job, owner)
	}()
	c.await(ctx, owner, now.done)
	select {
	case <-now.done:
		c.settleCancellation(owner, now)
		return now.err
	default:
		return nil
	}
}

// cancelAgain is how long after a cancellation that failed the next one of the job is made.
const cancelAgain = 5 * time.Minute

// settleCancellation notes what came of a cancellation that is over.
func (c *Chains) settleCancellation(owner string, over *cancellation) {
	delete(c.cancelling, owner)
	now := c.cfg.Now()
	maps.DeleteFunc(c.uncancelled, func(job segue.JobID, at segue.Time) bool { return job == over.job || now.Sub(at).Abs() >= cancelAgain })
	if over.err != nil {
		c.uncancelled[over.job] = now
	}
}

// conclude records what came of the submission that is under way for a chain, if there
// is one. made reports that there is none any more.
func (c *Chains) conclude(ctx context.Context, chain string) (made bool, err error) {
	s := c.underway[chain]
	if s == nil {
		return true, nil
	}
	select {
	case <-s.made:
	default:
		if c.cfg.Now().Sub(s.began) < longestUnderway {
			return false, nil
		}
		c.cfg.Log.Error("submission does not end, and is given up", "chain", chain, "link", s.link.Number, "user", s.user)
		s.cancel()
		delete(c.underway, chain)
		return true, nil // the scheduler is asked for the token
	}
	delete(c.underway, chain)
	if c.cfg.Shares != nil && s.took > c.cfg.Patience {
		c.barred[s.user] = c.cfg.Now().Add(min(barredTimes*s.took, longestBarred)) // clocks are set
		c.cfg.Log.Warn("submission took its time: its user's next one waits", "chain", chain, "user", s.user, "took", s.took, "until", c.barred[s.user].String())
	}
	link := s.link
	switch {
	case errors.Is(s.err, schedulers.ErrAmbiguous):
		return true, s.err // the next round looks for the token
	case segue.KindOf(s.err) == segue.Invalid:
		return true, errors.Join(s.err, c.pause(ctx, chain, fmt.Sprintf("The scheduler refuses link %d: %v", link.Number, s.err)), c.lose(ctx, &link))
	case s.err != nil:
		return true, errors.Join(s.err, c.lose(ctx, &link))
	}
	was := link.State
	link.State, link.Job, link.Submitted = segue.LinkQueued, s.got.Job, c.cfg.Now()
	c.cfg.Log.Info("link is submitted", "chain", chain, "link", link.Number, "job", s.got.Job.String(), "reason", s.reason)
	return true, c.on(chain).UpdateLink(ctx, was, link)
}

// abandon gives up the submissions of chains that are another one's to keep going by
// now, who asks the scheduler what came of them.
func (c *Chains) abandon() {
	for chain, s := range c.underway {
		if c.on(chain) == nil {
			s.cancel()
			delete(c.underway, chain)
		}
	}
}

// Close ends the submissions that are under way, and records what has come of them
// already; of the others whoever works next asks the scheduler. It waits for what was told
// to end, but no longer than that may take.
func (c *Chains) Close(ctx context.Context) {
	for _, s := range c.underway {
		s.cancel()
	}
	late := time.NewTimer(closing)
	defer late.Stop()
	for chain, s := range c.underway {
		select {
		case <-s.made:
		case <-late.C:
			c.cfg.Log.Warn("submissions do not end", "chains", len(c.underway))
			return
		}
		if c.on(chain) == nil || errors.Is(s.err, schedulers.ErrAmbiguous) {
			continue
		}
		if _, err := c.conclude(ctx, chain); err != nil {
			c.cfg.Log.Warn("what came of a submission is not recorded", "chain", chain, "error", err)
		}
	}
}

// closing is how long a submission that was told to end may take for it: it is killed, and
// what it has written is waited for.
const closing = 10 * time.Second

// waits reports whether the next submission of a user waits, beside one that is under way
// or after one that took long, and until when at least.
func (c *Chains) waits(user string, now segue.Time) (until segue.Time, waits bool) {
	for _, s := range c.underway {
		if s.user == user {
			return now, true
		}
	}
	if until, barred := c.barred[user]; barred && now < until {
		return until, true
	}
	return 0, false
}

// full reports whether as many submissions are under way as may be, or an hour has seen as
// many of a user as it may, and until when at least. Either is told once an hour, however
// many chains wait for it. What was submitted before this process began is in the store.
func (c *Chains) full(ctx context.Context, user string, now segue.Time) (until segue.Time, full bool, err error) {
	if len(c.underway) >= mostUnderway {
		c.tell("", now, "as many submissions as may be are under way, and take their time: all others wait for one to end", "submissions", len(c.underway))
		return now, true, nil
	}
	recent, known := c.recent[user]
	if !known {
		if recent, err = c.store.Submissions(ctx, user, now.Add(-time.Hour), now); err != nil {
			return 0, false, err
		}
	}
	recent = slices.DeleteFunc(recent, func(at segue.Time) bool { return now.Sub(at) >= time.Hour })
	c.recent[user] = recent
	if len(recent) < c.cfg.MaxSubmissions {
		return 0, false, nil
	}
	c.tell(user, now, "user has as many submissions as an hour may see: the other links wait, the longest overdue one is next", "user", user, "submissions", len(recent))
	return recent[0].Add(time.Hour), true, nil
}

// tell warns of what is so for a user, or for all, once an hour.
func (c *Chains) tell(user string, now segue.Time, what string, args ...any) {
	if at, told := c.told[user]; told && now.Sub(at) < time.Hour {
		return
	}
	c.told[user] = now
	c.cfg.Log.Warn(what, args...)
}

// extra are the variables by which a link knows its chain. before are the links
// before it.
func (c *Chains) extra(chain segue.Chain, link segue.Link, before []segue.Link) []string {
	vars := []string{sbatch.ChainVariable + "=" + chain.ID, fmt.Sprintf("%s=%d", sbatch.LinkVariable, link.Number)}
	if file := c.readyFile(chain, link); file != "" {
		vars = append(vars, sbatch.ReadyVariable+"="+file)
	}
	if last, ok := predecessor(before); ok {
		vars = append(vars, sbatch.PredecessorVariable+"="+last.Job.String())
	}
	return vars
}
