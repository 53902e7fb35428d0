package trainer

import (
	"context"
	"fmt"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/predictor/drift"
)

// Trained is a model that a backtest judges. Of several, every month of a rolling
// origin, and the headline, is judged by the newest that had not seen its tuning
// period; where all had, by the newest that had not seen its test period. Models
// that learned up to the same instant are judged beside each other.
type Trained struct {
	Model *learned.Model
	Until segue.Time // what came from then on it has not seen
	// Label, when not empty, follows a dash in the names of its policies: "seed-2".
	Label string
	// Published are the policies of the published method that the model has for
	// the pair.
	Published []*published.Policy
	// Notes are sentences that a reader of its rows has to know.
	Notes []string
}

// name returns the name of a row.
func (t Trained) name(policy string) string {
	if t.Label == "" {
		return policy
	}
	return policy + "-" + t.Label
}

// unseen returns the models by which a split is judged.
func unseen(models []Trained, split evaluation.Split) []Trained {
	newest := func(before segue.Time) (until segue.Time, found bool) {
		for _, m := range models {
			if m.Until <= before && (!found || m.Until > until) {
				until, found = m.Until, true
			}
		}
		return until, found
	}
	until, found := newest(split.Tune.From)
	if !found {
		until, found = newest(split.Test.From)
	}
	if !found {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(models), func(m Trained) bool { return m.Until != until })
}

// alike refuses models of which the rows of one instant are not those of
// another, or have the same name.
func alike(models []Trained) error {
	rows := map[segue.Time][]string{}
	for _, m := range models {
		for _, c := range m.contenders(segue.Balanced) {
			if slices.Contains(rows[m.Until], c.Name()) {
				return segue.Errorf(segue.Invalid, "two models that learned until %s have a policy %s: give them seeds of their own", m.Until, c.Name())
			}
			rows[m.Until] = append(rows[m.Until], c.Name())
		}
	}
	for _, m := range models[min(len(models), 1):] {
		first, names := rows[models[0].Until], rows[m.Until]
		if !slices.Equal(first, names) {
			return segue.Errorf(segue.Invalid, "the models that learned until %s have the policies %v, those until %s %v: want the same",
				models[0].Until, first, m.Until, names)
		}
	}
	return nil
}

// contenders returns the policies of the model, which read the forecasts that
// Foretell leaves in episodes: networks also with the preference that is asked for
// as it is, which is not tuned.
func (t Trained) contenders(prefer segue.Preference) []Contender {
	var list []Contender
	for _, f := range LearnedFamilies() {
		list = append(list, Ruled(f))
	}
	asked := []float64{float64(prefer)}
	for i := range t.Model.Policies {
		p := &t.Model.Policies[i]
		list = append(list, Network(p), asAsked(network{p, asked}))
	}
	if t.Model.Drift != nil {
		for i := range t.Model.Policies {
			p := &t.Model.Policies[i]
			list = append(list, guarded{t.Model, p, preferences}, asAsked(guarded{t.Model, p, asked}))
		}
	}
	list = append(list, Published(t.Published)...)
	for i, c := range list {
		list[i] = named{c, t.name(c.Name())}
	}
	return list
}

// asAsked names a contender that has the user's preference alone for its
// parameter.
func asAsked(c Contender) Contender { return named{c, c.Name() + "-asked"} }

// named is a contender under another name.
type named struct {
	Contender
	name string
}

func (n named) Name() string { return n.name }

// told is how the forecasts of a model turned out.
type told struct {
	turnouts []Turnout
	coverage evaluation.ForecastCoverage // in the part of the test period that is judged
}

// withModels adds to a trial of the episodes what the policies of models would
// have done. test is the part of their period that is judged. Forecasts are recalibrated by what was known of earlier turnouts, one
// list for each model, and of the episodes' own, which it returns.
func (b *backtest) withModels(
	ctx context.Context, trial evaluation.Trial, episodes []Episode, test evaluation.Period, models []Trained, earlier []told,
) (evaluation.Trial, []told, error) {
	seen := make([]told, len(models))
	trial.Policies = slices.Clip(trial.Policies)
	for i, m := range models {
		if err := Foretell(episodes, m.Model.NewForecaster); err != nil {
			return trial, nil, err
		}
		var before []Turnout
		if earlier != nil {
			before = earlier[i].turnouts
		}
		seen[i].turnouts = Recalibrate(episodes, before)
		castDoubt(episodes)
		if err := ForetellPublished(ctx, episodes, m.Published); err != nil {
			return trial, nil, err
		}
		own, err := Trial(episodes, m.contenders(b.measure.Prefer))
		if err != nil {
			return trial, nil, fmt.Errorf("model %s: %w", m.Label, err)
		}
		trial.Policies = append(trial.Policies, own.Policies...)
		seen[i].coverage = coverageOf(during(episodes, test))
		seen[i].coverage.Model = m.Label
	}
	return trial, seen, nil
}

// coverageOf returns how often waits lay within the forecasts that the episodes
// hold.
func coverageOf(episodes []Episode) evaluation.ForecastCoverage {
	var c evaluation.ForecastCoverage
	median, top := drift.Coverage{Level: 0.5}, drift.Coverage{Level: 0.9}
	for i := range episodes {
		byLoad := c.Of(evaluation.LoadOf(episodes[i].Curve.Reactive().Hours()))
		for _, t := range turnouts(episodes[i:i+1], learned.Blend) {
			for _, sum := range []*evaluation.Covered{&c.Covered, byLoad} {
				sum.Forecasts++
				sum.At50 += evaluation.Number(median.Outcome(t.Forecast, t.Wait(), t.Left).Within)
				sum.At90 += evaluation.Number(top.Outcome(t.Forecast, t.Wait(), t.Left).Within)
			}
		}
	}
	for _, sum := range []*evaluation.Covered{&c.Covered, &c.Light, &c.Medium, &c.Heavy} {
		n := evaluation.Number(sum.Forecasts) // none of none is no number
		sum.At50, sum.At90 = sum.At50/n, sum.At90/n
	}
	return c
}
