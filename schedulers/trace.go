package schedulers

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
)

// Fate is what became of a job that waited when it was last shown, and that no
// source knows by its number any more.
type Fate uint8

// What may have become of such a job. FateUnknown is the zero value.
const (
	FateUnknown Fate = iota // it cannot be told yet: the accounting lags behind
	FateOpen                // nobody can tell any more: it may have run, and been forgotten
	FateThere               // it is there all the same, or has run
	FateLost                // the scheduler has lost it, and never started it
)

// Traced is a job's fate.
type Traced struct {
	Fate Fate
	// Job is its number where Fate is FateThere.
	Job segue.JobID
	// Status is what the accounting says of a job that is there, and that the
	// scheduler does not show: its Life is Unknown where the scheduler shows it.
	Status Status
}

// Trace tells the fate of a job of the owner's that waited when it was last shown, that
// carries the token and was submitted at the instant since, once Status has said that it
// ended, and of no source how. Before another one may take its place it is looked
// for by its token. Where the accounting answers, and has been told everything, a
// job of which it knows no start never had one. Without accounting only a job that
// was submitted so lately that it could not have run and been forgotten is lost for
// certain. An error, of kind Unavailable, leaves the fate unknown.
func (c *Cluster) Trace(ctx context.Context, id segue.JobID, token, owner string, since segue.Time) (Traced, error) {
	if !c.cfg.Owners {
		owner = ""
	}
	books, ok := c.driver.(Bookkeeper)
	if !ok {
		return c.traceAlone(ctx, id, token, owner, since)
	}
	look, err := c.lookFor(ctx, books, since)
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	shown, err := look.own(token, owner)
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if len(shown) > 0 {
		return Traced{Fate: FateThere, Job: shown[0], Status: unknown()}, nil
	}
	return look.ledger.fate(id, token, owner, since), nil
}

// look is what the scheduler shows and has on record, at one instant. It serves all
// whose jobs are traced then: a thousand ask no more often than one.
type look struct {
	at     segue.Time        // no later than when what is shown was so
	had    segue.Time        // when it was had
	since  segue.Time        // from when on the ledger was asked for
	shown  map[string][]*Job // by token
	ledger Ledger
	err    error
}

// own returns the jobs that are shown with the token, but for those of others than the
// owner, who may be empty for anybody. Where it is not shown whose the only ones are,
// nobody knows.
func (l *look) own(token, owner string) (jobs []segue.JobID, err error) {
	for _, j := range l.shown[token] {
		switch {
		case owner != "" && j.User == "":
			err = segue.Errorf(segue.Unavailable, "whose job %s is, which carries %s, is not shown", j.ID, token)
		case !Foreign(j.User, owner):
			jobs = append(jobs, j.ID)
		}
	}
	if len(jobs) > 0 {
		err = nil
	}
	return jobs, err
}

// lookFor returns a look, at most Config.Fresh old, whose ledger reaches back to the
// instant since. One that does not is asked for anew, twice as far back as is
// needed, so that a few questions do for links of all ages. A failure serves too, those
// who want to know as much or more: where nobody answers, not everybody waits for that,
// and who asks for too much spoils nothing for others.
func (c *Cluster) lookFor(ctx context.Context, books Bookkeeper, since segue.Time) (*look, error) {
	c.tracing.Lock()
	defer c.tracing.Unlock()
	now := c.cfg.Now()
	fresh := func(l *look) bool { return l != nil && now.Sub(l.had).Abs() < c.cfg.Fresh }
	from := since
	switch {
	case fresh(c.look) && c.look.since <= since:
		return c.look, nil
	case fresh(c.failed) && since <= c.failed.since:
		return nil, c.failed.err
	case fresh(c.look) && !fresh(c.failed):
		from = since.Add(min(0, since.Sub(now)))
	}
	l := &look{since: from, shown: map[string][]*Job{}}
	state, err := c.State(ctx)
	if err == nil {
		for i := range state.Jobs {
			if token, _, _, _, ok := segue.FindToken(state.Jobs[i].Comment); ok {
				l.shown[token] = append(l.shown[token], &state.Jobs[i])
			}
		}
		ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
		defer cancel()
		l.ledger, err = books.Ledger(ctx, from)
		l.ledger.index()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // who asks has gone: that is nobody else's failure
	}
	l.at, l.had, l.err = state.At, c.cfg.Now(), err
	if err != nil {
		c.failed = l
		return nil, err
	}
	c.look = l
	return l, nil
}

// forgetLook has the next one who asks look anew.
func (c *Cluster) forgetLook() {
	c.forget()
	c.tracing.Lock()
	defer c.tracing.Unlock()
	c.look, c.failed = nil, nil
}

// traceAlone asks a driver that is no Bookkeeper.
func (c *Cluster) traceAlone(ctx context.Context, id segue.JobID, token, owner string, since segue.Time) (Traced, error) {
	jobs, _, unseen := c.find(ctx, token, owner, since)
	if unseen == nil && len(jobs) == 0 {
		return Traced{Fate: FateLost, Status: unknown()}, nil
	}
	c.forget()
	state, err := c.State(ctx)
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	own := state.byID()
	for _, job := range state.Carrying(token) {
		if !Foreign(own[job].User, owner) {
			return Traced{Fate: FateThere, Job: job, Status: unknown()}, nil
		}
	}
	caps, err := c.Capabilities(ctx)
	switch {
	case err != nil:
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	case !caps.Accounting:
		return Traced{Fate: FateOpen, Status: unknown()}, nil
	case unseen == nil:
		id = jobs[0] // else the accounting keeps no tokens, and is asked by the number
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	accounted, err := c.driver.Status(ctx, []segue.JobID{id})
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if s, ok := accounted[id]; ok && s.Token == token && !Foreign(accountedUser(s.User), owner) && s.HasRun() {
		return Traced{Fate: FateThere, Job: id, Status: s}, nil
	}
	return Traced{Fate: FateLost, Status: unknown()}, nil
}
