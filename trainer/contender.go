package trainer

import (
	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
)

// Contender is a policy under test, at every value of its parameter.
type Contender interface {
	// Name is stable.
	Name() string
	// Params are the values of the parameter, ascending from no waste to no gap.
	Params() []float64
	// Choose returns, for every parameter, the index of the lead of the episode's
	// curve at which the policy submits.
	Choose(e *Episode) ([]int, error)
}

// Ruled returns the contender that decides by the rules of a family.
func Ruled(f policy.Family) Contender { return ruled{f} }

type ruled struct{ family policy.Family }

func (r ruled) Name() string      { return r.family.Name }
func (r ruled) Params() []float64 { return r.family.Params }

func (r ruled) Choose(e *Episode) ([]int, error) {
	chosen := make([]int, len(r.family.Params))
	for i, param := range r.family.Params {
		chosen[i] = chosenLead(e, r.family.With(param))
	}
	return chosen, nil
}

// untunedRule returns the contender that covers, of a family of quantiles, the one
// that a preference asks for, which is not tuned.
func untunedRule(f policy.Family, prefer segue.Preference) Contender {
	f.Name += "-asked"
	f.Params = []float64{prefer.CriticalQuantile()}
	return Ruled(f)
}
