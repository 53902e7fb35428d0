package predictor

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// Forward forecasts by one simulation of the scheduler from the snapshot,
// without later arrivals. Under Limits it is what squeue --start tells.
type Forward struct {
	name string
	sim  *simulator.Forward
	runs RunTimes
	buf  []time.Duration
}

// NewForward returns a forecaster named "forward-" and the name of runs.
func NewForward(cfg simulator.Config, runs RunTimes) (*Forward, error) {
	sim, err := simulator.NewForward(cfg)
	if err != nil {
		return nil, err
	}
	return &Forward{name: "forward-" + runs.Name(), sim: sim, runs: runs}, nil
}

// Name returns for example "forward-limits".
func (f *Forward) Name() string { return f.name }

// waitHorizon bounds a forecast wait.
const waitHorizon = 14 * 24 * time.Hour

// Forecast returns a single wait.
func (f *Forward) Forecast(now *Present, req segue.Request) (segue.Forecast, error) {
	if err := f.sim.Load(&now.Snapshot); err != nil {
		return segue.Forecast{}, err
	}
	runs := f.runs.Suppose(now, f.buf)
	if runs != nil {
		f.buf = runs
	}
	wait, err := f.sim.Wait(req, simulator.Future{Runs: runs, Horizon: waitHorizon})
	if err != nil {
		return segue.Forecast{}, err
	}
	return segue.NewForecast(now.Snapshot.At, f.name, []time.Duration{wait}), nil
}
