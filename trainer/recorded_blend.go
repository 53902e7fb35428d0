package trainer

import (
	"time"

	"github.com/segue-project/segue"
)

// blendRanks is the number of equally likely waits of a blend.
const blendRanks = 40

// Blend averages forecasts quantile by quantile (Vincent, 1912): where they err
// in different ways, the average errs less than either. A submission of which one
// of them says nothing has an empty forecast.
func Blend(asked []Asked, name string, parts ...Foretold) Foretold {
	t := Foretold{Name: name, Forecasts: make([]segue.Forecast, len(asked))}
	for i := range asked {
		t.Forecasts[i] = segue.Forecast{At: asked[i].At, Source: name}
		if said := averaged(i, parts); said != nil {
			t.Forecasts[i] = counted(segue.NewForecast(asked[i].At, name, said))
		}
	}
	return t
}

func averaged(i int, parts []Foretold) []time.Duration {
	said := make([]time.Duration, blendRanks)
	for _, part := range parts {
		f := part.Forecasts[i]
		if f.Empty() {
			return nil
		}
		for r := range said {
			said[r] += f.Quantile((float64(r)+0.5)/blendRanks) / time.Duration(len(parts))
		}
	}
	return said
}
