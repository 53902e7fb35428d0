//go:build native

package learning

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
)

// RecordedConfig says how trees are fitted to recorded waits. The zero value
// works.
type RecordedConfig struct {
	Kind   waits.Kind // default waits.Thresholds
	Rounds int        // at most; default 400
	Seed   uint64     // default 1
	// Threads of libxgboost; default 2.
	Threads int
	// Stretch is how long the end of a training period is on which the rounds are
	// chosen; Gap is how long before it is left out, so that congestion does not
	// reach from one into the other. Default 10 and 2 days.
	Stretch, Gap time.Duration
	// Blind are the beginnings of names of features that trees must not read.
	Blind []string
	// DropCensored leaves out the jobs whose waits were not over, of which it is
	// known that they lasted so far. For comparison only: what is left is biased
	// to short waits.
	DropCensored bool
	// HalfLife of the recalibration; default that of waits.Follower.
	HalfLife time.Duration
	// Progress, when not nil, is told the step under way and how far it is.
	Progress func(step string, round, rounds int, loss float64)
}

func (c RecordedConfig) withDefaults() RecordedConfig {
	trees := TreesConfig{Kind: c.Kind, Rounds: c.Rounds, Seed: c.Seed, Threads: c.Threads}.withDefaults()
	c.Kind, c.Rounds, c.Seed, c.Threads = trees.Kind, trees.Rounds, trees.Seed, trees.Threads
	if c.Stretch == 0 {
		c.Stretch = 10 * 24 * time.Hour
	}
	if c.Gap == 0 {
		c.Gap = 2 * 24 * time.Hour
	}
	if c.Progress == nil {
		c.Progress = func(string, int, int, float64) {}
	}
	return c
}

func (c RecordedConfig) validate() error {
	switch {
	case c.Stretch < time.Hour:
		return segue.Errorf(segue.Invalid, "a stretch of %s to choose the rounds on, want an hour or more", c.Stretch)
	case c.Gap < 0:
		return segue.Errorf(segue.Invalid, "a gap of %s, want 0 or more", c.Gap)
	case c.HalfLife < 0:
		return segue.Errorf(segue.Invalid, "a half-life of %s, want 0 (the default) or more", c.HalfLife)
	}
	return CheckKind(c.Kind)
}

// CheckKind refuses a kind of trees that is none.
func CheckKind(kind waits.Kind) error {
	kinds := []waits.Kind{waits.Thresholds, waits.AFT, waits.Quantiles, waits.Forest}
	if !slices.Contains(kinds, kind) {
		return segue.Errorf(segue.Invalid, "kind %q, want one of %v", kind, kinds)
	}
	return nil
}

// ForetellRecorded returns the forecasts of trees for every submission: those
// from an origin on, before the next one, by trees fitted on what was known at
// that origin. The submissions of the stretch before the first origin are
// foretold by trees that never saw them, for the recalibration; earlier ones have
// empty forecasts. The second list is the first one recalibrated.
func ForetellRecorded(ctx context.Context, asked []trainer.Asked, origins []segue.Time, cfg RecordedConfig) ([]trainer.Foretold, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("foretell recorded waits: %w", err)
	}
	if len(origins) == 0 {
		return nil, segue.Errorf(segue.Invalid, "foretell recorded waits: no origin")
	}
	said := make([]segue.Forecast, len(asked))
	for k, origin := range origins {
		until := segue.Never
		if k+1 < len(origins) {
			until = origins[k+1]
		}
		fitted, err := cfg.fit(ctx, asked, origin, k == 0)
		if err != nil {
			return nil, fmt.Errorf("foretell recorded waits: train on what was known at %s: %w", origin, err)
		}
		if k == 0 {
			foretell(fitted.before, asked, said, origin.Add(-cfg.Stretch), origin)
		}
		foretell(fitted.whole, asked, said, origin, until)
	}
	raw := trainer.Foretold{Name: waits.Source, Forecasts: said}
	return []trainer.Foretold{raw, trainer.RecalibrateOnline(asked, waits.Source, said, cfg.HalfLife)}, nil
}

// foretell sets the forecasts of the submissions in a period.
func foretell(m *waits.Model, asked []trainer.Asked, said []segue.Forecast, from, until segue.Time) {
	for i := range asked {
		if a := &asked[i]; a.At >= from && a.At < until {
			said[i] = m.Forecast(a.At, a.Features)
		}
	}
}
