package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// AdviceConfig says how long an advice is remembered. Its zero value will do.
type AdviceConfig struct {
	// Fresh is how long one answers the same question again: as long as a look at
	// the queue; default 10 seconds.
	Fresh time.Duration
	// Stale is how old one may be at most: from Fresh on it is worked out again while
	// the old one still answers; default 30 seconds.
	Stale time.Duration
	// Waiting is how many new questions may wait to be worked out, which happens one
	// after the other; default 64. Beyond them an answer is of kind Unavailable.
	Waiting int
	// Remembered is how many questions are remembered; default 10,000.
	Remembered int
	// Replicas is how many futures are simulated; default 100.
	Replicas int
}

func (c AdviceConfig) withDefaults() AdviceConfig {
	if c.Fresh == 0 {
		c.Fresh = stateFresh
	}
	if c.Stale == 0 {
		c.Stale = max(30*time.Second, c.Fresh)
	}
	if c.Waiting == 0 {
		c.Waiting = 64
	}
	if c.Remembered == 0 {
		c.Remembered = 10_000
	}
	if c.Replicas == 0 {
		c.Replicas = 100
	}
	return c
}

func (c AdviceConfig) validate() error {
	switch {
	case c.Fresh < 0 || c.Stale < c.Fresh:
		return segue.Errorf(segue.Invalid, "advice: fresh for %s, and not used after %s: want 0 or more, and the second no less", c.Fresh, c.Stale)
	case c.Waiting < 1 || c.Remembered < 1 || c.Replicas < 1:
		return segue.Errorf(segue.Invalid, "advice: %d questions that wait, %d remembered, %d replicas: want at least 1", c.Waiting, c.Remembered, c.Replicas)
	}
	return nil
}

// question is what an advice depends on, beside the queue. A remaining time is cut
// to whole minutes, so that those who ask a moment later ask the same.
type question struct {
	cluster     string
	request     segue.Request
	predecessor segue.JobID // zero where remaining counts
	remaining   time.Duration
	prefer      segue.Preference
	maxLead     time.Duration
	outlook     bool // only how long a submission now would wait
}

// remembered is an advice, or the work on it.
type remembered struct {
	advice api.Advice
	err    error
	at     segue.Time // when it was worked out
	asked  segue.Time // when it was last asked for
	// done is closed when the first answer is there; again is true while a later one
	// is worked out.
	done  chan struct{}
	again bool
	basis basis
}

// basis is what an advice stands on where there is no scheduler: while it is the
// same, so is the advice. It is zero where there is one, whose queue goes on.
type basis struct {
	by    *provisioner.Trained
	reads int // of the history
}

// advisor answers questions from memory while it can, and works one out at a time:
// a forecast simulates many futures, and thousands of requests a second ask few
// questions.
type advisor struct {
	cfg     AdviceConfig
	now     func() segue.Time
	log     *slog.Logger
	store   *store.Store
	cluster *schedulers.Cluster // nil where there is no scheduler
	model   atomic.Pointer[provisioner.Trained]

	mu      sync.Mutex
	known   map[question]*remembered
	waiting int
	stale   chan question // to be worked out again

	turn turn // of the one who works
	// These are for the one who works.
	live *provisioner.Live
	by   *provisioner.Trained
	past past

	tracer    trace.Tracer
	computed  prometheus.Counter
	computing prometheus.Histogram
}

func newAdvisor(s *store.Store, cluster *schedulers.Cluster, cfg Config) *advisor {
	a := &advisor{
		cfg: cfg.Advice.withDefaults(), now: cfg.Now, log: cfg.Log, store: s, cluster: cluster,
		known:    map[question]*remembered{},
		computed: prometheus.NewCounter(prometheus.CounterOpts{Name: "segue_advice_computed_total", Help: "Advices that were worked out, not remembered."}),
		computing: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "segue_advice_compute_duration_seconds", Help: "Time in which an advice was worked out.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 15),
		}),
	}
	a.stale = make(chan question, a.cfg.Remembered)
	a.past = past{store: s}
	a.use(cfg.Model)
	return a
}

// use lets a model decide from now on; nil lets a planner.
func (a *advisor) use(m *provisioner.Trained) {
	a.model.Store(m)
	a.forget()
}

// forget drops what was remembered: the history or the model has changed.
func (a *advisor) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.known)
	a.past.outdated.Store(true)
}

