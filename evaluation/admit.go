package evaluation

import "fmt"

// Admit compares a model with a planner on the same starts as Judge does with a
// champion, where there is none: it is promoted unless its mean cost exceeds the
// planner's, over all starts or in a load class, by more than the margin. A first
// model need not be surely better, since a planner decides wherever it stands
// aside; it must not be worse. The verdict's champion is the planner.
func Admit(starts Starts, planner string, costs, challenger []float64, cfg JudgeConfig) (Verdict, error) {
	cfg = cfg.withDefaults()
	v, err := compare(starts, costs, challenger, cfg)
	if err != nil {
		return Verdict{}, fmt.Errorf("admit a first model: %w", err)
	}
	v.admit(planner, meanOf(costs), cfg)
	return v, nil
}

// admit sets Promote and Reason. cost is the planner's mean.
func (v *Verdict) admit(planner string, cost float64, cfg JudgeConfig) {
	d := v.Difference
	on := fmt.Sprintf("%d starts in %d blocks of four days", v.Starts, v.Blocks)
	v.Reason = fmt.Sprintf("there is no champion; it costs %s a start than %s, whose cost is %.2f h (95 %% interval from %s to %s; %s)",
		moreOrLess(d.Mean), planner, cost, moreOrLess(d.Lo), moreOrLess(d.Hi), on)
	switch {
	case v.Blocks < cfg.MinBlocks:
		v.Reason += fmt.Sprintf(": too few to judge, want at least %d blocks", cfg.MinBlocks)
		return
	case float64(d.Mean) > cfg.allowed(cost):
		v.Reason += ": " + cfg.allowedWords()
		return
	}
	for _, l := range v.Loads {
		if l.TooMuch {
			v.Reason += fmt.Sprintf(", but in %s load %s: %.2f h instead of %.2f h on %d starts, and %s",
				l.Load, moreOrLess(l.Difference.Mean), l.Challenger, l.Champion, l.Starts, cfg.allowedWords())
			return
		}
	}
	v.Promote = true
	v.Reason += ", and in no load class more than is allowed: " + cfg.allowedWords()
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
