package shadow

import (
	"container/heap"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/simulator"
)

// Config says what to judge. History, World, From, Until and Cluster are required.
type Config struct {
	History []segue.Job
	World   World
	// From and Until bound the ends of the predecessors.
	From, Until segue.Time
	Rule        Rule
	// Cluster is what the advice believes, as for provisioner.Advise, By the trained
	// model that gives it, nil for a planner.
	Cluster simulator.Config
	By      *provisioner.Trained
	Monte   predictor.MonteCarloConfig
	Prefer  segue.Preference // default balanced
	MaxLead time.Duration    // never submit earlier than this before the end; 0 is no cap
	// Every is how often advice is asked for while a predecessor runs, and the
	// distance of the submissions among which the oracle chooses; default 30 minutes.
	// Where advice names an earlier instant, it is asked for then.
	Every time.Duration
	// Advice, when not nil, is what was advised and written down at the time: it is
	// followed, and nobody is asked again. Hand-overs about which there is none are
	// left out and counted.
	Advice []Advice
	// Advised, when not nil, is told of all advice. Progress is told how many
	// hand-overs are judged.
	Advised  func(h Handover, d segue.Decision)
	Progress func(done, total int)
}

func (c Config) withDefaults() Config {
	if c.Prefer == 0 {
		c.Prefer = segue.Balanced
	}
	if c.Every == 0 {
		c.Every = outcomes.DefaultStep
	}
	return c
}

func (c Config) validate() error {
	switch {
	case len(c.Cluster.Pools) != 1 || len(c.World.Cluster.Pools) != 1:
		return segue.Errorf(segue.Invalid, "the cluster has %d pools and its world %d, want 1", len(c.Cluster.Pools), len(c.World.Cluster.Pools))
	case c.Until <= c.From:
		return segue.Errorf(segue.Invalid, "the period ends at %s, which is not after its beginning at %s", c.Until, c.From)
	case c.Every < time.Minute:
		return segue.Errorf(segue.Invalid, "advice every %s, want at least a minute", c.Every)
	case c.MaxLead < 0:
		return segue.Errorf(segue.Invalid, "the longest lead is %s, want 0 (no cap) or more", c.MaxLead)
	}
	return nil
}

// Result is what was found and what it came to.
type Result struct {
	Found  Found
	Judged []Judged // in the order of Found.Handovers
	// Lead is that of FixedLead, and Leads what each of 0, Every, 2 Every, ... came to
	// in the mean.
	Lead  time.Duration
	Leads []evaluation.Point
}

// Judge finds the hand-overs of the period and goes through the history once,
// asking for advice while each predecessor runs and trying submissions in the
// world. The errors of kind Invalid name what makes no sense.
func Judge(ctx context.Context, cfg Config) (Result, error) {
	r, err := judge(ctx, cfg.withDefaults())
	if err != nil {
		return Result{}, fmt.Errorf("shadow: %w", err)
	}
	return r, nil
}

func judge(ctx context.Context, cfg Config) (Result, error) {
	if err := cfg.validate(); err != nil {
		return Result{}, err
	}
	eligible := eligibility(cfg.World, cfg.History)
	found, err := Find(cfg.History, eligible, cfg.From, cfg.Until, cfg.Rule)
	if err != nil {
		return Result{}, err
	}
	j := &judgement{Config: cfg, judged: make([]Judged, len(found.Handovers)), eligible: eligible}
	if j.world, err = newWorld(cfg.World, cfg.History, eligible); err != nil {
		return Result{}, err
	}
	if j.adviser, err = newAdviser(cfg); err != nil {
		return Result{}, err
	}
	if cfg.Advice != nil {
		j.advised = byJob(cfg.Advice)
		found.Handovers = slices.DeleteFunc(found.Handovers, func(h Handover) bool { return j.advised.about(&cfg.History[h.Before]) == 0 })
		found.Unadvised = len(j.judged) - len(found.Handovers)
		j.judged = j.judged[:len(found.Handovers)]
	}
	j.plan(found.Handovers)
	for len(j.tasks) > 0 {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if err := j.do(ctx, heap.Pop(&j.tasks).(task)); err != nil {
			return Result{}, err
		}
	}
	j.shift()
	leads := j.leads()
	return Result{Found: found, Judged: j.judged, Lead: j.fixLead(leads), Leads: leads}, nil
}

// judgement is a judgement under way. Tasks are done in the order of time, since
// the world and the adviser go through the history with them.
type judgement struct {
	Config
	judged   []Judged
	eligible []segue.Time
	world    *world
	adviser  *adviser
	advised  advised  // nil where the adviser is asked
	absent   []absent // by hand-over
	left     []int    // tasks by hand-over
	done     int
	tasks    tasks
}

