//go:build native

package learning

import (
	"math"
	"math/rand/v2"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
)

// recordedSample is a recorded submission as it was known at some instant.
type recordedSample struct {
	features []float32
	hours    float64 // how long it had waited
	over     bool    // that was all; otherwise it waits on, or was cancelled
}

// recordedSamples returns the submissions in a period, as they were known at an
// instant.
func recordedSamples(asked []trainer.Asked, from, until, known segue.Time) []recordedSample {
	var list []recordedSample
	for i := range asked {
		a := &asked[i]
		if a.At < from || a.At >= until {
			continue
		}
		wait, over := a.Wait(known)
		list = append(list, recordedSample{features: a.Features, hours: max(wait.Hours(), 0), over: over})
	}
	return list
}

// boundedRows is a matrix of features with bounds of each row's label.
type boundedRows struct {
	rows
	upper []float32 // rows.labels are the lower bounds
}

// recordedThresholds returns rows for the Thresholds kind, as thresholdRows does.
// Of a wait that is not over, thresholds above what it lasted so far have no
// label: their rows are left out.
func recordedThresholds(samples []recordedSample, rng *rand.Rand) rows {
	var r rows
	stride := float64(len(waits.Grid)) / recordedPerSample
	for _, s := range samples {
		r.width = len(s.features) + 1
		begin := rng.Float64() * stride
		for j := range recordedPerSample {
			t := waits.Grid[min(int(begin+float64(j)*stride), len(waits.Grid)-1)]
			label := float32(0)
			switch {
			case s.over && s.hours <= t:
				label = 1
			case !s.over && s.hours < t:
				continue
			}
			r.values = append(append(r.values, s.features...), waits.ThresholdFeature(t))
			r.labels = append(r.labels, label)
		}
	}
	return r
}

// recordedPerSample is how many thresholds a recorded wait is asked about.
const recordedPerSample = 6

// recordedRows returns one row per sample with bounds of its wait in hours,
// shifted by waits.Offset: for one that is not over, the upper bound is infinite.
func recordedRows(samples []recordedSample) boundedRows {
	var r boundedRows
	for _, s := range samples {
		r.width = len(s.features)
		r.values = append(r.values, s.features...)
		lower := float32(s.hours + waits.Offset)
		r.labels = append(r.labels, lower)
		if s.over {
			r.upper = append(r.upper, lower)
		} else {
			r.upper = append(r.upper, float32(math.Inf(1)))
		}
	}
	return r
}

// knownOnly returns the samples whose waits were over.
func knownOnly(samples []recordedSample) []recordedSample {
	var list []recordedSample
	for _, s := range samples {
		if s.over {
			list = append(list, s)
		}
	}
	return list
}
