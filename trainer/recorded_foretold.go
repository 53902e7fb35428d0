package trainer

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

// Foretold are the forecasts of one forecaster, one for every submission asked
// about.
type Foretold struct {
	Name string // stable
	// Recalibrated is true when the forecasts were corrected by what was known of
	// the turnouts of earlier ones.
	Recalibrated bool
	Forecasts    []segue.Forecast
}

// Baselines returns what can be said without learning. origins are the instants,
// ascending, at which the factor of the scaled forward simulation is chosen by
// what was known then. Of forecasts that are distributions there are two: as they
// are, and recalibrated.
func Baselines(asked []Asked, origins []segue.Time) []Foretold {
	list := []Foretold{
		pointForecasts(asked, "no-wait", func(int) time.Duration { return 0 }),
		pointForecasts(asked, "recent-mean", func(i int) time.Duration { return asked[i].Told["recent"].Mean() }),
		pointForecasts(asked, "recent-shape-mean", func(i int) time.Duration { return asked[i].Told["recent-shape"].Mean() }),
		pointForecasts(asked, forwardName, func(i int) time.Duration { return asked[i].Told[forwardName].Mean() }),
		scaledForward(asked, origins),
	}
	for _, name := range []string{"recent", "recent-user", "recent-shape", "monte-carlo"} {
		said := make([]segue.Forecast, len(asked))
		for i := range asked {
			said[i] = counted(asked[i].Told[name])
		}
		list = append(list, Foretold{Name: name, Forecasts: said}, RecalibrateOnline(asked, name, said, 0))
	}
	errors := forwardErrors(asked)
	return append(list, errors, RecalibrateOnline(asked, errors.Name, errors.Forecasts, 0))
}

const forwardName = "forward-limits"

// counted returns the forecast with its waits as they count, or where there is
// none that of no wait.
func counted(f segue.Forecast) segue.Forecast {
	if f.Empty() {
		f.Waits = []time.Duration{0}
		return f
	}
	said := make([]time.Duration, len(f.Waits))
	for i, w := range f.Waits {
		said[i] = countedWait(w)
	}
	return segue.Forecast{At: f.At, Source: f.Source, Waits: said}
}

func pointForecasts(asked []Asked, name string, say func(i int) time.Duration) Foretold {
	t := Foretold{Name: name, Forecasts: make([]segue.Forecast, len(asked))}
	for i := range asked {
		t.Forecasts[i] = segue.NewForecast(asked[i].At, name, []time.Duration{countedWait(say(i))})
	}
	return t
}

// scaledForward multiplies the forward simulation by the factor that would have
// had the least mean absolute error, as known at the last origin.
func scaledForward(asked []Asked, origins []segue.Time) Foretold {
	factor, next := 1.0, 0
	return pointForecasts(asked, forwardName+"-scaled", func(i int) time.Duration {
		for ; next < len(origins) && origins[next] <= asked[i].At; next++ {
			factor = bestFactor(asked[:i], origins[next])
		}
		return time.Duration(factor * float64(asked[i].Told[forwardName].Mean()))
	})
}

func bestFactor(asked []Asked, at segue.Time) float64 {
	best, least := 1.0, math.Inf(1)
	for factor := 0.0; factor <= 4; factor += 0.05 {
		sum := 0.0
		for i := range asked {
			if wait, over := asked[i].Wait(at); over {
				sum += math.Abs(wait.Hours() - factor*asked[i].Told[forwardName].Mean().Hours())
			}
		}
		if sum < least {
			best, least = factor, sum
		}
	}
	return best
}

// forwardErrors makes a distribution of the forward simulation: each of the last
// jobs that started says by what factor it was wrong.
func forwardErrors(asked []Asked) Foretold {
	t := Foretold{Name: forwardName + "-errors", Forecasts: make([]segue.Forecast, len(asked))}
	var factors []float64
	over := inOrderOfStart(asked)
	for i := range asked {
		a := &asked[i]
		for len(over) > 0 && asked[over[0]].Left < a.At {
			b := &asked[over[0]]
			wait, _ := b.Wait(a.At)
			factors = append(factors, (wait.Hours()+waits.Offset)/(b.Told[forwardName].Mean().Hours()+waits.Offset))
			over = over[1:]
		}
		list := []time.Duration{a.Told[forwardName].Mean()}
		if n := len(factors); n > 0 {
			list = list[:0]
			for _, factor := range factors[max(0, n-recentJobs):] {
				hours := (a.Told[forwardName].Mean().Hours()+waits.Offset)*factor - waits.Offset
				list = append(list, time.Duration(min(hours, longestHours)*float64(time.Hour)))
			}
		}
		t.Forecasts[i] = counted(segue.NewForecast(a.At, t.Name, list))
	}
	return t
}

// longestHours bounds a forecast wait: two weeks, as everywhere.
const longestHours = 14 * 24

// inOrderOfStart returns the submissions that started, by the instants at which
// they did.
func inOrderOfStart(asked []Asked) []int {
	var order []int
	for i := range asked {
		if asked[i].Started {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(asked[a].Left, asked[b].Left) })
	return order
}

// RecalibrateOnline corrects the forecasts, one for every submission, by what was
// known at each of how earlier ones had turned out: the waits that were over,
// which count half after halfLife (0: the default of waits.Follower), and
// those that had lasted so far. Empty forecasts stay empty and teach nothing.
func RecalibrateOnline(asked []Asked, name string, said []segue.Forecast, halfLife time.Duration) Foretold {
	t := Foretold{Name: name, Recalibrated: true, Forecasts: make([]segue.Forecast, len(asked))}
	turnouts := make([]waits.Turnout, len(asked))
	for i := range asked {
		turnouts[i] = waits.Turnout{Forecast: said[i], Left: asked[i].Left, Started: asked[i].Started}
	}
	past := waits.NewPast(waits.Follower{HalfLife: halfLife}, turnouts, waits.AtOnce)
	for i := range asked {
		t.Forecasts[i] = past.Correct(said[i])
		if !said[i].Empty() {
			t.Forecasts[i] = counted(t.Forecasts[i])
		}
	}
	return t
}
