package environment

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestReplayDrawsByWeightAndPriority(t *testing.T) {
	t.Parallel()
	table := waits(3, 3, 7) // two transitions an episode
	table.Episodes[1].Weight = 2
	r := NewReplay(&table, 0.5)
	r.Update(0, 4)  // priority 2 with weight 1
	r.Update(3, 16) // priority 4 with weight 2
	want := []float64{2.0 / 13, 1.0 / 13, 2.0 / 13, 8.0 / 13}
	counts := make([]float64, r.Len())
	random := rand.New(rand.NewPCG(1, 2))
	const draws = 100000
	for range draws {
		counts[r.Draw(random)] += 1.0 / draws
	}
	for i, share := range counts {
		if math.Abs(share-want[i]) > 0.01 {
			t.Errorf("transition %v is drawn in %.3f of all cases, want %.3f", r.At(i), share, want[i])
		}
	}
	if diff := cmp.Diff(Transition{1, 2}, r.At(3)); diff != "" {
		t.Errorf("the last transition differs (-want +got):\n%s", diff)
	}
	if got := r.Correction(3, 1); math.Abs(got-0.25) > 1e-4 {
		t.Errorf("the correction of priority 4 is %v, want a quarter", got)
	}
}

func TestRestoredReplayDrawsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		table := waits(rapid.IntRange(2, 6).Draw(t, "leads"), make([]float32, rapid.IntRange(1, 9).Draw(t, "episodes"))...)
		first := NewReplay(&table, 0.6)
		for range rapid.IntRange(0, 40).Draw(t, "updates") {
			first.Update(rapid.IntRange(0, first.Len()-1).Draw(t, "transition"), rapid.Float64Range(0, 100).Draw(t, "mistake"))
		}
		second := NewReplay(&table, 0.6)
		second.Restore(first.Priorities())
		seed := rapid.Uint64().Draw(t, "seed")
		a, b := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 0))
		for range 50 {
			i, j := first.Draw(a), second.Draw(b)
			if i != j || i >= first.Len() {
				t.Fatalf("the first draws %d, the restored one %d, of %d", i, j, first.Len())
			}
		}
	})
}

func TestReplayWithExponentZeroDrawsEvenly(t *testing.T) {
	t.Parallel()
	table := waits(3, 3)
	r := NewReplay(&table, 0)
	r.Update(0, 1000)
	if diff := cmp.Diff([]float32{1, 1}, r.Priorities()); diff != "" {
		t.Errorf("priorities differ (-want +got):\n%s", diff)
	}
}
