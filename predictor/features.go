package predictor

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// Told are forecasts by the names of their forecasters, for one request at one
// instant.
type Told map[string]segue.Forecast

// Describer turns what is known at one instant into the numbers that learned
// forecasts and policies read. It is the only definition of them, for training
// and for serving. It keeps the memory of its work and is not safe for
// concurrent use.
//
// Sizes are shares of the nodes in service, work is in hours of the whole
// cluster, times are in hours: a model may be asked about a cluster that it has
// never seen. What is not known is NaN.
type Describer struct {
	learned Learned
	runs    []time.Duration
	sheet   sheet
	values  []float64
	frees   []release
}

// sheet is a list of features in the making.
type sheet struct {
	values []float32
	names  []string
	naming bool
}

// put adds one feature.
func (s *sheet) put(name string, value float64) {
	s.values = append(s.values, float32(value))
	if s.naming {
		s.names = append(s.names, name)
	}
}

// FeatureNames returns the names of the features, in order.
func FeatureNames() []string {
	d := Describer{sheet: sheet{naming: true}}
	d.Describe(&Present{History: &History{}}, segue.Request{}, nil, nil)
	return d.sheet.names
}

// FeatureHash identifies a list of feature names: the SHA-256 of the names, each
// ended by a line feed, in hexadecimal digits.
func FeatureHash(names []string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

// Describe appends the features of the request, submitted at now's instant, to
// out and returns it. told holds what the forecasters of Sources say of it.
func (d *Describer) Describe(now *Present, req segue.Request, told Told, out []float32) []float32 {
	d.sheet.values = out
	d.request(now, req)
	d.runs = d.learned.Suppose(now, d.runs)
	free := d.running(now)
	d.pending(now, req, free)
	d.release(now, req, free)
	d.forecasts(told)
	d.past(now)
	d.calendar(now.Snapshot.At)
	d.standing(now, req)
	return d.sheet.values
}

// request describes what is asked for.
func (d *Describer) request(now *Present, req segue.Request) {
	d.sheet.put("request.size", share(req.Nodes, now))
	d.sheet.put("request.nodes_log2", math.Log2(float64(max(req.Nodes, 1))))
	d.sheet.put("request.limit", planned(req.Limit).Hours())
}

// forecasts hands on what the simulations and the recent waits say.
func (d *Describer) forecasts(told Told) {
	for _, name := range []string{"forward-limits", "forward-last-two", "forward-learned"} {
		d.sheet.put(name+".wait", mean(told[name]))
	}
	f := told["monte-carlo"]
	d.sheet.put("monte-carlo.mean", mean(f))
	d.quantiles("monte-carlo", f, 0.1, 0.25, 0.5, 0.75, 0.9)
	d.sheet.put("monte-carlo.at_once", atOnce(f))
	for _, name := range []string{"recent", "recent-shape"} {
		f := told[name]
		d.sheet.put(name+".mean", mean(f))
		d.quantiles(name, f, 0.5, 0.9)
		d.sheet.put(name+".at_once", atOnce(f))
	}
}

func (d *Describer) quantiles(name string, f segue.Forecast, levels ...float64) {
	for _, p := range levels {
		value := math.NaN()
		if !f.Empty() {
			value = f.Quantile(p).Hours()
		}
		d.sheet.put(name+"."+percent(p), value)
	}
}

// calendar describes the time of day and of the week, in UTC.
func (d *Describer) calendar(at segue.Time) {
	day := float64(at.Sub(0)%(24*time.Hour)) / float64(24*time.Hour)
	week := float64(at.Sub(0)%(7*24*time.Hour)) / float64(7*24*time.Hour)
	d.sheet.put("clock.day_sin", math.Sin(2*math.Pi*day))
	d.sheet.put("clock.day_cos", math.Cos(2*math.Pi*day))
	d.sheet.put("clock.week_sin", math.Sin(2*math.Pi*week))
	d.sheet.put("clock.week_cos", math.Cos(2*math.Pi*week))
}

// share returns nodes as a share of those in service.
func share[N int | int32 | float64](nodes N, now *Present) float64 {
	return float64(nodes) / float64(max(now.Snapshot.Nodes, 1))
}

// mean returns the mean of a forecast in hours, NaN for none.
func mean(f segue.Forecast) float64 {
	if f.Empty() {
		return math.NaN()
	}
	return f.Mean().Hours()
}

// atOnce returns the probability of a wait of at most a minute, NaN without a
// forecast.
func atOnce(f segue.Forecast) float64 {
	if f.Empty() {
		return math.NaN()
	}
	return f.StartsWithin(time.Minute)
}
