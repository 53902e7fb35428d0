package server

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// carriers knows whose jobs carry a token. Everybody sees the tokens in others'
// comments, and the ID of a chain in its token: so a chain is its user's whose job has
// the token of its first link, and not that of whoever names its ID first.
type carriers struct {
	cluster *schedulers.Cluster
	now     func() segue.Time
	log     *slog.Logger

	// turn holds the latest look of its own, while nobody looks.
	turn chan glance

	mu sync.Mutex
	// came is when a user first asked to hand a chain over, by both: where a look takes
	// longer than a request may, it serves who comes again.
	came map[string]segue.Time
}

// mostCame bounds how many are remembered, and cameFor for how long.
const (
	mostCame = 10_000
	cameFor  = 10 * time.Minute
)

// arrived returns when a user first asked to hand a chain over.
func (c *carriers) arrived(key string) segue.Time {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, known := c.came[key]; known && now.Sub(at) < cameFor && at <= now {
		return at
	}
	if len(c.came) >= mostCame {
		clear(c.came)
	}
	c.came[key] = now
	return now
}

// glance is a look at the queue.
type glance struct {
	state schedulers.State
	err   error
	began segue.Time
	took  time.Duration
}

func newCarriers(cluster *schedulers.Cluster, cfg Config) *carriers {
	c := &carriers{cluster: cluster, now: cfg.Now, log: cfg.Log, turn: make(chan glance, 1), came: map[string]segue.Time{}}
	c.turn <- glance{began: segue.NoTime}
	return c
}

// longestLook bounds a look at the queue, and a question about what it shows.
const longestLook = time.Minute

// refuse refuses a chain whose first link's token is on a job of another user's, and on
// none of its own that is older: of several the first one has it from segue sbatch, and
// the others from that one. Where nobody's job has it, as where the job was not submitted
// as a link or is forgotten, there is nothing to refuse. An error of kind Unavailable says
// that it cannot be told now.
func (c *carriers) refuse(ctx context.Context, chain segue.Chain, first segue.Link) error {
	key := chain.User + " " + chain.ID
	arrived := c.arrived(key)
	if state, fresh := c.cluster.Shown(); fresh {
		if jobs := carrying(state, first.Token(), chain.User); len(jobs.own) > 0 && len(jobs.others) == 0 {
			return nil
		}
	}
	// The job of whoever asks, or of whom it is taken from, may be younger than that.
	look, err := c.lookedSince(ctx, arrived)
	if look.err != nil { // who comes again has the scheduler asked again
		c.mu.Lock()
		delete(c.came, key)
		c.mu.Unlock()
	}
	if err != nil {
		return segue.Errorf(segue.Unavailable, "ask whose jobs carry %s: %w", first.Token(), err)
	}
	jobs := carrying(look.state, first.Token(), chain.User)
	if len(jobs.others) == 0 {
		return nil
	}
	if err := c.leaveSubmitted(ctx, &jobs, chain.User, first); err != nil {
		return segue.Errorf(segue.Unavailable, "ask who submitted %s: %w", first.Token(), err)
	}
	switch {
	case len(jobs.others) == 0 || len(jobs.own) > 0 && slices.Min(jobs.own) < slices.Min(jobs.others):
		return nil
	case jobs.unsure:
		return segue.Errorf(segue.Unavailable, "the scheduler does not say whose job %d is, which carries %s", slices.Min(jobs.others), first.Token())
	}
	c.log.Warn("chain is refused, whose token is on a job of another user", "chain", chain.ID, "user", chain.User, "job", slices.Min(jobs.others))
	return segue.Errorf(segue.Conflict, "job %d, another user's, carries the token of chain %s", slices.Min(jobs.others), chain.ID)
}

// carried are the jobs that carry a token, by their numbers.
type carried struct {
	own, others []int64
	unsure      bool // of one of the others nobody says whose it is
}

// carrying returns the jobs that carry a token, those of a user apart.
func carrying(state schedulers.State, token, user string) carried {
	var jobs carried
	for i := range state.Jobs {
		j := &state.Jobs[i]
		switch t, _, _, _, ok := segue.FindToken(j.Comment); {
		case !ok || t != token:
		case j.User == user:
			jobs.own = append(jobs.own, j.ID.Number)
		default:
			jobs.others = append(jobs.others, j.ID.Number)
			jobs.unsure = jobs.unsure || j.User == ""
		}
	}
	return jobs
}

// leaveSubmitted leaves of the jobs that carry a first link's token those that, as the
// accounting says, were submitted with it: whoever has a job may give it another comment
// at any time. It adds the link's job where the scheduler has forgotten that. Where
// no accounting tells, it changes nothing.
func (c *carriers) leaveSubmitted(ctx context.Context, jobs *carried, user string, first segue.Link) error {
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	driver := c.cluster.Driver()
	caps, err := driver.Capabilities(ctx)
	if err != nil || !caps.TokenSearch {
		return err
	}
	ask := map[segue.JobID]bool{}
	for _, number := range slices.Concat(jobs.own, jobs.others) {
		ask[segue.JobID{Number: number}] = true
	}
	if first.Job.Number != 0 {
		ask[segue.JobID{Number: first.Job.Number}] = true
	}
	accounted, err := driver.Status(ctx, slices.Collect(maps.Keys(ask)))
	if err != nil {
		return err
	}
	with := map[int64]bool{} // whether a job that is on record was submitted with the token
	for id, s := range accounted {
		with[id.Number] = with[id.Number] || s.Token == first.Token()
		if id == first.Job && s.Token == first.Token() && s.User == user {
			jobs.own = append(jobs.own, id.Number)
		}
	}
	relabelled := func(number int64) bool {
		submitted, known := with[number]
		return known && !submitted
	}
	jobs.own, jobs.others = slices.DeleteFunc(jobs.own, relabelled), slices.DeleteFunc(jobs.others, relabelled)
	return nil
}

// lookedSince returns what the scheduler shows in a look that began at an instant or
// later. One look serves all who came before it, and after each there is as long a pause:
// so however many ask, the scheduler is busy with it half of the time at most.
func (c *carriers) lookedSince(ctx context.Context, at segue.Time) (glance, error) {
	var last glance
	select {
	case <-ctx.Done():
		return glance{}, ctx.Err()
	case last = <-c.turn:
		defer func() { c.turn <- last }()
	}
	if last.began > c.now() { // the clock was set back since
		last.began = segue.NoTime
	}
	if last.began.Known() && last.began >= at {
		return last, last.err
	}
	if last.began.Known() {
		if err := schedulers.Sleep(ctx, last.began.Add(2*last.took).Sub(c.now())); err != nil {
			return glance{}, err
		}
	}
	// Who asks may have gone when it is over: it serves the others.
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestLook)
	defer cancel()
	last = glance{began: c.now()}
	last.state, last.err = c.cluster.Driver().State(looking)
	last.took = min(c.now().Sub(last.began), longestLook) // the clock may be set meanwhile
	return last, last.err
}
