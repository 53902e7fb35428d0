package learned

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/drift"
	"github.com/segue-project/segue/predictor/trees"
	"github.com/segue-project/segue/predictor/waits"
)

// IndexFile is the name of the bytes that say what the others are.
const IndexFile = "learned.json"

// format is the version of the index.
const format = 1

// Model is what training leaves behind.
type Model struct {
	// Waits describes the forecast and Ensembles are its trees as
	// trees.Read takes them, in the order that waits.New wants.
	Waits     waits.Spec
	Ensembles [][]byte
	Policies  []Policy
	// Drift is what training saw of the features Watched, nil when that was not
	// kept.
	Drift *drift.Profile

	parsed []*trees.Ensemble
}

// Policy is a network that decides.
type Policy struct {
	Name    string // stable: "moe-dqn"
	Spec    networks.Spec
	Tensors map[string]safetensors.Tensor

	network *networks.Network
}

// index is the JSON of IndexFile.
type index struct {
	Format   int           `json:"format"`
	Features []string      `json:"features"` // of the forecast
	State    []string      `json:"state"`    // of the networks
	Summary  []string      `json:"summary"`  // of an hour of their history
	Waits    waits.Spec    `json:"waits"`
	Trees    []string      `json:"trees"` // file names
	Policies []policyIndex `json:"policies"`
}

type policyIndex struct {
	Name string        `json:"name"`
	File string        `json:"file"`
	Spec networks.Spec `json:"spec"`
}

// Encode returns the bytes of the model by file name, the index among them.
func Encode(m *Model) (map[string][]byte, error) {
	files := map[string][]byte{}
	x := index{
		Format: format, Features: predictor.FeatureNames(), State: policy.StateNames(), Summary: predictor.SummaryNames(),
		Waits: m.Waits, Trees: []string{}, Policies: []policyIndex{},
	}
	for i, data := range m.Ensembles {
		name := fmt.Sprintf("trees-wait-%02d.bin", i)
		files[name] = data
		x.Trees = append(x.Trees, name)
	}
	for _, p := range m.Policies {
		name := p.Name + ".safetensors"
		files[name] = safetensors.Encode(p.Tensors, nil)
		x.Policies = append(x.Policies, policyIndex{p.Name, name, p.Spec})
	}
	if m.Drift != nil {
		text, err := m.Drift.Encode()
		if err != nil {
			return nil, err
		}
		files[DriftFile] = text
	}
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the model's index: %w", err)
	}
	files[IndexFile] = append(text, '\n')
	return files, nil
}

// Read returns the model of which file returns the bytes by name, nil for a
// name that there is not. A model that is damaged, or that was made for other
// features, is refused with an error of kind segue.Corrupt or segue.Invalid
// that names the file.
func Read(file func(name string) []byte) (*Model, error) {
	text := file(IndexFile)
	if text == nil {
		return nil, segue.Errorf(segue.Corrupt, "the model has no %s", IndexFile)
	}
	var x index
	if err := segue.UnmarshalStrict(text, &x); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "%s: %w", IndexFile, err)
	}
	if err := x.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", IndexFile, err)
	}
	m := &Model{Waits: x.Waits}
	if text := file(DriftFile); text != nil {
		var err error
		if m.Drift, err = readDrift(text); err != nil {
			return nil, err
		}
	}
	for _, name := range x.Trees {
		data := file(name)
		ensemble, err := trees.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m.Ensembles, m.parsed = append(m.Ensembles, data), append(m.parsed, ensemble)
	}
	if _, err := m.NewForecaster(); err != nil {
		return nil, fmt.Errorf("%s: %w", IndexFile, err)
	}
	for _, p := range x.Policies {
		weights, err := safetensors.Decode(file(p.File))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		network, err := networks.New(p.Spec, weights.Tensors)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.File, err)
		}
		m.Policies = append(m.Policies, Policy{Name: p.Name, Spec: p.Spec, Tensors: weights.Tensors, network: network})
	}
	return m, nil
}

// check refuses an index that this program cannot use.
func (x *index) check() error {
	if x.Format != format {
		return segue.Errorf(segue.Invalid, "format %d, want %d", x.Format, format)
	}
	for _, list := range []struct {
		what       string
		have, want []string
	}{
		{"features", x.Features, predictor.FeatureNames()},
		{"state", x.State, policy.StateNames()},
		{"summary", x.Summary, predictor.SummaryNames()},
	} {
		if !slices.Equal(list.have, list.want) {
			return segue.Errorf(segue.Invalid, "the model was made for another list of %s than this program computes: train it anew", list.what)
		}
	}
	names := map[string]bool{}
	for _, p := range x.Policies {
		if p.Name == "" || names[p.Name] {
			return segue.Errorf(segue.Invalid, "the policy name %q is empty or used twice", p.Name)
		}
		names[p.Name] = true
		if p.Spec.State != len(x.State) {
			return segue.Errorf(segue.Invalid, "the policy %s reads a state of %d numbers, want %d", p.Name, p.Spec.State, len(x.State))
		}
		if h := p.Spec.History; h != nil && (h.Steps != predictor.SummarySteps || h.Width != len(x.Summary)) {
			return segue.Errorf(segue.Invalid, "the policy %s reads a history of %d x %d numbers, want %d x %d", p.Name,
				h.Steps, h.Width, predictor.SummarySteps, len(x.Summary))
		}
	}
	return nil
}

// NewForecaster returns the model's forecast of waits, for one goroutine.
func (m *Model) NewForecaster() (*waits.Model, error) {
	parsed := m.parsed
	if parsed == nil {
		for i, data := range m.Ensembles {
			e, err := trees.Read(data)
			if err != nil {
				return nil, fmt.Errorf("ensemble %d: %w", i, err)
			}
			parsed = append(parsed, e)
		}
	}
	ensembles := make([]waits.Ensemble, len(parsed))
	for i, e := range parsed {
		ensembles[i] = e.Clone()
	}
	return waits.New(m.Waits, len(predictor.FeatureNames()), ensembles)
}
