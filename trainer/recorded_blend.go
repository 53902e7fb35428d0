package trainer

import (
	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/waits"
)

// Blend averages forecasts of recorded waits (waits.Average). A submission of which
// one of them says nothing has an empty forecast.
func Blend(asked []Asked, name string, parts ...Foretold) Foretold {
	t := Foretold{Name: name, Forecasts: make([]segue.Forecast, len(asked))}
	said := make([]segue.Forecast, len(parts))
	for i := range asked {
		for k, part := range parts {
			said[k] = part.Forecasts[i]
		}
		t.Forecasts[i] = waits.Average(name, said...)
		t.Forecasts[i].At = asked[i].At
		if !t.Forecasts[i].Empty() {
			t.Forecasts[i] = counted(t.Forecasts[i])
		}
	}
	return t
}
