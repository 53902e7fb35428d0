//go:build native

package xgboost

import (
	"math"
	"slices"

	"github.com/segue-project/segue"
)

// check refuses a configuration that breaks its rules, and matrices that do
// not fit it or each other.
func (t *training) check() error {
	if err := t.cfg.validate(); err != nil {
		return err
	}
	switch {
	case t.train == nil || t.train.handle == nil:
		return segue.Errorf(segue.Invalid, "the training rows are missing or closed")
	case t.valid != nil && t.valid.handle == nil:
		return segue.Errorf(segue.Invalid, "the validation rows are closed")
	case t.valid != nil && t.valid.cols != t.train.cols:
		return segue.Errorf(segue.Invalid, "%d columns to train on, %d to validate on", t.train.cols, t.valid.cols)
	case t.cfg.EarlyStopping > 0 && t.valid == nil:
		return segue.Errorf(segue.Invalid, "EarlyStopping is %d, but there are no validation rows", t.cfg.EarlyStopping)
	case len(t.cfg.Monotone) > 0 && len(t.cfg.Monotone) != t.train.cols:
		return segue.Errorf(segue.Invalid, "Monotone has %d entries for %d columns", len(t.cfg.Monotone), t.train.cols)
	}
	return nil
}

// checkTargets wants the rows to have what the objective learns from.
func (t *training) checkTargets() error {
	for _, m := range []*Matrix{t.train, t.valid} {
		switch {
		case m == nil:
		case t.cfg.Objective == AFT && !m.bounded:
			return segue.Errorf(segue.Invalid, "%s needs bounds for every row: call SetBounds", AFT)
		case t.cfg.Objective != AFT && !m.labelled:
			return segue.Errorf(segue.Invalid, "%s needs a label for every row: call SetLabels", t.cfg.Objective)
		case t.cfg.Objective == Logistic:
			if err := checkProbabilities(m); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkProbabilities(m *Matrix) error {
	labels, err := m.get("label")
	if err != nil {
		return err
	}
	for i, v := range labels {
		if v < 0 || v > 1 {
			return segue.Errorf(segue.Invalid, "%s: the label of row %d is %v, want 0 to 1", Logistic, i, v)
		}
	}
	return nil
}

// suggestedBase returns the best single prediction for all rows, or near it, so
// that less is left for the trees to learn: the weighted mean of the labels;
// without the weights, their median for AbsoluteError, and for AFT the geometric
// mean of the bounds, where those of 0 and infinity are left out.
func suggestedBase(objective string, m *Matrix) (float64, error) {
	if objective == AFT {
		return meanTime(m)
	}
	labels, err := m.get("label")
	if err != nil {
		return 0, err
	}
	if objective == AbsoluteError {
		slices.Sort(labels)
		return float64(labels[len(labels)/2]), nil
	}
	weights, err := m.get("weight")
	if err != nil {
		return 0, err
	}
	var sum, weight float64
	for i, label := range labels {
		w := 1.0
		if len(weights) > 0 {
			w = float64(weights[i])
		}
		sum += w * float64(label)
		weight += w
	}
	if weight == 0 {
		return 0, segue.Errorf(segue.Invalid, "all weights are 0")
	}
	mean := sum / weight
	if objective == Logistic {
		const rare = 1e-6 // an outcome that never occurred has a finite logit
		return min(max(mean, rare), 1-rare), nil
	}
	return mean, nil
}

func meanTime(m *Matrix) (float64, error) {
	lower, err := m.get("label_lower_bound")
	if err != nil {
		return 0, err
	}
	upper, err := m.get("label_upper_bound")
	if err != nil {
		return 0, err
	}
	sum, count := 0.0, 0
	for i := range lower {
		for _, bound := range [...]float64{float64(lower[i]), float64(upper[i])} {
			if bound > 0 && !math.IsInf(bound, 1) {
				sum += math.Log(bound)
				count++
			}
		}
	}
	if count == 0 {
		return 1, nil
	}
	return math.Exp(sum / float64(count)), nil
}