// Advise implements api.Advisor.
func (a *advisor) Advise(ctx context.Context, q api.Question) (api.Advice, error) {
	asked := question{
		cluster: q.Cluster, request: q.Request, remaining: q.Remaining.Truncate(time.Minute), prefer: q.Prefer, maxLead: q.MaxLead,
	}
	if q.Predecessor != nil {
		asked.predecessor, asked.remaining = *q.Predecessor, 0
	}
	return a.answer(ctx, asked)
}

// Forecast implements api.Advisor.
func (a *advisor) Forecast(ctx context.Context, cluster string, r segue.Request) (api.Outlook, error) {
	advice, err := a.answer(ctx, question{cluster: cluster, request: r, prefer: segue.Balanced, outlook: true})
	advice.Forecast = advice.Decision.Forecast
	return advice.Outlook, err
}

// answer returns what is remembered if it is fresh enough, and otherwise works it
// out, or waits for the one who does.
func (a *advisor) answer(ctx context.Context, q question) (api.Advice, error) {
	now := a.now()
	a.mu.Lock()
	r, ok := a.known[q]
	if ok {
		r.asked = now
	}
	switch {
	case ok && r.at == segue.NoTime: // somebody works it out for the first time
		a.mu.Unlock()
		return a.wait(ctx, r)
	case ok && now.Sub(r.at).Abs() < a.cfg.Stale:
		advice := r.advice
		if now.Sub(r.at).Abs() >= a.cfg.Fresh && !r.again {
			r.again = true
			a.later(q, r)
		}
		a.mu.Unlock()
		advice.Now = now
		return advice, nil
	case a.waiting >= a.cfg.Waiting:
		a.mu.Unlock()
		return api.Advice{}, segue.Errorf(segue.Unavailable, "advise: %d questions wait to be worked out, which is the most", a.cfg.Waiting)
	}
	r = &remembered{at: segue.NoTime, asked: now, done: make(chan struct{})}
	a.known[q] = r
	a.waiting++
	a.mu.Unlock()
	a.first(ctx, q, r)
	return a.wait(ctx, r)
}

// later puts a question on the list of those to work out again.
func (a *advisor) later(q question, r *remembered) {
	select {
	case a.stale <- q:
	default: // it will be worked out when it is too old
		r.again = false
	}
}

func (a *advisor) wait(ctx context.Context, r *remembered) (api.Advice, error) {
	select {
	case <-r.done:
		advice := r.advice
		advice.Now = a.now()
		return advice, r.err
	case <-ctx.Done():
		return api.Advice{}, segue.Errorf(segue.Unavailable, "advise: it was not worked out in time: %w", ctx.Err())
	}
}

// first works a question out for the first time, for all who wait for it, though
// the one who asked first may go. An error is nothing to remember.
func (a *advisor) first(ctx context.Context, q question, r *remembered) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Stale)
	defer cancel()
	advice, basis, err := a.work(ctx, q, nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting--
	r.advice, r.basis, r.err = advice, basis, err
	if err != nil {
		if a.known[q] == r {
			delete(a.known, q)
		}
	} else {
		r.at = a.now()
	}
	close(r.done)
}

// run works questions out again that are still asked, and forgets those that are
// not, until ctx ends.
func (a *advisor) run(ctx context.Context) {
	sweep := time.NewTicker(a.cfg.Stale)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sweep.C:
			a.sweep(a.now())
		case q := <-a.stale:
			a.refresh(ctx, q)
		}
	}
}

