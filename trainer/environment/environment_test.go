package environment

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
)

// waits is a table of one state, which is a constant, with leads 0, 1, 2, ...
// hours. Submitting at a lead gives the wait less the lead.
func waits(leads int, hours ...float32) Table {
	table := Table{Width: 1}
	for _, wait := range hours {
		e := Episode{Weight: 1}
		for k := range leads {
			e.Leads = append(e.Leads, float32(k))
			e.States = append(e.States, 1)
			e.Outcomes = append(e.Outcomes, wait-float32(k))
		}
		table.Episodes = append(table.Episodes, e)
	}
	return table
}

// submitsBelow is a network that submits as soon as at most so many hours
// remain, whatever else.
func submitsBelow(tb testing.TB, hours float32) *networks.Network {
	tb.Helper()
	spec := networks.Spec{Kind: networks.MLP, Heads: networks.Plain, State: 1, Hidden: []int{2}}
	tensors := spec.Normalisation(networks.Identity(spec.Inputs()), networks.Normaliser{})
	for _, p := range spec.Parameters() {
		tensors[p.Name] = safetensors.Tensor{Shape: p.Shape, Data: make([]float32, p.Size())}
	}
	tensors["inputs.scale"].Data[1] = 100 // so that no lead is clipped
	// The first unit is remaining / 100, the second 0; waiting costs hours / 100.
	tensors["trunk.0.weight"].Data[1] = 1
	tensors["output.weight"].Data[networks.Submit*2] = 1
	tensors["output.bias"].Data[networks.Wait] = hours / 100
	net, err := networks.New(spec, tensors)
	if err != nil {
		tb.Fatal(err)
	}
	return net
}

