package published

import (
	"fmt"
	"slices"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/predictor/trees"
)

// The names of the policies.
const (
	Forest      = "published-forest"
	XGBoost     = "published-xgboost"
	Transformer = "published-transformer"
	Mixture     = "published-moe"
)

// AsPublished ends the name of the row of a policy at Threshold alone.
const AsPublished = "-as-published"

// PolicyNames returns the names of all policies.
func PolicyNames() []string { return []string{Forest, XGBoost, Transformer, Mixture} }

// The size of the published forest and networks, and their training.
const (
	ForestTrees   = 100
	Width         = 512 // inside an encoder
	Epochs        = 300 // of the transformer, and of the mixture as a whole
	ExpertEpochs  = 1000
	Experts       = 10
	feedForward   = 4 // times narrower than Width
	headWidth     = 2
	gateHidden    = 32
	encoderLayers = 2
)

// Model is what the training of the published method leaves behind: policies,
// each for pairs of one shape.
type Model struct{ Policies []Policy }

// Policy is one regressor for pairs of one shape: trees or a network.
type Policy struct {
	Name  string
	Pair  segue.Shape
	Trees []byte   // as trees.Read takes them; nil for a network
	Net   *Network // nil for trees

	ensemble  *trees.Ensemble
	regressor *networks.Regressor
}

// Network is the network of a policy.
type Network struct {
	Spec    networks.RegressorSpec
	Tensors map[string]safetensors.Tensor
	Epochs  int // that it was trained, of Epochs
}

// NetworkSpec returns the network of the policy of that name with encoders of a
// width: as published for Width, and all of it narrower in proportion for less.
// The width is even.
func NetworkSpec(name string, width int) networks.RegressorSpec {
	spec := networks.RegressorSpec{
		Experts: 1,
		History: networks.History{
			Steps: Steps, Width: StepWidth, Model: width, Heads: headWidth, Layers: encoderLayers, FeedForward: max(1, width/feedForward),
			Positions: networks.None, Norm: networks.After, Pool: networks.All,
		},
	}
	if name == Mixture {
		spec.Experts, spec.GateHidden = Experts, gateHidden
		spec.History.Heads, spec.History.Layers = 1, 1
	}
	return spec
}

// For returns the policies for pairs of a shape, none of a nil model, and sentences that a reader of
// their results has to know: which are smaller than published, and that there is
// none for the shape.
func (m *Model) For(pair segue.Shape) (policies []*Policy, notes []string) {
	if m == nil {
		return nil, nil
	}
	var others []string
	for i := range m.Policies {
		p := &m.Policies[i]
		if p.Pair == pair {
			policies = append(policies, p)
			notes = append(notes, p.notes()...)
		} else if other := p.Pair.String(); !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	if len(policies) == 0 && len(others) > 0 {
		notes = append(notes, fmt.Sprintf("The rows of the published method are left out: the model has them for pairs of %s, not of %s.",
			strings.Join(others, " and of "), pair))
	}
	return policies, notes
}

// Notes returns sentences that say which of the policies are smaller than
// published.
func (m *Model) Notes() []string {
	var notes []string
	for i := range m.Policies {
		for _, note := range m.Policies[i].notes() {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

func (p *Policy) notes() []string {
	if p.Net == nil {
		own := *p
		if p.Name != Forest || own.prepare() != nil || own.ensemble.Trees() == ForestTrees {
			return nil
		}
		return []string{fmt.Sprintf("%s is smaller than the published forest: %d of %d trees.", p.Name, own.ensemble.Trees(), ForestTrees)}
	}
	if p.Net.Spec.History.Model == Width && p.Net.Epochs == Epochs {
		return nil
	}
	return []string{fmt.Sprintf("%s is smaller than the published network: width %d of %d, %d epochs of %d.",
		p.Name, p.Net.Spec.History.Model, Width, p.Net.Epochs, Epochs)}
}

// prepare reads the trees or builds the network, once.
func (p *Policy) prepare() error {
	switch {
	case p.ensemble != nil || p.regressor != nil:
		return nil
	case p.Net != nil:
		if err := p.Net.fits(); err != nil {
			return err
		}
		var err error
		p.regressor, err = networks.NewRegressor(p.Net.Spec, p.Net.Tensors)
		return err
	}
	ensemble, err := trees.Read(p.Trees)
	if err != nil {
		return err
	}
	if n := ensemble.Features(); n != StateWidth {
		return segue.Errorf(segue.Invalid, "trees of %d features, want %d", n, StateWidth)
	}
	p.ensemble = ensemble
	return nil
}

// fits wants a network that reads a state.
func (n *Network) fits() error {
	if h := n.Spec.History; h.Steps != Steps || h.Width != StepWidth {
		return segue.Errorf(segue.Invalid, "a network of %d x %d numbers, want %d x %d", h.Steps, h.Width, Steps, StepWidth)
	}
	return nil
}

// Regressor foretells outcomes. It is for one goroutine.
type Regressor struct {
	ensemble *trees.Ensemble
	network  *networks.Regressor
	scratch  *networks.RegressorScratch
}

// NewRegressor returns a regressor of its own. A policy that was not made by Read
// is read each time.
func (p *Policy) NewRegressor() (*Regressor, error) {
	own := *p
	if err := own.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	if own.regressor != nil {
		return &Regressor{network: own.regressor, scratch: own.regressor.NewScratch()}, nil
	}
	return &Regressor{ensemble: own.ensemble.Clone()}, nil
}

// Outcome returns the outcome in hours that it foretells for a submission in a
// state of StateWidth numbers. It does not allocate.
func (r *Regressor) Outcome(state []float32) float64 {
	if r.network != nil {
		return float64(r.network.Predict(r.scratch, state))
	}
	return r.ensemble.Margin(state)
}
