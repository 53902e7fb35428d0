package waits_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

const hour = time.Hour

// at returns the instant d after the epoch.
func at(d time.Duration) segue.Time { return segue.Time(0).Add(d) }

// formula is an ensemble that is a formula.
type formula struct {
	features int
	margin   func(x []float32) float64
	each     []float64
}

func (f formula) Features() int              { return f.features }
func (f formula) Trees() int                 { return max(len(f.each), 1) }
func (f formula) Base() float64              { return 0 }
func (f formula) Margin(x []float32) float64 { return f.margin(x) }
func (f formula) PerTree(_ []float32, out []float64) []float64 {
	return append(out[:0], f.each...)
}

func model(t interface{ Fatal(...any) }, spec waits.Spec, features int, ensembles ...waits.Ensemble) *waits.Model {
	m, err := waits.New(spec, features, ensembles)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func constant(features int, value float64) formula {
	return formula{features: features, margin: func([]float32) float64 { return value }}
}

// An exponential distribution is found again from its log-odds at thresholds.
func TestThresholdsGiveTheDistributionBack(t *testing.T) {
	t.Parallel()
	mean := 6.0
	m := model(t, waits.Spec{Kind: waits.Thresholds}, 1, formula{features: 2, margin: func(x []float32) float64 {
		hours := math.Exp(float64(x[1])) - waits.Offset
		p := min(1-math.Exp(-hours/mean), 1-1e-12)
		return math.Log(p / (1 - p))
	}})
	f := m.Forecast(at(hour), []float32{0})
	if f.At != at(hour) || f.Source != waits.Source {
		t.Errorf("a forecast of %s at %s", f.Source, f.At)
	}
	for _, p := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
		want := -mean * math.Log(1-p)
		if got := f.Quantile(p).Hours(); math.Abs(got-want) > 0.05*want+0.1 {
			t.Errorf("the %g quantile is %.2f h, want %.2f", p, got, want)
		}
	}
}

func TestKindsByHand(t *testing.T) {
	t.Parallel()
	certain := func(threshold float64) formula {
		return formula{features: 2, margin: func(x []float32) float64 {
			if math.Exp(float64(x[1]))-waits.Offset >= threshold-1e-6 {
				return 50
			}
			return -50
		}}
	}
	log := func(h float64) float64 { return math.Log(h + waits.Offset) }
	tests := map[string]struct {
		model        *waits.Model
		median, last float64 // hours
	}{
		"it starts at once":              {model(t, waits.Spec{Kind: waits.Thresholds}, 1, certain(0)), 0, 0},
		"it starts within four hours":    {model(t, waits.Spec{Kind: waits.Thresholds}, 1, certain(4)), 3.5, 4},
		"never within the thresholds":    {model(t, waits.Spec{Kind: waits.Thresholds}, 1, certain(1e6)), 120, 144},
		"a survival time":                {model(t, waits.Spec{Kind: waits.AFT, Scale: 1e-9}, 1, constant(1, log(5))), 5, 5},
		"a survival time of no wait":     {model(t, waits.Spec{Kind: waits.AFT, Scale: 1e-9}, 1, constant(1, -40)), 0, 0},
		"two quantiles":                  {model(t, waits.Spec{Kind: waits.Quantiles, Levels: []float64{0.2, 0.8}}, 1, constant(1, log(2)), constant(1, log(8))), 4, 8},
		"two quantiles that cross":       {model(t, waits.Spec{Kind: waits.Quantiles, Levels: []float64{0.2, 0.8}}, 1, constant(1, log(8)), constant(1, log(2))), 4, 8},
		"a forest of two trees of parts": {model(t, waits.Spec{Kind: waits.Forest}, 1, formula{features: 1, each: []float64{log(1) / 2, log(9) / 2}}), 5, 9},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := tt.model.Forecast(0, []float32{1})
			median, last := f.Quantile(0.5).Hours(), f.Waits[len(f.Waits)-1].Hours()
			if math.Abs(median-tt.median) > 0.06*tt.median+0.01 || math.Abs(last-tt.last) > 0.03*tt.last+0.01 {
				t.Errorf("a median of %.2f and a last wait of %.2f hours, want %.2f and %.2f", median, last, tt.median, tt.last)
			}
		})
	}
}

// Whatever the trees say, a forecast is one.
func TestForecastIsADistribution(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		margins := rapid.SliceOfN(rapid.Float64Range(-1e3, 1e3), 30, 30).Draw(t, "margins")
		kind := rapid.SampledFrom([]waits.Kind{waits.Thresholds, waits.AFT, waits.Quantiles, waits.Forest}).Draw(t, "kind")
		i := 0
		wild := formula{each: margins, margin: func([]float32) float64 { i++; return margins[i%len(margins)] }}
		wild.features = 3
		spec := waits.Spec{Kind: kind}
		features := 3
		ensembles := []waits.Ensemble{wild}
		switch kind {
		case waits.Thresholds:
			features = 2
		case waits.AFT:
			spec.Scale = 2
		case waits.Quantiles:
			spec.Levels, ensembles = []float64{0.1, 0.5, 0.9}, []waits.Ensemble{wild, wild, wild}
		}
		f := model(t, spec, features, ensembles...).Forecast(0, make([]float32, features))
		if f.Empty() || !slices.IsSorted(f.Waits) || f.Waits[0] < 0 || f.Waits[len(f.Waits)-1] > 14*24*hour {
			t.Fatalf("waits %v", f.Waits)
		}
	})
}

func TestModelIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		spec      waits.Spec
		ensembles []waits.Ensemble
		want      string
	}{
		"a kind that there is not": {waits.Spec{Kind: "oracle"}, []waits.Ensemble{constant(2, 0)}, `kind "oracle", want thresholds, aft, quantiles or forest`},
		"no ensemble":              {waits.Spec{Kind: waits.Forest}, nil, "0 ensembles, want 1 for the kind forest"},
		"no levels":                {waits.Spec{Kind: waits.Quantiles}, nil, "0 ensembles, want 0 for the kind quantiles"},
		"levels that fall":         {waits.Spec{Kind: waits.Quantiles, Levels: []float64{0.5, 0.4}}, nil, "levels [0.5 0.4], want them ascending between 0 and 1"},
		"no scale":                 {waits.Spec{Kind: waits.AFT}, []waits.Ensemble{constant(2, 0)}, "scale 0, want a positive number"},
		"other features":           {waits.Spec{Kind: waits.Forest}, []waits.Ensemble{constant(3, 0)}, "ensemble 0 reads 3 features, want 2"},
		"no place for a threshold": {waits.Spec{Kind: waits.Thresholds}, []waits.Ensemble{constant(2, 0)}, "ensemble 0 reads 2 features, want 3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := waits.New(tt.spec, 2, tt.ensembles)
			if err == nil || segue.KindOf(err) != segue.Invalid {
				t.Fatalf("error %v, want one of kind invalid", err)
			}
			if diff := cmp.Diff("model of waits: "+tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
