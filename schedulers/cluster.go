package schedulers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/segue-project/segue"
)

// ErrForgotten is wrapped by an error of Driver.FindByToken that says that a job may
// have been, and that the scheduler has forgotten by now whether it was.
var ErrForgotten = errors.New("whether it was a job cannot be told any more")

// ErrAmbiguous is wrapped by an error of Driver.Submit after which the job may
// exist or not.
var ErrAmbiguous = errors.New("the scheduler may have taken the job")

// Config says how patient a Cluster is. Now is required.
type Config struct {
	Now func() segue.Time // the time
	// Confirmations is how many answers in a row, by Pause apart, must lack a job
	// before it counts as absent; default 3.
	Confirmations int
	Pause         time.Duration // default 10 seconds
	// Timeout bounds one question to the scheduler; default 60 seconds. How long a
	// submission may take its driver says: sbatch tries again by itself for two minutes.
	Timeout time.Duration
	// Owners tells jobs apart by their users before their tokens, which everybody sees:
	// for who can do something to everybody's jobs, and knows users as the scheduler does.
	// Of a job of which the scheduler does not say whose it is then nothing is known.
	Owners bool
	// Fresh is how long one State serves everybody who asks; default 10 seconds.
	Fresh time.Duration
	// Sleep waits for d or until ctx ends; by default the system's.
	Sleep func(ctx context.Context, d time.Duration) error
	Log   *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Confirmations == 0 {
		c.Confirmations = 3
	}
	if c.Pause == 0 {
		c.Pause = 10 * time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.Fresh == 0 {
		c.Fresh = 10 * time.Second
	}
	if c.Sleep == nil {
		c.Sleep = Sleep
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	switch {
	case c.Now == nil:
		return segue.Errorf(segue.Invalid, "no clock")
	case c.Confirmations < 1:
		return segue.Errorf(segue.Invalid, "%d confirmations, want at least 1", c.Confirmations)
	case c.Pause < 0 || c.Timeout < 0 || c.Fresh < 0:
		return segue.Errorf(segue.Invalid, "a pause of %s, a timeout of %s, fresh for %s: want 0 (default) or more", c.Pause, c.Timeout, c.Fresh)
	}
	return nil
}

// Sleep waits for d or until ctx ends, by the system's clock.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Cluster is a scheduler as the rest of Segue sees it.
type Cluster struct {
	driver Driver
	cfg    Config

	mu       sync.Mutex
	state    *State // the last one that was seen whole
	problems string // of which it was said so, in the log
	// missed counts for a job how many looks in a row lacked it.
	missed map[segue.JobID]missing
	// unfound counts for a token how many answers in a row lacked it.
	unfound map[string]missing

	tracing      sync.Mutex // of what follows, held while a look is had
	look, failed *look      // the last one that was had, and the last one that was not; nil before
}

type missing struct {
	times int
	last  segue.Time // of the look that counted
}

// New returns the cluster of a driver.
func New(driver Driver, cfg Config) (*Cluster, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return &Cluster{driver: driver, cfg: cfg, missed: map[segue.JobID]missing{}, unfound: map[string]missing{}}, nil
}

// Driver returns the cluster's driver, for what only it can do.
func (c *Cluster) Driver() Driver { return c.driver }

// Capabilities returns what the scheduler can do.
func (c *Cluster) Capabilities(ctx context.Context) (Capabilities, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	return c.driver.Capabilities(ctx)
}

// State returns the state of the scheduler, at most Config.Fresh old: a
// thousand chains ask the scheduler no more often than one.
func (c *Cluster) State(ctx context.Context) (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != nil && c.cfg.Now().Sub(c.state.At).Abs() < c.cfg.Fresh {
		return *c.state, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	s, err := c.driver.State(ctx)
	if err != nil {
		return State{}, fmt.Errorf("%s: state: %w", c.driver.Name(), err)
	}
	if problems := strings.Join(s.Problems, "; "); problems != c.problems {
		if c.problems = problems; s.Skipped > 0 {
			c.cfg.Log.Warn("the scheduler shows what cannot be read", "records", s.Skipped, "first", problems)
		}
	}
	c.state = &s
	return s, nil
}

// Shown is State for who will not wait: what was shown last, where that is fresh enough
// and nobody is asking at the moment.
func (c *Cluster) Shown() (state State, fresh bool) {
	if !c.mu.TryLock() {
		return State{}, false
	}
	defer c.mu.Unlock()
	if c.state == nil || c.cfg.Now().Sub(c.state.At).Abs() >= c.cfg.Fresh {
		return State{}, false
	}
	return *c.state, true
}

// Submit submits a job once. If it cannot be told whether the scheduler took it,
// the scheduler is asked for the token until the job is found, or was absent for
// Config.Confirmations answers in a row; then the error is of kind Unavailable,
// no job was made, and the caller may try again with another token. While even
// that cannot be told the error wraps ErrAmbiguous: Resolve goes on from there.
func (c *Cluster) Submit(ctx context.Context, s Submission) (Submitted, error) {
	if s.Token == "" {
		return Submitted{}, segue.Errorf(segue.Invalid, "submit: a submission without a token")
	}
	since := c.cfg.Now()
	got, err := c.driver.Submit(ctx, s)
	if err == nil {
		c.forget()
		return got, nil
	}
	if !errors.Is(err, ErrAmbiguous) {
		return Submitted{}, fmt.Errorf("submit %s: %w", s.Token, err)
	}
	c.cfg.Log.Warn("submission is ambiguous", "token", s.Token, "error", err)
	job, found, resolveErr := c.Resolve(ctx, s.Token, s.Request.User, since)
	switch {
	case resolveErr != nil:
		return Submitted{}, fmt.Errorf("submit %s: %w; then: %w", s.Token, err, resolveErr)
	case found:
		c.forget()
		return Submitted{Job: job, Says: "found by its token after: " + err.Error()}, nil
	}
	return Submitted{}, segue.Errorf(segue.Unavailable, "submit %s: no job was made: %v", s.Token, err)
}

// Resolve tells whether a submission with the token, made for a user at the instant
// since, made a job. It is sure of either answer; when it cannot be, the error wraps
// ErrAmbiguous.
func (c *Cluster) Resolve(ctx context.Context, token, owner string, since segue.Time) (job segue.JobID, found bool, err error) {
	for absent := 0; ; {
		c.forgetLook()
		jobs, _, err := c.find(ctx, token, owner, since)
		switch {
		case err != nil:
			return segue.JobID{}, false, fmt.Errorf("look for %s: %w: %w", token, ErrAmbiguous, err)
		case len(jobs) > 0:
			return jobs[0], true, nil
		}
		if absent++; absent >= c.cfg.Confirmations {
			return segue.JobID{}, false, nil
		}
		if err := c.cfg.Sleep(ctx, c.cfg.Pause); err != nil {
			return segue.JobID{}, false, fmt.Errorf("look for %s: %w: %w", token, ErrAmbiguous, err)
		}
	}
}

// Recover is Resolve for those who come again, and keeps nobody waiting: it looks once,
// and one look serves all who ask. No job was made once it says so (found is false, sure
// true): after Config.Confirmations looks in a row, at least Config.Pause apart, that
// lacked it, the last one when nothing could make it any more.
func (c *Cluster) Recover(ctx context.Context, token, owner string, since segue.Time) (job segue.JobID, found, sure bool, err error) {
	caps, err := c.Capabilities(ctx)
	if err != nil {
		return segue.JobID{}, false, false, fmt.Errorf("look for %s: %w: %w", token, ErrAmbiguous, err)
	}
	jobs, at, err := c.find(ctx, token, owner, since)
	if err != nil {
		return segue.JobID{}, false, false, fmt.Errorf("look for %s: %w: %w", token, ErrAmbiguous, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(jobs) > 0 {
		delete(c.unfound, token)
		return jobs[0], true, true, nil
	}
	if len(c.unfound) >= mostUnfound {
		clear(c.unfound) // of those whom nobody asks about any more, most of all
	}
	confirmed := again(c.unfound, token, at, c.cfg.Pause) >= c.cfg.Confirmations
	return segue.JobID{}, false, confirmed && at.Sub(since) >= caps.Lingers, nil
}

// mostUnfound bounds how many tokens are remembered.
const mostUnfound = 10_000

// find returns the jobs that carry the token, with Config.Owners but for those of others
// than the owner, and when the scheduler was looked at.
func (c *Cluster) find(ctx context.Context, token, owner string, since segue.Time) (jobs []segue.JobID, at segue.Time, err error) {
	if books, ok := c.driver.(Bookkeeper); ok && c.cfg.Owners { // of whom many ask
		look, err := c.lookFor(ctx, books, since)
		if err != nil {
			return nil, 0, err
		}
		at = look.at
		if jobs, err = look.own(token, owner); err == nil && len(jobs) == 0 {
			jobs, err = look.ledger.Find(token, owner, since)
		}
		if err != nil {
			return nil, 0, err
		}
	} else {
		at = c.cfg.Now() // no later than the look
		if jobs, err = c.findAlone(ctx, token, owner, since); err != nil {
			return nil, 0, err
		}
	}
	if len(jobs) > 1 {
		c.cfg.Log.Error("several jobs carry one token", "token", token, "jobs", jobs)
	}
	return jobs, at, nil
}

// findAlone asks the driver for the token.
func (c *Cluster) findAlone(ctx context.Context, token, owner string, since segue.Time) ([]segue.JobID, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	jobs, err := c.driver.FindByToken(ctx, token, since)
	if err != nil || len(jobs) == 0 || !c.cfg.Owners {
		return jobs, err
	}
	state, err := c.driver.State(ctx) // later than what the driver has found
	if err != nil {
		return nil, err
	}
	shown := state.byID()
	var accounted map[segue.JobID]Status
	if hidden := slices.DeleteFunc(slices.Clone(jobs), func(id segue.JobID) bool { return shown[id] != nil }); len(hidden) > 0 {
		if accounted, err = c.driver.Status(ctx, hidden); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(jobs, func(id segue.JobID) bool {
		if j := shown[id]; j != nil {
			return Foreign(j.User, owner)
		}
		return Foreign(accountedUser(accounted[id].User), owner)
	}), nil
}

// accountedUser returns whose job the accounting says one is, empty where that is not
// sure. Of a job of which slurmdbd heard the end before the start it has no number of
// a user, which is then 0: root's. It was seen for jobs that end at once.
func accountedUser(name string) string {
	if name == "root" {
		return ""
	}
	return name
}

// Foreign reports whether a job of a user is not the owner's. Where either is not
// known, nobody says so.
func Foreign(user, owner string) bool { return user != "" && owner != "" && user != owner }

// Status returns what is known of the jobs: one entry for each. The state of the
// scheduler is looked at first; the accounting, a second source, is asked for
// jobs that it lacks. A job that neither knows, or that only the accounting still
// calls alive, is Unknown, until Config.Confirmations answers in a row,
// Config.Pause apart, said so; then it has Ended, unless its limit has not. An
// error leaves all of them unknown.
func (c *Cluster) Status(ctx context.Context, jobs []segue.JobID) (map[segue.JobID]Status, error) {
	out := make(map[segue.JobID]Status, len(jobs))
	for _, id := range jobs {
		out[id] = unknown()
	}
	if len(jobs) == 0 {
		return out, nil
	}
	state, err := c.State(ctx)
	if err != nil {
		return out, err
	}
	var lacking []segue.JobID
	shown := state.byID()
	for _, id := range jobs {
		if j, ok := shown[id]; ok {
			if s := j.status(state.At); !c.cfg.Owners || j.User != "" {
				out[id] = s
			}
		} else {
			lacking = append(lacking, id)
		}
	}
	if len(lacking) == 0 {
		c.seen(jobs)
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	accounted, err := c.driver.Status(ctx, lacking)
	if err != nil {
		return out, fmt.Errorf("%s: status: %w", c.driver.Name(), err)
	}
	c.seen(jobs, lacking...)
	for _, id := range lacking {
		out[id] = c.absent(id, accounted, state.At)
	}
	return out, nil
}

// absent returns the status of a job that the scheduler did not show at an instant.
func (c *Cluster) absent(id segue.JobID, accounted map[segue.JobID]Status, at segue.Time) Status {
	s, ok := accounted[id]
	s.User = accountedUser(s.User)
	if ok && s.Life == Ended {
		return s
	}
	if !ok {
		s = unknown()
	}
	now := c.cfg.Now()
	confirmed := c.miss(id, at) >= c.cfg.Confirmations
	mayRun := s.State == segue.Running && (!s.End.Known() || s.End > now)
	s.Life = Unknown
	if confirmed && !mayRun {
		s.Life = Ended
	}
	return s
}

// seen forgets how often jobs were missed, but for those that are lacking now.
func (c *Cluster) seen(jobs []segue.JobID, lacking ...segue.JobID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range jobs {
		if !slices.Contains(lacking, id) {
			delete(c.missed, id)
		}
	}
}

// miss notes that the scheduler, looked at at an instant, lacked a job, and returns
// how many looks in a row have. Looks that follow too soon upon each other count
// once, and so does one that serves many who ask.
func (c *Cluster) miss(id segue.JobID, at segue.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return again(c.missed, id, at, c.cfg.Pause)
}

// again counts a look that lacked something, unless it follows too soon upon the one
// before, and returns how many in a row have.
func again[K comparable](counts map[K]missing, what K, at segue.Time, pause time.Duration) int {
	m := counts[what]
	if m.times == 0 || at != m.last && at.Sub(m.last).Abs() >= pause {
		m = missing{m.times + 1, at}
		counts[what] = m
	}
	return m.times
}

func unknown() Status {
	return Status{Submit: segue.NoTime, Start: segue.NoTime, End: segue.NoTime}
}

// Cancel cancels a job, as its owner where the driver can: the scheduler then lets no
// mistake of ours touch another user's. One that has ended or is not known is no error.
func (c *Cluster) Cancel(ctx context.Context, job segue.JobID, owner string) error {
	driver := c.driver
	if d, ok := driver.(Impersonator); ok {
		var err error
		if driver, err = d.As(owner); err != nil {
			return fmt.Errorf("cancel job %s as %s: %w", job, owner, err)
		}
	}
	return c.act(ctx, "cancel", job, driver.Cancel)
}

// Hold keeps a pending job from starting.
func (c *Cluster) Hold(ctx context.Context, job segue.JobID) error {
	return c.act(ctx, "hold", job, c.driver.Hold)
}

// Release lets a held job start.
func (c *Cluster) Release(ctx context.Context, job segue.JobID) error {
	return c.act(ctx, "release", job, c.driver.Release)
}

func (c *Cluster) act(ctx context.Context, what string, job segue.JobID, do func(context.Context, segue.JobID) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	defer c.forget()
	if err := do(ctx, job); err != nil && !(what == "cancel" && segue.KindOf(err) == segue.NotFound) {
		return fmt.Errorf("%s job %s: %w", what, job, err)
	}
	return nil
}

// forget drops the state, which something has changed.
func (c *Cluster) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = nil
}
