package provisioner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// Decider answers whether to submit the next link of a chain now.
type Decider interface {
	Decide(ctx context.Context, state schedulers.State, q Question) (segue.Decision, error)
}

// ChainsConfig says how chains are kept going. Now, Decider and Exists are
// required.
type ChainsConfig struct {
	Now     func() segue.Time // may be called by several goroutines
	Decider Decider
	// Exists reports whether a user sees a file: one by which a link says that the
	// work is done, or that it is ready.
	Exists func(user, path string) bool
	// ReadyDir is the folder of the files by which links say that they are of use, of
	// chains that name none (Terms.ReadyDir); without either there are none.
	ReadyDir string
	// User, when not empty, is whose chains are kept going; otherwise everybody's.
	User string
	// Shares, when not nil, says under which lease each user's chains are kept going;
	// those of users whose own agent works are left alone. Otherwise the store's counts.
	Shares *Shares
	// Every is the time between two rounds: a link that ends before the next one is
	// followed now, unless overlap is dearer than a gap. 0 is none to speak of.
	Every time.Duration
	// DecideEvery is the longest time between two decisions about a chain of which
	// a link runs; default 5 minutes.
	DecideEvery time.Duration
	// MaxSubmissions bounds how many links are submitted in an hour, over all
	// chains of a user, so that no mistake floods the scheduler; default 60.
	MaxSubmissions int
	// Patience is how long a round waits for a submission, with Shares, before it goes on
	// with the chains of other users; default 5 seconds.
	Patience time.Duration
	Log      *slog.Logger // default slog.Default()
}

