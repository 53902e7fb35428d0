package trainer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
)

// ContestConfig says which model to judge on what. Replays, Pairs, Period and
// Challenger are required.
type ContestConfig struct {
	Replays []Replay
	Pairs   []segue.Shape
	// Period is a stretch that neither model has seen. Starts whose pair could
	// reach beyond it are left out.
	Period     evaluation.Period
	Challenger *learned.Model
	// Champion is the model that decides so far; nil where there is none.
	Champion *learned.Model
	Every    time.Duration // between starts; default 4 hours
	Grid     outcomes.Grid // of leads; default every 30 minutes
	Monte    predictor.MonteCarloConfig
	Workers  int
	Judge    evaluation.JudgeConfig
	// Progress, when not nil, is told the number of episodes done and to do. It
	// is called from several goroutines.
	Progress func(done, total int)
}

func (c ContestConfig) withDefaults() ContestConfig {
	if c.Every == 0 {
		c.Every = 4 * time.Hour
	}
	return c
}

func (c ContestConfig) validate() error {
	switch {
	case len(c.Replays) == 0:
		return segue.Errorf(segue.Invalid, "no replay")
	case len(c.Pairs) == 0:
		return segue.Errorf(segue.Invalid, "no pair")
	case c.Challenger == nil:
		return segue.Errorf(segue.Invalid, "no challenger")
	case c.Every < time.Minute:
		return segue.Errorf(segue.Invalid, "a start every %s, want at least a minute between two", c.Every)
	case c.Period.From >= c.Period.To:
		return segue.Errorf(segue.Invalid, "the period ends at %s and begins at %s", c.Period.To, c.Period.From)
	}
	return nil
}

// Contest judges the challenger by what its default policy costs a start at the
// balanced preference, which is not tuned, guarded as in advice. It is compared
// with the champion (evaluation.Judge); where there is none, with the planner
// that turned out best on the same starts (evaluation.Admit).
func Contest(ctx context.Context, cfg ContestConfig) (evaluation.Verdict, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return evaluation.Verdict{}, fmt.Errorf("contest: %w", err)
	}
	c := contest{ContestConfig: cfg, planners: make([][]float64, len(untuned()))}
	if err := c.run(ctx); err != nil {
		return evaluation.Verdict{}, fmt.Errorf("contest: %w", err)
	}
	if cfg.Champion != nil {
		return evaluation.Judge(c.starts, c.champion, c.challenger, cfg.Judge)
	}
	name, costs := c.bestPlanner()
	return evaluation.Admit(c.starts, name, costs, c.challenger, cfg.Judge)
}

// untuned returns the planners' rules with the parameter that needs no tuning:
// the forecast as it is, or the quantile that the preference asks for.
func untuned() []policy.Rule {
	var rules []policy.Rule
	planners := policy.Planners()
	for _, f := range policy.Families() {
		switch {
		case !slices.Contains(planners, f.Name):
		case f.Form == policy.Scale:
			rules = append(rules, f.With(1))
		case f.Form == policy.Quantile:
			rules = append(rules, f.With(segue.Balanced.CriticalQuantile()))
		}
	}
	return rules
}

// contest is a contest under way: the costs of every start so far, in hours.
type contest struct {
	ContestConfig
	starts               evaluation.Starts
	champion, challenger []float64
	planners             [][]float64 // one list for each of untuned
}

func (c *contest) run(ctx context.Context) error {
	starts := Starts(c.Period.From, c.Period.To, c.Every)
	var done atomic.Int64
	total := len(starts) * len(c.Replays) * len(c.Pairs)
	for _, replay := range c.Replays {
		for _, pair := range c.Pairs {
			episodes, err := Collect(ctx, c.setup(replay, pair), within(starts, replay.span()), func(int) {
				if n := done.Add(1); c.Progress != nil {
					c.Progress(int(n), total)
				}
			})
			if err != nil {
				return fmt.Errorf("%s on the %s replay: %w", pair, replay.Name, err)
			}
			if err := c.add(episodes, pair.Limit*3/2); err != nil {
				return fmt.Errorf("%s on the %s replay: %w", pair, replay.Name, err)
			}
		}
	}
	return nil
}

func (c *contest) setup(r Replay, pair segue.Shape) Setup {
	pair.Nodes = min(pair.Nodes, r.Cluster.Pools[0].Nodes)
	return Setup{
		Cluster: r.Cluster, Jobs: r.Jobs, Pair: pair, Grid: c.Grid, MonteCarlo: c.Monte, Workers: c.Workers,
		Forecasters: []string{}, Describe: true,
	}
}

// add adds the costs of the episodes that can be judged.
func (c *contest) add(episodes []Episode, embargo time.Duration) error {
	CorrectPlanner(episodes, nil)
	var err error
	if c.Champion != nil {
		if c.champion, err = c.addModel(c.champion, c.Champion, episodes, embargo); err != nil {
			return fmt.Errorf("champion: %w", err)
		}
	}
	if c.challenger, err = c.addModel(c.challenger, c.Challenger, episodes, embargo); err != nil {
		return fmt.Errorf("challenger: %w", err)
	}
	for _, e := range judged(episodes, c.Period, embargo) {
		c.starts.At = append(c.starts.At, e.Curve.Submit)
		c.starts.Reactive = append(c.starts.Reactive, e.Curve.Reactive().Hours())
		for i, rule := range untuned() {
			c.planners[i] = append(c.planners[i], costOf(&e, chosenLead(&e, rule)))
		}
	}
	return nil
}

// addModel appends what a model's decisions cost. Its forecasts replace those
// that an earlier one left in the episodes.
func (c *contest) addModel(costs []float64, m *learned.Model, episodes []Episode, embargo time.Duration) ([]float64, error) {
	if err := Foretell(episodes, m.NewForecaster); err != nil {
		return nil, err
	}
	Recalibrate(episodes, nil)
	castDoubt(episodes)
	contender, err := Guarded(m, "")
	if err != nil {
		return nil, err
	}
	balanced := slices.Index(contender.Params(), float64(segue.Balanced))
	for _, e := range judged(episodes, c.Period, embargo) {
		chosen, err := contender.Choose(&e)
		if err != nil {
			return nil, err
		}
		costs = append(costs, costOf(&e, chosen[balanced]))
	}
	return costs, nil
}

// costOf returns what a submission at the lead of that index costs, in hours.
func costOf(e *Episode, lead int) float64 {
	return evaluation.PointOf(e.Curve.Outcomes[lead].Hours()).Cost(segue.Balanced.OverlapPrice())
}

// bestPlanner returns the planner that cost least.
func (c *contest) bestPlanner() (name string, costs []float64) {
	least := math.Inf(1)
	for i, rule := range untuned() {
		sum := 0.0
		for _, cost := range c.planners[i] {
			sum += cost
		}
		if sum < least {
			least, name, costs = sum, rule.Name, c.planners[i]
		}
	}
	return name, costs
}
