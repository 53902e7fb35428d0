package published

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
)

// IndexFile is the name of the bytes that say what the others are.
const IndexFile = "published.json"

// format is the version of the index.
const format = 1

// index is the JSON of IndexFile.
type index struct {
	Format   int           `json:"format"`
	Step     []string      `json:"step"` // the numbers of a snapshot and the pair
	Policies []policyIndex `json:"policies"`
}

type policyIndex struct {
	Name         string                  `json:"name"`
	Nodes        int                     `json:"nodes"` // of each job of a pair
	GPUsPerNode  int                     `json:"gpus_per_node,omitempty"`
	LimitSeconds int64                   `json:"limit_seconds"`
	File         string                  `json:"file"`
	Network      *networks.RegressorSpec `json:"network,omitempty"` // nil for trees
	Epochs       int                     `json:"epochs,omitempty"`  // that the network was trained
}

func (x policyIndex) pair() segue.Shape {
	return segue.Shape{Nodes: x.Nodes, GPUsPerNode: x.GPUsPerNode, Limit: time.Duration(x.LimitSeconds) * time.Second}
}

// Encode returns the bytes of the model by file name, the index among them.
func Encode(m *Model) (map[string][]byte, error) {
	files := map[string][]byte{}
	x := index{Format: format, Step: Names(), Policies: []policyIndex{}}
	for _, p := range m.Policies {
		entry := policyIndex{
			Name: p.Name, Nodes: p.Pair.Nodes, GPUsPerNode: p.Pair.GPUsPerNode, LimitSeconds: int64(p.Pair.Limit / time.Second),
			File: fmt.Sprintf("%s-%02d.bin", p.Name, len(x.Policies)),
		}
		data := p.Trees
		if p.Net != nil {
			entry.Network, entry.Epochs = &p.Net.Spec, p.Net.Epochs
			entry.File = fmt.Sprintf("%s-%02d.safetensors", p.Name, len(x.Policies))
			data = safetensors.Encode(p.Net.Tensors, nil)
		}
		files[entry.File] = data
		x.Policies = append(x.Policies, entry)
	}
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the index of the published method: %w", err)
	}
	files[IndexFile] = append(text, '\n')
	return files, nil
}

// Read returns the model of which file returns the bytes by name, nil for a name
// that there is not. Without an index there is no model, which is no error. One
// that is damaged or made for other numbers is refused with an error of kind
// segue.Corrupt or segue.Invalid that names the file.
func Read(file func(name string) []byte) (*Model, error) {
	text := file(IndexFile)
	if text == nil {
		return nil, nil
	}
	var x index
	if err := segue.UnmarshalStrict(text, &x); err != nil {
		return nil, segue.Errorf(segue.Corrupt, "%s: %w", IndexFile, err)
	}
	if err := x.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", IndexFile, err)
	}
	m := &Model{}
	for _, entry := range x.Policies {
		p := Policy{Name: entry.Name, Pair: entry.pair()}
		if entry.Network == nil {
			p.Trees = file(entry.File)
		} else {
			weights, err := safetensors.Decode(file(entry.File))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", entry.File, err)
			}
			p.Net = &Network{Spec: *entry.Network, Tensors: weights.Tensors, Epochs: entry.Epochs}
		}
		if err := p.prepare(); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.File, err)
		}
		m.Policies = append(m.Policies, p)
	}
	return m, nil
}

// check refuses an index that this program cannot use.
func (x *index) check() error {
	switch {
	case x.Format != format:
		return segue.Errorf(segue.Invalid, "format %d, want %d", x.Format, format)
	case !slices.Equal(x.Step, Names()):
		return segue.Errorf(segue.Invalid, "the published method was fitted to other numbers than this program computes: train it anew")
	}
	for i, p := range x.Policies {
		if !slices.Contains(PolicyNames(), p.Name) {
			return segue.Errorf(segue.Invalid, "policy %q, want one of %v", p.Name, PolicyNames())
		}
		if p.Nodes < 1 || p.GPUsPerNode < 0 || p.LimitSeconds < 1 || p.LimitSeconds > int64(segue.Unlimited/time.Second) {
			return segue.Errorf(segue.Invalid, "%s is for pairs of %d nodes, %d GPUs a node and %d s", p.Name, p.Nodes, p.GPUsPerNode, p.LimitSeconds)
		}
		if slices.ContainsFunc(x.Policies[:i], func(q policyIndex) bool { return q.Name == p.Name && q.pair() == p.pair() }) {
			return segue.Errorf(segue.Invalid, "%s is there twice for pairs of %s", p.Name, p.pair())
		}
	}
	return nil
}
