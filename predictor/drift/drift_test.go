package drift_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/drift"
)

var (
	nan   = float32(math.NaN())
	names = []string{"pending_node_hours", "free_nodes", "gpus", "user_wait", "never"}
)

// training is rows of a cluster on which the fuller the queue, the fewer nodes
// are free; gpus never varies, user_wait is missing in one of four rows and
// never in all.
func training(rows int) []float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	var all []float32
	for i := range rows {
		load := rng.Float64()
		wait := float32(load * 10)
		if i%4 == 0 {
			wait = nan
		}
		all = append(all, float32(4000*load), float32(math.Round(50*(1-load))), 3, wait, nan)
	}
	return all
}

func fit(t testing.TB, rows []float32, names []string) *drift.Profile {
	t.Helper()
	p, err := drift.Fit(rows, names, drift.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRowsAreComparedWithTraining(t *testing.T) {
	t.Parallel()
	p := fit(t, training(5000), names)
	inf := float32(math.Inf(1))
	for name, tc := range map[string]struct {
		row  []float32
		want string // "" is like training
	}{
		"in the middle":             {[]float32{2000, 25, 3, 5, nan}, ""},
		"at an end":                 {[]float32{3990, 0, 3, 9.9, nan}, ""},
		"a little beyond it":        {[]float32{4200, 0, 3, 9.9, nan}, ""},
		"missing as it may be":      {[]float32{2000, 25, 3, nan, nan}, ""},
		"a queue never seen":        {[]float32{9120, 0, 3, 9.9, nan}, "pending_node_hours is 9,120, training saw at most 3,998"},
		"less than there can be":    {[]float32{0, -40, 3, 0, nan}, "free_nodes is -40, training saw at least 0"},
		"a constant a little off":   {[]float32{2000, 25, 4, 5, nan}, ""},
		"a constant many times off": {[]float32{2000, 25, 30, 5, nan}, "the features together are unlike training, gpus most: distance "},
		"missing as never before":   {[]float32{2000, nan, 3, 5, nan}, "free_nodes is missing, training always had it"},
		"known as never before":     {[]float32{2000, 25, 3, 5, 0}, "never is 0, training never had it"},
		"infinite":                  {[]float32{inf, 25, 3, 5, nan}, "pending_node_hours is +Inf, training saw at most 3,998"},
		"two at once":               {[]float32{9120, 200, 3, 5, nan}, "free_nodes is 200, training saw at most 50; 2 features are like that"},
		"full queue and idle nodes": {[]float32{3900, 49, 3, 9.9, nan}, "the features together are unlike training, free_nodes most: distance "},
		"another number of them":    {[]float32{2000, 25}, "there are 2 features, training had 5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, why := p.Check(tc.row)
			if ok != (tc.want == "") || !strings.HasPrefix(why, tc.want) || ok != (why == "") {
				t.Errorf("got %v, %q; want %q", ok, why, tc.want)
			}
		})
	}
}

// What a cluster never had and now has is told however little it is; what it
// always had the same may be somewhat different elsewhere.
func TestFeaturesThatNeverVaried(t *testing.T) {
	t.Parallel()
	var rows []float32
	for i := range 200 {
		rows = append(rows, float32(i), 0, 1.0/3, 48)
	}
	p := fit(t, rows, []string{"pending", "gpu_parts", "third", "limit"})
	for name, tc := range map[string]struct {
		row  []float32
		want string
	}{
		"as ever":                    {[]float32{100, 0, 1.0 / 3, 48}, ""},
		"a first job on part of one": {[]float32{100, 0.02, 1.0 / 3, 48}, "gpu_parts is 0.02, in training it was always 0"},
		"less than the limit":        {[]float32{100, 0, 1.0 / 3, 30}, ""},
		"both constants a bit off":   {[]float32{100, 0, 0.4, 40}, ""},
		"ten times the limit":        {[]float32{100, 0, 1.0 / 3, 480}, "the features together are unlike training, limit most: distance "},
		"no limit at all":            {[]float32{100, 0, 1.0 / 3, float32(math.Inf(1))}, "the features together are unlike training, "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, why := p.Check(tc.row)
			if ok != (tc.want == "") || !strings.HasPrefix(why, tc.want) || ok != (why == "") {
				t.Errorf("got %v, %q; want %q", ok, why, tc.want)
			}
		})
	}
}

