package predictor

import "github.com/segue-project/segue"

// Forecaster forecasts the wait of a request submitted now. It is not safe for
// concurrent use: it keeps the memory of its simulations.
type Forecaster interface {
	// Name is stable: it names the forecaster in decisions and results.
	Name() string
	// Forecast returns the distribution of the wait; an empty one when there is
	// nothing to forecast from.
	Forecast(now *Present, req segue.Request) (segue.Forecast, error)
}

// Present is everything that may be known at one instant.
type Present struct {
	Snapshot segue.Snapshot
	History  *History
	// Owner is the user who asks: their jobs are links of chains and run to
	// their limits.
	Owner string
}

// owns reports whether the user is the one who asks.
func (p *Present) owns(user string) bool { return user == p.Owner && user != "" }