func (a *advisor) refresh(ctx context.Context, q question) {
	a.mu.Lock()
	known := a.known[q]
	a.mu.Unlock()
	advice, basis, err := a.work(ctx, q, known)
	if err != nil && ctx.Err() == nil {
		a.log.Warn("advice is not renewed", "error", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r, ok := a.known[q]
	switch {
	case !ok || r.at == segue.NoTime: // forgotten meanwhile
	case err != nil:
		r.again = false
	default: // those who wait for the old one have it
		a.known[q] = &remembered{advice: advice, basis: basis, at: a.now(), asked: r.asked, done: r.done}
	}
}

// sweep forgets what is too old to be of use, and what comes to be too much.
func (a *advisor) sweep(now segue.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for q, r := range a.known {
		if r.at != segue.NoTime && (now.Sub(r.at).Abs() >= a.cfg.Stale || len(a.known) > a.cfg.Remembered) {
			delete(a.known, q)
		}
	}
}

// work works a question out, when it is its turn. known is what is remembered of it,
// nil for nothing: it is the answer again where it stands on the same.
func (a *advisor) work(ctx context.Context, q question, known *remembered) (advice api.Advice, on basis, err error) {
	ctx, span := a.tracer.Start(ctx, "work out advice")
	defer func() {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}()
	if err := a.begin(ctx, false); err != nil {
		return api.Advice{}, basis{}, err
	}
	defer a.turn.give()
	if a.cluster == nil {
		if err := a.past.refresh(ctx, q.cluster, a.now()); err != nil {
			return api.Advice{}, basis{}, err
		}
		on = basis{a.by, a.past.reads}
		if known != nil && known.basis == on {
			return known.advice, on, nil
		}
	}
	began := a.now()
	defer func() {
		a.computed.Inc()
		a.computing.Observe(a.now().Sub(began).Seconds())
	}()
	if a.cluster == nil {
		advice, err = a.past.advise(a.by, a.cfg.Replicas, q)
	} else {
		advice, err = a.fromQueue(ctx, q)
	}
	return advice, on, err
}

// fromQueue works a question out from the queue as it is now.
func (a *advisor) fromQueue(ctx context.Context, q question) (api.Advice, error) {
	state, err := a.cluster.State(ctx)
	if err != nil {
		return api.Advice{}, segue.Errorf(segue.Unavailable, "advise: %w", err)
	}
	caps, err := a.cluster.Capabilities(ctx)
	if err != nil {
		return api.Advice{}, segue.Errorf(segue.Unavailable, "advise: %w", err)
	}
	if q.cluster != "" && q.cluster != caps.Cluster {
		return api.Advice{}, segue.Errorf(segue.NotFound, "cluster %q: this server is for %s", q.cluster, caps.Cluster)
	}
	if known := partitionsOf(&state); q.request.Partition != "" && len(known) > 0 && !slices.Contains(known, q.request.Partition) {
		return api.Advice{}, noPartition(q.request.Partition, known)
	}
	whole := state.Snapshot("") // the predecessor may run in another partition
	asks, err := q.ask(&whole)
	if err != nil {
		return api.Advice{}, err
	}
	snap := state.Snapshot(q.request.Partition)
	d, err := a.decide(ctx, caps.Cluster, state, asks)
	if err != nil {
		return api.Advice{}, fmt.Errorf("advise: %w", err)
	}
	return api.Advice{Decision: d, Outlook: api.Outlook{
		Cluster: caps.Cluster, Source: "scheduler", Data: state.At, Running: len(snap.Running), Pending: len(snap.Pending),
	}}, nil
}

// partitionsOf returns the partitions of the nodes of a state, in order.
func partitionsOf(state *schedulers.State) []string {
	var all []string
	for _, n := range state.Nodes {
		all = append(all, n.Partitions...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// begin waits for the turn.
func (a *advisor) begin(ctx context.Context, urgent bool) error {
	if err := a.turn.take(ctx, urgent); err != nil {
		return err
	}
	if m := a.model.Load(); m != a.by {
		a.by, a.live = m, nil
	}
	return nil
}

// Decide implements provisioner.Decider, for the loops: what they decide is never
// from memory, and comes before all questions that wait.
func (a *advisor) Decide(ctx context.Context, state schedulers.State, q provisioner.Question) (segue.Decision, error) {
	caps, err := a.cluster.Capabilities(ctx)
	if err != nil {
		return segue.Decision{}, err
	}
	if err := a.begin(ctx, true); err != nil {
		return segue.Decision{}, err
	}
	defer a.turn.give()
	return a.decide(ctx, caps.Cluster, state, q)
}

func (a *advisor) decide(ctx context.Context, cluster string, state schedulers.State, q provisioner.Question) (segue.Decision, error) {
	if a.live == nil {
		a.live = provisioner.NewLive(a.store, cluster, provisioner.LiveConfig{By: a.by, Monte: predictor.MonteCarloConfig{Replicas: a.cfg.Replicas}})
	}
	return a.live.Decide(ctx, state, q)
}

// ask returns what to ask, by the queue of the whole cluster.
func (q question) ask(snap *segue.Snapshot) (provisioner.Question, error) {
	asks := provisioner.Question{Request: q.request, Remaining: q.remaining, Prefer: q.prefer, MaxLead: q.maxLead}
	if q.predecessor == (segue.JobID{}) {
		return asks, nil
	}
	for i := range snap.Running {
		j := &snap.Running[i]
		if j.ID != q.predecessor || j.User != q.request.User {
			continue
		}
		if j.Limit == segue.Unlimited {
			return asks, segue.Errorf(segue.Invalid, "job %s has no limit: it needs no successor", j.ID)
		}
		asks.Remaining = max(0, j.Start.Add(j.Limit).Sub(snap.At))
		return asks, nil
	}
	return asks, segue.Errorf(segue.NotFound, "no job %s of %s runs", q.predecessor, q.request.User)
}