func TestProfileOfTheTrainingRows(t *testing.T) {
	t.Parallel()
	p := fit(t, []float32{1, nan, 2, 5, 3, 5, 4, 5}, []string{"a", "b"})
	want := []drift.Range{
		{Name: "a", Min: 1, Low: 1, High: 4, Max: 4, Mean: 2.5, SD: math.Sqrt(1.25)},
		{Name: "b", Min: 5, Low: 5, High: 5, Max: 5, Mean: 5, Missing: 0.25},
	}
	if diff := cmp.Diff(want, p.Features, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("features (-want +got):\n%s", diff)
	}
	// a alone varies: the distance is |z|, its correlation with itself being
	// 0.9 x 1 + 0.1. The farthest rows have z = 1.5/sqrt(1.25).
	joint := drift.Joint{Factor: []float64{1, 0, math.Sqrt(0.1)}, Limit: 1.5 / math.Sqrt(1.25)}
	if diff := cmp.Diff(joint, p.Joint, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("joint (-want +got):\n%s", diff)
	}
}

func TestJointDistanceAsWorkedOutByHand(t *testing.T) {
	t.Parallel()
	// Two features of mean 0 and sd 1 with correlation 0.5 in six rows, so that
	// R = 0.9 x (1 0.5; 0.5 1) + 0.1 I = (1 0.45; 0.45 1), and
	// z' R^-1 z of (1, -1) is 2 x (1 + 0.45)/(1 - 0.45^2) = 3.636364.
	h := float32(math.Sqrt(1.5))
	rows := []float32{h, h, h, 0, 0, h, -h, -h, -h, 0, 0, -h}
	p := fit(t, rows, []string{"a", "b"})
	p.Joint.Limit = math.Sqrt(3.636364) - 1e-4
	if ok, _ := p.Check([]float32{1, -1}); ok {
		t.Error("(1, -1) is nearer than 1.9069")
	}
	p.Joint.Limit = math.Sqrt(3.636364) + 1e-4
	if ok, why := p.Check([]float32{1, -1}); !ok {
		t.Errorf("(1, -1) is farther than 1.9069: %s", why)
	}
}

func TestHardlyAnyTrainingRowIsUnlikeTraining(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		width, n := rapid.IntRange(1, 6).Draw(t, "width"), rapid.IntRange(1, 2500).Draw(t, "rows")
		rows := make([]float32, n*width)
		for i := range rows {
			rows[i] = float32(math.Exp(2 * rng.NormFloat64())) // with a heavy tail
			if rng.IntN(10) == 0 {
				rows[i] = nan
			}
		}
		p, err := drift.Fit(rows, strings.Fields("a b c d e f")[:width], drift.Config{})
		if err != nil {
			t.Fatal(err)
		}
		far := 0
		for i := range n {
			if ok, _ := p.Check(rows[i*width : (i+1)*width]); !ok {
				far++
			}
		}
		if most := n/1000 + 1; far > most {
			t.Fatalf("%d of %d training rows are unlike training, want at most %d", far, n, most)
		}
	})
}

func TestProfileIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	p := fit(t, training(500), names)
	text, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := drift.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Errorf("profile (-want +got):\n%s", diff)
	}
	for name, tc := range map[string]struct{ old, replacement, want string }{
		"another version": {`"format":1`, `"format":2`, "format is 2"},
		"unknown key":     {`"rows"`, `"lines"`, `unknown field "lines"`},
		"no features":     {string(text), `{"format":1,"rows":3,"features":[],"joint":{"factor":[],"limit":1}}`, "3 rows of 0 features"},
		"a number less":   {`"factor":[`, `"factor":[],"factor":[1,`, "joint.factor has 16 numbers, want 15"},
		"negative limit":  {`"limit":`, `"limit":-`, "joint.limit is -"},
		"minimum too big": {`"min":0`, `"min":9000`, "out of order"},
		"more after it":   {"}}\n", "}} {}", "something follows"},
		"not JSON":        {string(text), "", "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := strings.Replace(string(text), tc.old, tc.replacement, 1)
			if changed == string(text) {
				t.Fatalf("the profile has no %s", tc.old)
			}
			if _, err := drift.Read([]byte(changed)); segue.KindOf(err) != segue.Corrupt || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v (%s), want corrupt with %q", err, segue.KindOf(err), tc.want)
			}
		})
	}
}

func TestRowsThatCannotBeFittedAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rows  []float32
		names []string
		cfg   drift.Config
		want  string
	}{
		"none":           {nil, names, drift.Config{}, "0 values are no rows of 5 features"},
		"half a row":     {[]float32{1, 2, 3}, names[:2], drift.Config{}, "3 values are no rows of 2 features"},
		"no features":    {[]float32{1}, nil, drift.Config{}, "1 values are no rows of 0 features"},
		"infinite":       {[]float32{1, 2, 1, float32(math.Inf(-1))}, names[:2], drift.Config{}, "row 1, free_nodes is -Inf"},
		"no shrinkage":   {[]float32{1}, names[:1], drift.Config{Shrinkage: -1}, "Shrinkage is -1"},
		"no margin":      {[]float32{1}, names[:1], drift.Config{Margin: -1}, "Margin is -1"},
		"all and beyond": {[]float32{1}, names[:1], drift.Config{Quantile: 1.5}, "Quantile is 1.5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := drift.Fit(tc.rows, tc.names, tc.cfg); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v (%s), want invalid with %q", err, segue.KindOf(err), tc.want)
			}
		})
	}
}

