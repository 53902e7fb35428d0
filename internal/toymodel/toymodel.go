package toymodel

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/drift"
	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/predictor/waits"
)

// Failer is what a test fails by: a testing.TB, or the test of a script.
type Failer interface {
	Fatalf(format string, args ...any)
}

// New returns a model that always forecasts a wait within a minute or two of the
// given one, and whose policies, of the given names, submit when no more than
// the lead remains of the current link.
func New(f Failer, wait, lead time.Duration, policies ...string) *learned.Model {
	m := &learned.Model{Waits: waits.Spec{Kind: waits.AFT, Scale: 0.001}, Ensembles: [][]byte{ensemble(f, wait)}}
	for _, name := range policies {
		p := learned.Policy{Name: name, Spec: networks.Spec{
			Kind: networks.MLP, Heads: networks.Plain, State: len(policy.StateNames()), Hidden: []int{2},
		}}
		p.Tensors = tensors(p.Spec, lead)
		m.Policies = append(m.Policies, p)
	}
	return m
}

// Files returns the bytes of the model by file name.
func Files(f Failer, m *learned.Model) map[string][]byte {
	files, err := learned.Encode(m)
	if err != nil {
		f.Fatalf("a toy model: %v", err)
	}
	return files
}

// ensemble is one tree of one leaf.
func ensemble(f Failer, wait time.Duration) []byte {
	data, err := trees.Encode(&trees.Model{
		Objective: "survival:aft", Features: len(predictor.FeatureNames()),
		Trees: []trees.Tree{{{Value: float32(math.Log(wait.Hours() + waits.Offset))}}},
	})
	if err != nil {
		f.Fatalf("a toy model: %v", err)
	}
	return data
}

// tensors are those of a network of which one input is used, the remaining
// hours z, as z-lead: with the hidden units max(0, z-lead) and max(0, lead-z),
// submitting costs z-lead and waiting nothing.
func tensors(spec networks.Spec, lead time.Duration) map[string]safetensors.Tensor {
	all := spec.Initial(rand.New(rand.NewPCG(1, 1)))
	for name, t := range all {
		all[name] = safetensors.Tensor{Shape: t.Shape, Data: make([]float32, len(t.Data))}
	}
	units := all["trunk.0.weight"].Data
	units[spec.State], units[spec.Inputs()+spec.State] = 1, -1
	output := all["output.weight"].Data
	output[2*networks.Submit], output[2*networks.Submit+1] = 1, -1
	identity := networks.Identity(spec.Inputs())
	identity.Mean[spec.State] = float32(lead.Hours())
	maps.Copy(all, spec.Normalisation(identity, networks.Normaliser{}))
	return all
}

// Drift returns what a training saw in which one feature lay between the bounds
// and every other one was anything, or missing.
func Drift(feature string, least, most float64) *drift.Profile {
	p := &drift.Profile{Format: 1, Rows: 2, Margin: 0.5, Joint: drift.Joint{Limit: 1}}
	for i, name := range learned.Watched() {
		r := drift.Range{Name: name, Min: -1e9, Low: -1e9, High: 1e9, Max: 1e9, Missing: 0.5}
		if name == feature {
			r.Min, r.Low, r.High, r.Max = least, least, most, most
		}
		p.Features = append(p.Features, r)
		p.Joint.Factor = append(append(p.Joint.Factor, make([]float64, i)...), 1)
	}
	return p
}

// Features returns a row of features of which one has the value and all others
// are 0.
func Features(feature string, value float32) []float32 {
	names := predictor.FeatureNames()
	row := make([]float32, len(names))
	row[slices.Index(names, feature)] = value
	return row
}
