package published

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
)

// pair of these tests.
var pair = segue.Shape{Nodes: 2, Limit: 12 * hour}

// stump returns trees that foretell below while the count of pending jobs in the
// newest snapshot is below the threshold, and above from there on.
func stump(t *testing.T, threshold, below, above float32) []byte {
	t.Helper()
	data, err := trees.Encode(&trees.Model{Objective: "reg:squarederror", Features: StateWidth, Trees: []trees.Tree{{
		{Left: 1, Right: 2, Feature: (Steps - 1) * StepWidth, Value: threshold}, {Value: below}, {Value: above},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// made returns a model of a stump and a small network.
func made(t *testing.T) *Model {
	t.Helper()
	spec := NetworkSpec(Mixture, 4)
	return &Model{Policies: []Policy{
		{Name: Forest, Pair: pair, Trees: stump(t, 3, -2, 5)},
		{Name: Mixture, Pair: pair, Net: &Network{Spec: spec, Tensors: spec.Initial(rand.New(rand.NewPCG(1, 1))), Epochs: 7}},
		{Name: Forest, Pair: segue.Shape{Nodes: 1, Limit: hour}, Trees: stump(t, 1, 0, 1)},
	}}
}

func TestModelSurvivesItsFiles(t *testing.T) {
	t.Parallel()
	want := made(t)
	files, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read(func(name string) []byte { return files[name] })
	if err != nil {
		t.Fatal(err)
	}
	again, err := Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, again); diff != "" {
		t.Error("written again the model has other files")
	}
	state := make([]float32, StateWidth)
	for pending, foretold := range map[float32]float64{2: -2, 3: 5} {
		state[(Steps-1)*StepWidth] = pending
		for i := range want.Policies[:2] {
			before, err := want.Policies[i].NewRegressor()
			if err != nil {
				t.Fatal(err)
			}
			after, err := got.Policies[i].NewRegressor()
			if err != nil {
				t.Fatal(err)
			}
			if a, b := before.Outcome(state), after.Outcome(state); a != b {
				t.Errorf("%s foretells %v h, and %v h once read", got.Policies[i].Name, a, b)
			}
			if i == 0 && after.Outcome(state) != foretold {
				t.Errorf("with %v jobs pending the stump foretells %v h, want %v h", pending, after.Outcome(state), foretold)
			}
		}
	}
}

func TestModelKnowsItsPairs(t *testing.T) {
	t.Parallel()
	m := made(t)
	policies, notes := m.For(pair)
	if len(policies) != 2 || policies[0].Name != Forest || policies[1].Name != Mixture {
		t.Errorf("%d policies for the pair", len(policies))
	}
	few := "published-forest is smaller than the published forest: 1 of 100 trees."
	small := "published-moe is smaller than the published network: width 4 of 512, 7 epochs of 300."
	if diff := cmp.Diff([]string{few, small}, notes); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{few, small}, m.Notes()); diff != "" {
		t.Errorf("notes of the model differ (-want +got):\n%s", diff)
	}
	policies, notes = m.For(segue.Shape{Nodes: 4, Limit: hour})
	if len(policies) != 0 || len(notes) != 1 || !strings.HasSuffix(notes[0], "pairs of 2 nodes x 12h0m0s and of 1 node x 1h0m0s, not of 4 nodes x 1h0m0s.") {
		t.Errorf("for another pair: %d policies and the notes %q", len(policies), notes)
	}
}

func TestPublishedSizesAreThePublishedOnes(t *testing.T) {
	t.Parallel()
	count := func(name string) (n int) {
		for _, p := range NetworkSpec(name, Width).Parameters() {
			n += p.Size()
		}
		return n
	}
	// What is known of them: 2.46 and some 13.0 million parameters.
	if got := count(Transformer); got != 2_464_513 {
		t.Errorf("the transformer has %d parameters", got)
	}
	if got := count(Mixture); got < 12_900_000 || got > 13_100_000 {
		t.Errorf("the mixture has %d parameters", got)
	}
}

func TestModelIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(files map[string][]byte)
		want   string
		kind   segue.Kind
	}{
		"no JSON":         {func(f map[string][]byte) { f[IndexFile] = []byte("{") }, "published.json", segue.Corrupt},
		"another format":  {change(`"format": 1`, `"format": 2`), "format 2, want 1", segue.Invalid},
		"other numbers":   {change(`"pending.jobs"`, `"jobs"`), "train it anew", segue.Invalid},
		"another policy":  {change(`"published-moe"`, `"published-lstm"`), `policy "published-lstm"`, segue.Invalid},
		"no nodes":        {change(`"nodes": 2`, `"nodes": 0`), "pairs of 0 nodes", segue.Invalid},
		"no trees":        {func(f map[string][]byte) { delete(f, "published-forest-00.bin") }, "published-forest-00.bin", segue.Corrupt},
		"half a network":  {cut("published-moe-01.safetensors"), "published-moe-01.safetensors", segue.Corrupt},
		"another network": {change(`"experts": 10`, `"experts": 9`), "published-moe-01.safetensors", segue.Corrupt},
		"another window":  {change(`"steps": 144`, `"steps": 143`), "143 x 42 numbers", segue.Invalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := Encode(made(t))
			if err != nil {
				t.Fatal(err)
			}
			tt.change(files)
			_, err = Read(func(name string) []byte { return files[name] })
			if err == nil || !strings.Contains(err.Error(), tt.want) || segue.KindOf(err) != tt.kind {
				t.Errorf("error is %v, want one of kind %s with %q", err, tt.kind, tt.want)
			}
		})
	}
	if m, err := Read(func(string) []byte { return nil }); m != nil || err != nil {
		t.Errorf("without files: %v and the error %v, want nothing", m, err)
	}
}

// change replaces text of the index.
func change(from, to string) func(files map[string][]byte) {
	return func(files map[string][]byte) {
		files[IndexFile] = []byte(strings.Replace(string(files[IndexFile]), from, to, 1))
	}
}

func cut(name string) func(files map[string][]byte) {
	return func(files map[string][]byte) { files[name] = files[name][:len(files[name])/2] }
}
