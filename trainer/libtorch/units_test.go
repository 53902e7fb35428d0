//go:build native

package libtorch

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/trainer/environment"
)

var roughly = cmpopts.EquateApprox(1e-5, 1e-6)

func TestAdamTakesTheStepsOfItsPaper(t *testing.T) {
	t.Parallel()
	a := newAdam(2)
	weights := []float32{1, 1}
	// The first step is the rate in the direction of the gradient, whatever its
	// length. In the second the moments are 0.1 x (0.9 x 4 - 2) = 0.16 over 0.19,
	// and 0.001 x (0.999 x 16 + 4) = 0.019984 over 0.001999.
	a.step(weights, []float32{4, -1e-3}, 0.1)
	if diff := cmp.Diff([]float32{0.9, 1.1}, weights, roughly); diff != "" {
		t.Errorf("weights after one step differ (-want +got):\n%s", diff)
	}
	a.step(weights, []float32{-2, 0}, 0.1)
	want := 0.9 - 0.1*(0.16/0.19)/math.Sqrt(0.019984/0.001999)
	if diff := cmp.Diff(float32(want), weights[0], roughly); diff != "" {
		t.Errorf("the first weight after two steps differs (-want +got):\n%s", diff)
	}
}

func TestClipShortensOnlyWhatIsTooLong(t *testing.T) {
	t.Parallel()
	long, short := []float32{3, 4}, []float32{0.3, 0.4}
	if got := clip(long, 1); got != 5 {
		t.Errorf("the length was %v, want 5", got)
	}
	clip(short, 1)
	if diff := cmp.Diff([][]float32{{0.6, 0.8}, {0.3, 0.4}}, [][]float32{long, short}, roughly); diff != "" {
		t.Errorf("gradients differ (-want +got):\n%s", diff)
	}
}

func TestFailedOperationIsAnErrorAndEndsTheRest(t *testing.T) {
	t.Parallel()
	defer onOneThread()()
	p := pool{device: -1}
	defer p.empty()
	x := p.from([]float32{1, 2, 3}, 3)
	y := p.add(p.matmul(x, p.from([]float32{1, 2}, 2)), x)
	got := []float32{7}
	p.into(got, y)
	if p.err == nil || !strings.HasPrefix(p.err.Error(), "libtorch: matmul: ") {
		t.Errorf("error is %v, want that of matmul", p.err)
	}
	if y != nil || got[0] != 7 {
		t.Errorf("what follows a failure gives %v, want nothing", got)
	}
}

func TestWaitIsAimedAtWhatTheNetworkItselfWouldDo(t *testing.T) {
	t.Parallel()
	// One episode with leads of 0 to 5 hours and a wait of 3; the transition drawn
	// is that at 4 hours, with two leads looked ahead. Costs are in units of
	// networks.CostUnit, which is 4 hours at price 1.
	e := environment.Episode{Weight: 1}
	for k := range 6 {
		e.Leads = append(e.Leads, float32(k))
		e.Outcomes = append(e.Outcomes, float32(3-k))
	}
	waits, submits := []float32{1, 2}, []float32{2, 1}
	tests := map[string]struct {
		lead   int
		later  [][]float32 // outputs at the next leads
		beyond []float32   // of the target at the last
		want   []float32
	}{
		"it submits at the next lead":       {4, [][]float32{submits, submits}, []float32{9, 9}, []float32{0, 0.25}},
		"it waits once":                     {4, [][]float32{waits, submits}, []float32{9, 9}, []float32{0.25, 0.25}},
		"it waits on: ask the target":       {4, [][]float32{waits, waits}, []float32{7, 9}, []float32{7, 0.25}},
		"it waits, but the end comes first": {1, [][]float32{waits, waits}, []float32{7, 9}, []float32{0.75, 0.5}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := environment.Table{Width: 1, Episodes: []environment.Episode{e}}
			spec := networks.Spec{Kind: networks.MLP, Heads: networks.Plain, State: 1, Hidden: []int{1}}
			d := &dqn{
				learner: &learner{train: &table, model: &model{spec: spec}},
				cfg:     DQNConfig{NStep: 2},
				replay:  environment.NewReplay(&table, 0),
				drawn:   []int{tt.lead - 1},
				prices:  []float64{1},
				targets: make([]float32, 2),
				later:   append(append([]float32{}, tt.later[0]...), tt.later[1]...),
				beyond:  tt.beyond,
			}
			d.aim(0)
			if diff := cmp.Diff(tt.want, d.targets); diff != "" {
				t.Errorf("costs of wait and submit differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAdvantagesLookAsFarAsLambda(t *testing.T) {
	t.Parallel()
	// Two decisions of which the second ends at a cost of 3; expected were -1
	// and -2.
	tests := map[string]struct {
		lambda float64
		want   []float32 // what the values should have been
	}{
		"to the end":         {1, []float32{-3, -3}},
		"to the next value":  {1e-9, []float32{-2, -3}},
		"half as far by far": {0.5, []float32{-2.5, -3}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &pg{
				cfg:   PGConfig{Lambda: tt.lambda},
				paths: [][]decision{{{value: -1}, {value: -2, reward: -3, last: true}}},
			}
			g.appraise()
			var got []float32
			var sum float32
			for _, d := range g.drawn {
				got = append(got, d.gain)
				sum += d.advantage
			}
			if diff := cmp.Diff(tt.want, got, roughly); diff != "" {
				t.Errorf("gains differ (-want +got):\n%s", diff)
			}
			if math.Abs(float64(sum)) > 1e-5 {
				t.Errorf("the advantages sum up to %v, want 0", sum)
			}
		})
	}
}
