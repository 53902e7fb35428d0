//go:build native

package learning

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
)

// submission returns a submission n hours after the epoch that left the queue
// after so many hours; 0 is never.
func submission(n, left int, started bool) trainer.Asked {
	a := trainer.Asked{At: segue.Seconds(int64(n) * 3600), Left: segue.Never, Started: started, Features: []float32{float32(n)}}
	if left > 0 {
		a.Left = a.At.Add(time.Duration(left) * time.Hour)
	}
	return a
}

func TestWhatIsLearnedOfWaitsThatAreNotOver(t *testing.T) {
	t.Parallel()
	asked := []trainer.Asked{
		submission(1, 2, true), submission(2, 3, false), submission(3, 50, true), submission(4, 0, false), submission(20, 1, true),
	}
	got := recordedSamples(asked, 0, segue.Seconds(10*3600), segue.Seconds(10*3600))
	want := []recordedSample{
		{features: []float32{1}, hours: 2, over: true}, // it started
		{features: []float32{2}, hours: 3},             // it was cancelled
		{features: []float32{3}, hours: 7},             // it starts later than that is known
		{features: []float32{4}, hours: 6},             // it waits for ever
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(recordedSample{})); diff != "" {
		t.Errorf("samples differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:1], knownOnly(got), cmp.AllowUnexported(recordedSample{})); diff != "" {
		t.Errorf("of waits that are over (-want +got):\n%s", diff)
	}
	bounds := recordedRows(got)
	inf := float32(math.Inf(1))
	if diff := cmp.Diff([]float32{2.1, inf, inf, inf}, bounds.upper, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Errorf("upper bounds differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]float32{2.1, 3.1, 7.1, 6.1}, bounds.labels, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
		t.Errorf("lower bounds differ (-want +got):\n%s", diff)
	}
}

// A wait of seven hours so far says "no" for thresholds up to seven hours, and
// nothing for later ones.
func TestThresholdsAboveACensoringAgeAreLeftOut(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		sample      recordedSample
		wantBelow   float32 // the label of thresholds below seven hours
		wantAbove   bool    // there are later ones
		wantAboveIs float32
	}{
		"over after seven hours":     {recordedSample{features: []float32{1}, hours: 7, over: true}, 0, true, 1},
		"not over after seven hours": {recordedSample{features: []float32{1}, hours: 7}, 0, false, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			samples := make([]recordedSample, 50)
			for i := range samples {
				samples[i] = tt.sample
			}
			r := recordedThresholds(samples, rand.New(rand.NewPCG(1, 1)))
			below, above := 0, 0
			for i, label := range r.labels {
				want := tt.wantBelow
				if r.values[i*r.width+1] > waits.ThresholdFeature(7) {
					above++
					want = tt.wantAboveIs
				} else {
					below++
				}
				if label != want {
					t.Fatalf("row %d: threshold %v has label %v, want %v", i, r.values[i*r.width+1], label, want)
				}
			}
			if below == 0 || (above > 0) != tt.wantAbove {
				t.Errorf("%d rows up to seven hours, %d above; want some, and above: %t", below, above, tt.wantAbove)
			}
		})
	}
}