// outcomes are so many a day for 28 days, of which a share is within as within says
// by day.
func outcomes(perDay int, within func(day int) float64) []drift.Outcome {
	var list []drift.Outcome
	for day := range 28 {
		for i := range perDay {
			list = append(list, drift.Outcome{
				Known: segue.Seconds(int64(day)*86400 + int64(i)*86400/int64(perDay) + 1), Within: within(day),
			})
		}
	}
	return list
}

func TestCoverageOutsideItsBandIsNamed(t *testing.T) {
	t.Parallel()
	always := func(share float64) func(int) float64 { return func(int) float64 { return share } }
	for name, tc := range map[string]struct {
		band     drift.Coverage
		outcomes []drift.Outcome
		want     string
	}{
		"as it says":           {drift.Coverage{}, outcomes(10, always(0.9)), ""},
		"at the lower bound":   {drift.Coverage{}, outcomes(10, always(0.87)), ""},
		"too few outcomes":     {drift.Coverage{}, outcomes(1, always(0)), ""},
		"too bold":             {drift.Coverage{}, outcomes(10, always(0.78)), "78 % of the 280 waits of the last 28 days were within the forecast's 90 % quantile, want 87 to 93 %"},
		"too timid":            {drift.Coverage{}, outcomes(10, always(0.98)), "98 % of the 280 waits of the last 28 days were within the forecast's 90 % quantile, want 87 to 93 %"},
		"of the median":        {drift.Coverage{Level: 0.5}, outcomes(10, always(0.9)), "90 % of the 280 waits of the last 28 days were within the forecast's 50 % quantile, want 47 to 53 %"},
		"one bad week":         {drift.Coverage{}, outcomes(10, func(day int) float64 { return map[bool]float64{true: 0.4, false: 0.9}[day/7 == 2] }), ""},
		"bad ever since":       {drift.Coverage{}, outcomes(10, func(day int) float64 { return map[bool]float64{true: 0.4, false: 0.9}[day >= 8] }), "54 % of the 280 waits "},
		"known later":          {drift.Coverage{Window: 14 * 24 * time.Hour, Block: 24 * time.Hour}, outcomes(10, func(day int) float64 { return float64(1 - day/14) }), "0 % of the 140 waits "},
		"longer ago than that": {drift.Coverage{Window: 7 * 24 * time.Hour, Block: 24 * time.Hour}, outcomes(10, func(day int) float64 { return map[bool]float64{true: 0, false: 0.9}[day < 21] }), ""},
		"three blocks of days": {drift.Coverage{Window: 12 * 24 * time.Hour}, outcomes(100, always(0)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, why := tc.band.Check(tc.outcomes, segue.Seconds(28*86400))
			if ok != (tc.want == "") || !strings.HasPrefix(why, tc.want) || ok != (why == "") {
				t.Errorf("got %v, %q; want %q", ok, why, tc.want)
			}
		})
	}
}

// Of waits that are as the forecasts say, a share of the level is within, also
// where the same wait comes again and again.
func TestOutcomesOfRightForecastsAreWithinAsOftenAsTheySay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var waits []time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "waits") {
			waits = append(waits, time.Duration(rapid.IntRange(0, 5).Draw(t, "wait"))*time.Hour)
		}
		level := rapid.Float64Range(0.05, 0.95).Draw(t, "level")
		f := segue.NewForecast(0, "test", waits)
		sum := 0.0
		for _, wait := range waits {
			sum += drift.Coverage{Level: level}.Outcome(f, wait, 0).Within
		}
		if got := sum / float64(len(waits)); math.Abs(got-level) > 1e-9 {
			t.Fatalf("a share of %g of the waits is within the %g quantile", got, level)
		}
	})
}

func FuzzRead(f *testing.F) {
	text, err := fit(f, training(50), names).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":1,"rows":1,"margin":0,"features":[{"name":"a"}],"joint":{"factor":[1],"limit":0}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := drift.Read(text)
		if err != nil {
			if segue.KindOf(err) != segue.Corrupt {
				t.Fatalf("%v is %s, want corrupt", err, segue.KindOf(err))
			}
			return
		}
		row := make([]float32, len(p.Features))
		for i := range row {
			row[i] = float32(i)
		}
		p.Check(row) // never panics
	})
}

func BenchmarkCheck(b *testing.B) {
	const width = 80
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([]float32, 1000*width)
	for i := range rows {
		rows[i] = rng.Float32()
	}
	p := fit(b, rows, strings.Fields(strings.Repeat("feature ", width)))
	b.ReportAllocs()
	for b.Loop() {
		p.Check(rows[:width])
	}
}