func (c ChainsConfig) withDefaults() ChainsConfig {
	if c.MaxSubmissions == 0 {
		c.MaxSubmissions = 60
	}
	if c.DecideEvery == 0 {
		c.DecideEvery = 5 * time.Minute
	}
	if c.Patience == 0 {
		c.Patience = 5 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c ChainsConfig) validate() error {
	switch {
	case c.Now == nil, c.Decider == nil, c.Exists == nil:
		return segue.Errorf(segue.Invalid, "chains: Now, Decider and Exists are required")
	case c.DecideEvery < 0:
		return segue.Errorf(segue.Invalid, "chains: a decision every %s, want more than 0", c.DecideEvery)
	case c.MaxSubmissions < 1:
		return segue.Errorf(segue.Invalid, "chains: %d submissions an hour, want at least 1", c.MaxSubmissions)
	case c.Patience < 0:
		return segue.Errorf(segue.Invalid, "chains: %s of patience, want more than 0", c.Patience)
	}
	return nil
}

// Chains is the loop that keeps chains going: observe, forecast, decide, act,
// record. What it knows is in the store; it may be killed between any two steps,
// and another one goes on.
type Chains struct {
	cfg     ChainsConfig
	store   *store.Store
	cluster *schedulers.Cluster
	// recent are the instants of the submissions of the last hour, by user.
	recent map[string][]segue.Time
	// barred is until when nothing is submitted for a user, after a slow submission.
	barred map[string]segue.Time
	// underway are the submissions that no round waits for any more, by chain, and
	// tardy until when none waits for those of a user who had such a one.
	underway map[string]*submission
	tardy    map[string]segue.Time
	// cancelling are the cancellations that are under way, by user, and uncancelled when
	// one of a job has failed.
	cancelling  map[string]*cancellation
	uncancelled map[segue.JobID]segue.Time
	// told is when it was told last that a user's submissions are enough for an hour, and
	// by no name that those under way are.
	told map[string]segue.Time
	// trouble is what keeps a chain from going on.
	trouble map[string]*Repeated
	// next is when to decide again about a chain, unless something happens to it
	// before.
	next map[string]segue.Time
	// latest is when the latest round began.
	latest segue.Time
	// shown is when the scheduler last showed the job of a live link, by the link's
	// token: as far as this process has seen.
	shown map[string]segue.Time
	// under is where changes of a chain go, in this round; nil is the store.
	under map[string]*store.Store
}

// NewChains returns the loop over the chains of a store, on a cluster. It alone
// may work on them: see store.Store.Under.
func NewChains(s *store.Store, cluster *schedulers.Cluster, cfg ChainsConfig) (*Chains, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Chains{
		cfg: cfg, store: s, cluster: cluster,
		recent: map[string][]segue.Time{}, barred: map[string]segue.Time{}, next: map[string]segue.Time{}, shown: map[string]segue.Time{},
		underway: map[string]*submission{}, tardy: map[string]segue.Time{}, cancelling: map[string]*cancellation{},
		told: map[string]segue.Time{}, trouble: map[string]*Repeated{}, uncancelled: map[segue.JobID]segue.Time{}, latest: segue.NoTime,
	}, nil
}

// RunOnce goes once through all chains. What goes wrong with one does not keep
// the others from going on; the error joins all that went wrong. While the
// scheduler does not answer nothing is done at all.
func (c *Chains) RunOnce(ctx context.Context) error {
	c.mindClock()
	// 1. Observe.
	chains, err := c.store.Chains(ctx, store.ChainQuery{User: c.cfg.User, States: []segue.ChainState{segue.ChainActive, segue.ChainPaused}})
	if err != nil {
		return err
	}
	live, owners, err := c.live(ctx, chains)
	if err != nil {
		return err
	}
	if chains, live, err = c.share(ctx, chains, live, owners); err != nil {
		return err
	}
	c.abandon()
	if len(chains) == 0 && len(live) == 0 {
		return nil
	}
	state, err := c.cluster.State(ctx)
	if err != nil {
		return fmt.Errorf("observe: %w", err)
	}
	status, err := c.cluster.Status(ctx, jobsOf(live)) // of all chains, in one question
	var all []error
	if err != nil { // the accounting is down: what the scheduler shows is known all the same
		all = append(all, fmt.Errorf("observe: %w", err))
	}
	told := hearOf(live, owners, status, c.cfg.User == "")
	c.shown = told.alive(c.shown, state.At)
	if err := c.cancelReturned(ctx, state, live); err != nil {
		all = append(all, err)
	}
	links := byChain(live)
	maps.DeleteFunc(c.next, func(id string, _ segue.Time) bool { return links[id] == nil })
	maps.DeleteFunc(c.trouble, func(id string, _ *Repeated) bool { return links[id] == nil })
	longestOverdueFirst(chains, links)
	for _, chain := range chains {
		own := links[chain.ID]
		delete(links, chain.ID)
		if !c.due(chain, own, told) {
			continue
		}
		if err := c.step(ctx, chain, state, told); err != nil {
			c.tellTrouble(chain.ID, err)
			all = append(all, fmt.Errorf("chain %s: %w", chain.ID, err))
		} else {
			delete(c.trouble, chain.ID)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for id, left := range links {
		all = append(all, c.settle(ctx, owners[id], left, told))
	}
	return errors.Join(all...)
}

// tellTrouble logs what keeps a chain from going on, unless it does for longer.
func (c *Chains) tellTrouble(chain string, err error) {
	trouble, known := c.trouble[chain]
	if !known {
		trouble = &Repeated{}
		c.trouble[chain] = trouble
	}
	if trouble.News(err, c.cfg.Now()) {
		c.cfg.Log.Warn("chain does not go on", "chain", chain, "error", err)
	}
}

// mindClock forgets what is planned, and what waits, where the clock was set back: until
// it is as late again nothing would happen.
func (c *Chains) mindClock() {
	now := c.cfg.Now()
	if c.latest.Known() && c.latest.Sub(now) > c.cfg.DecideEvery {
		c.cfg.Log.Warn("the clock was set back: all chains are decided about anew", "by", c.latest.Sub(now))
		for _, of := range []map[string]segue.Time{c.next, c.barred, c.tardy, c.told} {
			clear(of)
		}
		clear(c.recent)
	}
	c.latest = now
}

// longestOverdueFirst sorts chains by when their last link has ended, those last of which
// one has not: where not all may submit, none is passed over for ever.
func longestOverdueFirst(chains []segue.Chain, links map[string][]segue.Link) {
	since := func(chain segue.Chain) segue.Time {
		at := segue.NoTime
		for _, l := range links[chain.ID] {
			if !l.State.Final() {
				return segue.Never
			}
			at = max(at, l.End)
		}
		return at
	}
	overdue := make(map[string]segue.Time, len(chains))
	for _, chain := range chains {
		overdue[chain.ID] = since(chain)
	}
	slices.SortStableFunc(chains, func(a, b segue.Chain) int { return cmp.Compare(overdue[a.ID], overdue[b.ID]) })
}

// live returns the live links of the chains that go on, and of those that are over:
// their last jobs run to their end. owners are the chains of the links, by ID.
func (c *Chains) live(ctx context.Context, going []segue.Chain) (links []segue.Link, owners map[string]segue.Chain, err error) {
	if links, err = c.store.LiveLinks(ctx); err != nil {
		return nil, nil, err
	}
	own := map[string]segue.Chain{}
	for _, chain := range going {
		own[chain.ID] = chain
	}
	foreign := func(l segue.Link) bool { _, mine := own[l.Chain]; return !mine }
	if slices.ContainsFunc(links, foreign) {
		ended, err := c.store.Chains(ctx, store.ChainQuery{
			User: c.cfg.User, States: []segue.ChainState{segue.ChainDone, segue.ChainStopped, segue.ChainFailed}, Live: true,
		})
		if err != nil {
			return nil, nil, err
		}
		for _, chain := range ended {
			own[chain.ID] = chain
		}
	}
	return slices.DeleteFunc(links, foreign), own, nil
}

// due reports whether there may be something to do for a chain: it is time to
// decide again, or something has happened to one of its live links.
func (c *Chains) due(chain segue.Chain, live []segue.Link, status heard) bool {
	now := c.cfg.Now()
	if at, ok := c.next[chain.ID]; !ok || now >= at || len(live) == 0 {
		return true
	}
	if file := chain.Terms.DoneFile; file != "" && c.cfg.Exists(chain.User, file) {
		return true
	}
	return slices.ContainsFunc(live, func(l segue.Link) bool {
		return l.State.Final() || l.State == segue.LinkSubmitting || updated(l, status.of(l), now) != l || mishap(status.of(l)) || c.isReady(chain, l)
	})
}

// step takes one chain as far as it can go now.
func (c *Chains) step(ctx context.Context, chain segue.Chain, state schedulers.State, status heard) error {
	if made, err := c.conclude(ctx, chain.ID); !made || err != nil {
		return err
	}
	c.next[chain.ID] = c.cfg.Now().Add(c.cfg.DecideEvery)
	links, err := c.store.Links(ctx, chain.ID)
	if err != nil {
		return err
	}
	// Before what is heard is recorded: a process that dies in between halts it too.
	if why := (view{chain: chain, links: links}).halted(status); why != "" {
		c.cfg.Log.Info("chain is halted", "chain", chain.ID, "why", why)
		if err := c.on(chain.ID).SetChainState(ctx, chain.ID, chain.State, segue.ChainPaused, why); err != nil {
			return err
		}
		chain.State, chain.Why = segue.ChainPaused, why
	}
	before := links[len(links)-1].State
	if links, err = c.follow(ctx, chain, links, status); err != nil {
		return err
	}
	if last := links[len(links)-1]; last.State == segue.LinkLost && before != segue.LinkLost { // which may have paused the chain
		if chain, err = c.store.Chain(ctx, chain.ID); err != nil {
			return err
		}
	}
	v := view{chain: chain, links: links, now: c.cfg.Now(), exists: c.cfg.Exists}
	if next, why := v.verdict(); next != chain.State {
		c.cfg.Log.Info("chain has changed", "chain", chain.ID, "state", next.String(), "why", why)
		return c.on(chain.ID).SetChainState(ctx, chain.ID, chain.State, next, why)
	}
	var unstopped error
	if job, ok := v.obsolete(); ok {
		unstopped = c.cancel(ctx, job, chain.User, "its successor in chain "+chain.ID+" is ready") // the next link waits for it no longer
	}
	if !v.maySubmit() {
		return unstopped
	}
	if until, waits := c.waits(chain.User, v.now); waits {
		c.next[chain.ID] = until
		return unstopped
	}
	return errors.Join(unstopped, c.proceed(ctx, v, state))
}

// proceed decides about the next link, and submits it if it is time.
func (c *Chains) proceed(ctx context.Context, v view, state schedulers.State) error {
	// 2. and 3. Forecast and decide.
	decision, err := c.decide(ctx, v, state)
	if err != nil {
		return err
	}
	if !decision.Submit {
		next := min(decision.SubmitAt, v.now.Add(decision.Remaining))
		if !decision.Forecast.Empty() { // which changes with the queue
			next = min(next, c.next[v.chain.ID])
		}
		c.next[v.chain.ID] = max(v.now+1, next)
		number, attempt := v.next()
		return c.on(v.chain.ID).RecordDecision(ctx, store.Recorded{Chain: v.chain.ID, Number: number, Attempt: attempt, Decision: decision})
	}
	// 4. and 5. Record and act: in this order, so that a submission that nobody
	// remembers cannot be.
	return c.submit(ctx, v, decision)
}

// decide asks whether to submit the next link, unless nothing runs: then it is
// overdue.
func (c *Chains) decide(ctx context.Context, v view, state schedulers.State) (segue.Decision, error) {
	q := v.question()
	if q.Remaining <= 0 {
		return overdue(v, q), nil
	}
	decision, err := c.cfg.Decider.Decide(ctx, state, q)
	if err != nil {
		if ctx.Err() != nil {
			return segue.Decision{}, ctx.Err()
		}
		decision = unforeseen(v, q, err)
	}
	decision.Reason = strings.TrimSpace(v.again() + " " + decision.Reason)
	switch lead := v.chain.Terms.MinLead; {
	case decision.Submit:
	case q.Remaining <= lead:
		decision.Submit, decision.SubmitAt = true, decision.At
		decision.Reason = fmt.Sprintf("Submit now: you asked for a lead of at least %s, and %s remain. %s", lead, q.Remaining.Truncate(time.Second), decision.Reason)
	case q.Remaining <= c.cfg.Every && q.Prefer >= segue.NoWaste:
		decision.Submit, decision.SubmitAt = true, decision.At
		decision.Reason = fmt.Sprintf("Submit now: the current link ends in %s, before the next look at the queue. %s", q.Remaining.Truncate(time.Second), decision.Reason)
	}
	return decision, nil
}

// overdue is the decision where no link runs.
func overdue(v view, q Question) segue.Decision {
	last := v.latest()
	reason := fmt.Sprintf("Submit now: link %d has ended.", last.Number)
	switch {
	case last.State == segue.LinkLost:
		reason = "Submit now. " + v.again()
	case v.running() != nil && v.chain.Terms.Startup > 0:
		reason = fmt.Sprintf("Submit now: link %d ends within the %s that the next one needs to start up.", last.Number, v.chain.Terms.Startup)
	case v.running() != nil:
		reason = fmt.Sprintf("Submit now: link %d has reached its limit.", last.Number)
	}
	return segue.Decision{
		At: v.now, Policy: "reactive", Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, Submit: true, SubmitAt: v.now, Reason: reason,
	}
}

// unforeseen is the decision where nobody can say what the wait would be: no
// worse than what a chain of dependent jobs does.
func unforeseen(v view, q Question, err error) segue.Decision {
	return segue.Decision{
		At: v.now, Policy: "reactive", Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, SubmitAt: v.now.Add(q.Remaining),
		Reason: fmt.Sprintf("Wait until the current link ends: there is no forecast (%v).", err),
	}
}