// plan puts down the tasks of all hand-overs that are known from the beginning:
// the user's submission, and those that the oracle may choose.
func (j *judgement) plan(handovers []Handover) {
	j.left = make([]int, len(handovers))
	lines := map[int][]int{} // by job
	for _, line := range allLines(j.History) {
		for _, i := range line {
			lines[i] = line
		}
	}
	for n, h := range handovers {
		a, b := &j.History[h.Before], &j.History[h.After]
		j.absent = append(j.absent, absentIn(j.History, lines[h.Before], h))
		j.judged[n] = Judged{Handover: h}
		for w := range Ways {
			j.judged[n].Submit[w], j.judged[n].Start[w] = segue.NoTime, segue.NoTime
		}
		j.judged[n].Submit[Recorded], j.judged[n].Start[Recorded] = b.Submit, b.Start
		j.add(task{max(j.eligible[h.After], a.Start), n, tryUser})
		if b.Submit > a.Start && j.eligible[h.After] <= b.Submit.Add(atOnce) {
			j.add(task{b.Submit, n, forecast})
		}
		for lead := time.Duration(0); lead < a.Run(); lead += j.Every {
			j.add(task{a.End.Add(-lead), n, tryOther})
		}
		if j.advised == nil {
			j.add(task{min(a.Start.Add(j.Every), a.End), n, ask})
			continue
		}
		advice, submit := j.advised.follow(a)
		if j.judged[n].Asked = j.advised.about(a); advice != nil {
			j.judged[n].Decision = advice.decision()
		}
		j.add(task{submit, n, trySegue})
	}
}

// atOnce is the wait up to which a job is taken to start, or to be eligible, at
// once: a scheduler looks at the queue every half minute or so.
const atOnce = time.Minute

func (j *judgement) add(t task) {
	j.left[t.handover]++
	heap.Push(&j.tasks, t)
}

func (j *judgement) do(ctx context.Context, t task) error {
	if err := j.perform(ctx, t); err != nil {
		return fmt.Errorf("job %s at %s: %w", j.History[j.judged[t.handover].After].ID, t.at, err)
	}
	if j.left[t.handover]--; j.left[t.handover] == 0 {
		if j.done++; j.Progress != nil {
			j.Progress(j.done, len(j.judged))
		}
	}
	return nil
}

func (j *judgement) perform(ctx context.Context, t task) error {
	h := &j.judged[t.handover]
	switch t.kind {
	case tryUser:
		_, err := j.try(t, User)
		return err
	case tryOther:
		return j.tryOther(t)
	case trySegue:
		_, err := j.try(t, Segue)
		return err
	case forecast:
		d, err := j.adviser.advise(ctx, t.at, h.Handover, h.After, j.absent[t.handover])
		h.Forecast = d.Forecast
		return err
	}
	return j.ask(ctx, t)
}

// ask asks for advice and follows it: it submits, or asks again later.
func (j *judgement) ask(ctx context.Context, t task) error {
	h := &j.judged[t.handover]
	end := j.History[h.Before].End
	if t.at >= end {
		_, err := j.try(task{end, t.handover, ask}, Segue)
		return err
	}
	// What the successor will ask for is not known yet: the same again.
	d, err := j.adviser.advise(ctx, t.at, h.Handover, h.Before, j.absent[t.handover])
	if err != nil {
		return err
	}
	if h.Asked++; j.Advised != nil {
		j.Advised(h.Handover, d)
	}
	if d.Submit {
		h.Decision = &d
		_, err := j.try(t, Segue)
		return err
	}
	j.add(task{min(nextAfter(t.at, d.SubmitAt), t.at.Add(j.Every), end), t.handover, ask})
	return nil
}

// tryOther submits a multiple of Every before the end. The tasks come longest lead
// first.
func (j *judgement) tryOther(t task) error {
	h := &j.judged[t.handover]
	way := Oracle
	if t.at == j.History[h.Before].End {
		way = AfterAny
	}
	start, err := j.try(t, way)
	h.tried = append(h.tried, start)
	return err
}

// try submits the successor in the world, one way, and returns its start. The
// oracle takes what is cheapest of all that is tried.
func (j *judgement) try(t task, way Way) (segue.Time, error) {
	h := &j.judged[t.handover]
	start, err := j.world.start(t.at, h.After, j.absent[t.handover])
	if err != nil {
		return segue.NoTime, err
	}
	for _, w := range [...]Way{way, Oracle} {
		if w != Oracle || !h.Start[Oracle].Known() || j.cost(h, start) < j.cost(h, h.Start[Oracle]) {
			h.Submit[w], h.Start[w] = t.at, start
		}
	}
	return start, nil
}
