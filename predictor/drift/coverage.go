package drift

import "fmt"

// Coverage is how often an outcome should be within a quantile of its forecast.
// The zero value is what the project uses.
type Coverage struct {
	// Level of the quantile. Default 0.9.
	Level float64
	// Lo and Hi bound the share of outcomes within it. Defaults 0.03 below the
	// level, and 0.03 above, at most 1.
	Lo, Hi float64
	// MinOutcomes is how many outcomes it takes to say anything. Default 200.
	MinOutcomes int
}

func (c Coverage) withDefaults() Coverage {
	if c.Level == 0 {
		c.Level = 0.9
	}
	if c.Lo == 0 {
		c.Lo = max(0, c.Level-0.03)
	}
	if c.Hi == 0 {
		c.Hi = min(1, c.Level+0.03)
	}
	if c.MinOutcomes == 0 {
		c.MinOutcomes = 200
	}
	return c
}

// Check reports whether the forecasts keep their word, given how many of the
// latest outcomes were within the quantile. Too few outcomes say nothing against
// them. If they do not keep it, why says so with the numbers.
func (c Coverage) Check(within, outcomes int) (ok bool, why string) {
	c = c.withDefaults()
	if outcomes < c.MinOutcomes {
		return true, ""
	}
	share := float64(within) / float64(outcomes)
	if share >= c.Lo && share <= c.Hi {
		return true, ""
	}
	return false, fmt.Sprintf("%.1f %% of the last %d waits were within the forecast's %g %% quantile, want %g to %g %%",
		100*share, outcomes, 100*c.Level, 100*c.Lo, 100*c.Hi)
}
