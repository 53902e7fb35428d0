package trainer

import (
	"context"
	"fmt"
	"math"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/simulator"
)

// Watched is what the policies of the published method see of an episode, and
// what they foretold. Copies of an episode share it.
type Watched struct {
	// Snapshots are shared by all episodes of a replay.
	Snapshots *published.Timeline

	foretold map[*published.Policy][]float64 // an outcome in hours for every lead
}

// watch gives the episodes, which Collect returned for the setup, what the
// published method sees.
func (s Setup) watch(ctx context.Context, episodes []Episode) error {
	last := segue.NoTime
	for i := range episodes {
		last = max(last, episodes[i].Curve.End)
	}
	line, err := s.withDefaults().snapshots(ctx, last)
	if err != nil {
		return fmt.Errorf("watch the cluster: %w", err)
	}
	for i := range episodes {
		episodes[i].Watched = &Watched{Snapshots: line, foretold: map[*published.Policy][]float64{}}
	}
	return nil
}

// snapshots returns what the cluster of a setup, without the chains that are
// probed in it, looks like every ten minutes up to the instant until.
func (s Setup) snapshots(ctx context.Context, until segue.Time) (*published.Timeline, error) {
	cluster, err := simulator.New(s.Cluster, s.Jobs)
	if err != nil {
		return nil, err
	}
	line := &published.Timeline{}
	for at := line.Next((Replay{Jobs: s.Jobs}).span().From); at <= until; at = line.Next(at) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cluster.AdvanceTo(at)
		snap := cluster.Snapshot(0)
		line.Record(&snap)
	}
	return line, nil
}

// ForetellPublished lets policies of the published method foretell the outcome of
// every lead of the episodes, unless they did already. The episodes must have
// been watched.
func ForetellPublished(ctx context.Context, episodes []Episode, policies []*published.Policy) error {
	if len(policies) == 0 {
		return nil
	}
	err := inParallel(len(episodes), func() (func(i int) error, error) {
		regressors := make([]*published.Regressor, len(policies))
		for i, p := range policies {
			var err error
			if regressors[i], err = p.NewRegressor(); err != nil {
				return nil, err
			}
		}
		state := make([]float32, published.StateWidth)
		return func(i int) error {
			for n, p := range policies {
				episodes[i].foretell(p, regressors[n], state)
			}
			return ctx.Err()
		}, nil
	})
	if err != nil {
		return fmt.Errorf("foretell by the published method: %w", err)
	}
	return nil
}

// foretell asks the regressor of a policy at every lead but the last, which is
// the end: not a number where the cluster had not been watched for a day.
func (e *Episode) foretell(p *published.Policy, r *published.Regressor, state []float32) {
	if e.Watched.foretold[p] != nil {
		return
	}
	foretold := make([]float64, len(e.Curve.Leads))
	pair := published.Pair{Shape: p.Pair, Submit: e.Curve.Submit, Start: e.Curve.Start}
	for k := range foretold {
		foretold[k] = math.NaN()
		if k > 0 && e.Watched.Snapshots.State(pair, e.At(k), state) {
			foretold[k] = r.Outcome(state)
		}
	}
	e.Watched.foretold[p] = foretold
}

// Published returns the contenders that decide by what ForetellPublished left in
// the episodes: for every policy one whose threshold is its parameter, and one
// that has the published threshold.
func Published(policies []*published.Policy) []Contender {
	var list []Contender
	for _, p := range policies {
		list = append(list,
			threshold{p.Name, p, published.Thresholds()},
			threshold{p.Name + published.AsPublished, p, []float64{published.Threshold}})
	}
	return list
}

// threshold submits at the first decision at which the policy foretells an outcome
// of at least the parameter.
type threshold struct {
	name   string
	policy *published.Policy
	params []float64
}

func (t threshold) Name() string      { return t.name }
func (t threshold) Params() []float64 { return t.params }

func (t threshold) Choose(e *Episode) ([]int, error) {
	if e.Watched == nil || e.Watched.foretold[t.policy] == nil {
		return nil, segue.Errorf(segue.Invalid, "nothing was foretold for it")
	}
	foretold := e.Watched.foretold[t.policy]
	chosen := make([]int, len(t.params))
	for i, param := range t.params {
		for k := len(foretold) - 1; k > 0; k-- {
			if published.Submits(foretold[k], param) {
				chosen[i] = k
				break
			}
		}
	}
	return chosen, nil
}
