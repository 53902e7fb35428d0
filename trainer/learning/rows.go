//go:build native

package learning

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer"
)

// sample is one submission that was tried: at a lead of an episode.
type sample struct {
	features []float32
	wait     float64 // hours
	at       segue.Time
	submit   segue.Time // of the episode, which decides its part
}

// samplesOf returns the submissions at every step of the leads of the streams'
// episodes.
func samplesOf(streams []trainer.Stream, step time.Duration) []sample {
	var list []sample
	for _, s := range streams {
		for i := range s.Episodes {
			e := &s.Episodes[i]
			next := time.Duration(0)
			for k, lead := range e.Curve.Leads {
				if lead < next {
					continue
				}
				next = lead + step
				list = append(list, sample{
					features: e.FeaturesAt(k), at: e.At(k), submit: e.Curve.Submit,
					wait: max(0, e.Curve.Outcomes[k]+lead).Hours(),
				})
			}
		}
	}
	return list
}

// rows is a matrix of features with what is known of each row's wait.
type rows struct {
	width  int
	values []float32
	labels []float32
}

func (r *rows) count() int { return len(r.labels) }

// rowsOf returns one row per sample, its label the shifted logarithm of the
// wait.
func rowsOf(samples []sample) rows {
	r := rows{width: len(predictor.FeatureNames())}
	for _, s := range samples {
		r.values = append(r.values, s.features...)
		r.labels = append(r.labels, logWait(s.wait))
	}
	return r
}

func logWait(hours float64) float32 { return float32(math.Log(hours + waits.Offset)) }

func expOf(label float32) float32 { return float32(math.Exp(float64(label))) }

// thresholdsPerSample is how many thresholds a sample is asked about.
const thresholdsPerSample = 4

// thresholdRows returns rows for the Thresholds kind: each sample several times
// with a threshold as its last feature, labelled 1 if the wait is not longer.
// The thresholds are spread evenly over those of waits.Grid, from a random
// beginning.
func thresholdRows(samples []sample, rng *rand.Rand) rows {
	r := rows{width: len(predictor.FeatureNames()) + 1}
	stride := float64(len(waits.Grid)) / thresholdsPerSample
	for _, s := range samples {
		begin := rng.Float64() * stride
		for j := range thresholdsPerSample {
			t := waits.Grid[min(int(begin+float64(j)*stride), len(waits.Grid)-1)]
			label := float32(0)
			if s.wait <= t {
				label = 1
			}
			r.values = append(append(r.values, s.features...), waits.ThresholdFeature(t))
			r.labels = append(r.labels, label)
		}
	}
	return r
}