func TestRollSubmitsWhereTheNetworkDoesFirst(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		hours float32
		want  []int
	}{
		"in the middle":            {4.5, []int{4, 4}},
		"at once":                  {100, []int{9, 9}},
		"never: forced at the end": {-1, []int{0, 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := waits(10, 3, 7)
			if diff := cmp.Diff(tt.want, Roll(submitsBelow(t, tt.hours), &table, Balanced)); diff != "" {
				t.Errorf("chosen leads differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestJudgeAddsUpInterruptionAndOverlap(t *testing.T) {
	t.Parallel()
	table := waits(10, 3, 7)
	table.Episodes[1].Weight = 3
	got := Judge(&table, []int{5, 1}, 0.5) // 2 h of overlap once, 6 h of interruption thrice
	want := Judgement{Price: 0.5, Interruption: 4.5, Overlap: 0.5, Cost: 4.75}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("judgement differs (-want +got):\n%s", diff)
	}
}

func TestFrontierJudgesAtEveryPrice(t *testing.T) {
	t.Parallel()
	table := waits(10, 3, 7)
	want := []Judgement{{0.5, 1, 1, 1.5}, {2, 1, 1, 3}} // at lead 5: overlap 2, interruption 2
	if diff := cmp.Diff(want, Frontier(submitsBelow(t, 5), &table, []float64{0.5, 2})); diff != "" {
		t.Errorf("frontier differs (-want +got):\n%s", diff)
	}
}

func TestForesightAndConstantLeads(t *testing.T) {
	t.Parallel()
	table := waits(10, 3, 7, 20)
	if diff := cmp.Diff([]int{3, 7, 9}, Foresight(&table, Balanced)); diff != "" {
		t.Errorf("foresight differs (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{4, 4, 4}, Constant(&table, 4.5)); diff != "" {
		t.Errorf("constant leads differ (-want +got):\n%s", diff)
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spoil func(*Table)
		want  string
	}{
		"no episode":           {func(t *Table) { t.Episodes = nil }, "no episode"},
		"no width":             {func(t *Table) { t.Width = 0 }, "width 0"},
		"half a history":       {func(t *Table) { t.HistorySteps = 3 }, "history 3 x 0"},
		"a missing history":    {func(t *Table) { t.HistorySteps, t.HistoryWidth = 3, 2 }, "episode 0: 0 numbers of histories"},
		"a state too few":      {func(t *Table) { t.Episodes[1].States = t.Episodes[1].States[1:] }, "episode 1: 3 numbers of states"},
		"an outcome too few":   {func(t *Table) { t.Episodes[1].Outcomes = t.Episodes[1].Outcomes[1:] }, "episode 1: 3 outcomes"},
		"leads not from 0":     {func(t *Table) { t.Episodes[0].Leads[0] = 0.5 }, "the first 0"},
		"leads out of order":   {func(t *Table) { t.Episodes[0].Leads[2] = 1 }, "lead 1 h after 1 h"},
		"an outcome of NaN":    {func(t *Table) { t.Episodes[0].Outcomes[2] = float32(math.NaN()) }, "outcome NaN at lead 2 h"},
		"an episode of no use": {func(t *Table) { t.Episodes[0].Weight = 0 }, "weight 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := waits(4, 3, 7)
			tt.spoil(&table)
			err := table.Validate()
			if err == nil || !strings.Contains(err.Error(), tt.want) || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want an invalid table with %q", err, tt.want)
			}
		})
	}
}

func TestNormaliseHasMeanAndSpreadOfWhatIsKnown(t *testing.T) {
	t.Parallel()
	table := waits(3, 3, 7)
	table.Width = 2
	nan := float32(math.NaN())
	table.Episodes[0].States = []float32{1, 5, 3, nan, 1, 5}
	table.Episodes[1].States = []float32{3, 5, 1, 5, 3, nan}
	inputs, _ := table.Normalise()
	// Columns: 1, 3, 1, 3, 1, 3; 5 or unknown; the remaining hours 0, 1, 2, twice.
	want := networks.Normaliser{Mean: []float32{2, 5, 1}, Scale: []float32{1, 1, float32(math.Sqrt(2.0 / 3))}}
	got := networks.Normaliser{Mean: inputs.Mean[:3], Scale: inputs.Scale[:3]}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("normaliser differs (-want +got):\n%s", diff)
	}
}

func TestDrawnPricesSpanTheirRange(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	below := 0
	const draws = 10000
	for range draws {
		p := DrawPrice(r)
		if p < LeastPrice || p > GreatestPrice {
			t.Fatalf("price %v is out of range", p)
		}
		if p < math.Sqrt(LeastPrice*GreatestPrice) {
			below++
		}
	}
	if share := float64(below) / draws; math.Abs(share-0.5) > 0.02 {
		t.Errorf("%v of the prices are below the middle of their logarithms, want a half", share)
	}
}

// BenchmarkRoll follows networks of the sizes that segue-trainer trains by default
// through episodes of 48 leads, at all of which they wait.
func BenchmarkRoll(b *testing.B) {
	const leads, episodes = 49, 100
	prior := &networks.Prior{Input: 25, Gain: 0.2}
	for _, spec := range []networks.Spec{
		{Kind: networks.MLP, Heads: networks.Dueling, State: 28, Hidden: []int{64, 64}, Prior: prior},
		{
			Kind: networks.Mixture, Heads: networks.Dueling, State: 28, Hidden: []int{32, 32},
			Experts: 4, Gate: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, GateHidden: 16, Prior: prior,
		},
		{
			Kind: networks.Transformer, Heads: networks.Actor, State: 28, Hidden: []int{32}, Prior: prior,
			History: &networks.History{
				Steps: 24, Width: 15, Model: 16, Heads: 2, Layers: 1, FeedForward: 32, Positions: networks.Learned, Pool: networks.Last,
			},
		},
	} {
		b.Run(string(spec.Kind), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			table := waits(leads, make([]float32, episodes)...)
			table.Width = spec.State
			row := func(length int) []float32 {
				all := make([]float32, length)
				for i := range all {
					all[i] = float32(r.NormFloat64())
				}
				return all
			}
			var past networks.Normaliser
			if h := spec.History; h != nil {
				table.HistorySteps, table.HistoryWidth = h.Steps, h.Width
				past = networks.Identity(h.Width)
			}
			for i := range table.Episodes {
				table.Episodes[i].States = row(leads * table.Width)
				table.Episodes[i].Histories = row(leads * table.HistorySteps * table.HistoryWidth)
			}
			tensors := spec.Initial(r)
			maps.Copy(tensors, spec.Normalisation(networks.Identity(spec.Inputs()), past))
			name, never := "advantage.bias", float32(1e6) // it costs
			if spec.Heads == networks.Actor {
				name, never = "output.bias", -1e6 // it is unlikely
			}
			for k := range spec.ExpertCount() {
				tensors[name].Data[k*networks.Outputs+networks.Submit] = never
			}
			net, err := networks.New(spec, tensors)
			if err != nil {
				b.Fatal(err)
			}
			if chosen := Roll(net, &table, Balanced); slices.Max(chosen) > 0 {
				b.Fatalf("it submits at lead %d, want it to wait to the end", slices.Max(chosen))
			}
			b.ReportAllocs()
			for b.Loop() {
				Roll(net, &table, Balanced)
			}
			b.ReportMetric(float64(b.N*(leads-1)*episodes)/b.Elapsed().Minutes()/1e6, "Mdecisions/min")
		})
	}
}
