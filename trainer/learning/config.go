//go:build native

package learning

import (
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

// kinds are those of forecasts that can be fitted.
var kinds = []waits.Kind{waits.Thresholds, waits.AFT, waits.Quantiles, waits.Forest}

// Validate refuses what cannot be learned, whatever the samples are.
func (c Config) Validate() error {
	c = c.withDefaults()
	for i, name := range c.Policies {
		switch {
		case !slices.Contains(Policies(), name):
			return segue.Errorf(segue.Invalid, "policy %q, want one of %v", name, Policies())
		case slices.Contains(c.Policies[:i], name):
			return segue.Errorf(segue.Invalid, "policy %q is named twice", name)
		}
	}
	switch kind := c.Trees.withDefaults().Kind; {
	case !slices.Contains(kinds, kind):
		return segue.Errorf(segue.Invalid, "forecast %q, want one of %v", kind, kinds)
	case c.Steps < 0:
		return segue.Errorf(segue.Invalid, "%d steps of training, want 0 or more", c.Steps)
	}
	return c.Published.validate()
}
