package store

import (
	"time"

	"github.com/segue-project/segue"
)

// The parts of a decision that are kept as JSON, in microseconds.

type storedRequest struct {
	Nodes       int    `json:"nodes"`
	GPUsPerNode int    `json:"gpus_per_node,omitempty"`
	Limit       int64  `json:"limit"`
	User        string `json:"user"`
	Account     string `json:"account,omitempty"`
	Partition   string `json:"partition,omitempty"`
	QOS         string `json:"qos,omitempty"`
}

func requestOf(r segue.Request) storedRequest {
	return storedRequest{r.Nodes, r.GPUsPerNode, span(r.Limit), text(r.User), text(r.Account), text(r.Partition), text(r.QOS)}
}

func (r storedRequest) value() segue.Request {
	return segue.Request{
		Shape: segue.Shape{Nodes: r.Nodes, GPUsPerNode: r.GPUsPerNode, Limit: spanOf(r.Limit)},
		User:  r.User, Account: r.Account, Partition: r.Partition, QOS: r.QOS,
	}
}

// keptQuantiles is how many waits of a forecast are kept: 0, 5 %, ..., 100 %.
const keptQuantiles = 21

type storedForecast struct {
	At     int64   `json:"at"`
	Source string  `json:"source"`
	Waits  []int64 `json:"waits"`
}

func forecastOf(f segue.Forecast) storedForecast {
	waits := f.Waits
	if len(waits) > keptQuantiles {
		waits = make([]time.Duration, keptQuantiles)
		for i := range waits {
			waits[i] = f.Quantile(float64(i) / (keptQuantiles - 1))
		}
	}
	out := storedForecast{At: int64(f.At), Source: text(f.Source)}
	for _, w := range waits {
		out.Waits = append(out.Waits, span(w))
	}
	return out
}

func (f storedForecast) value() segue.Forecast {
	out := segue.Forecast{At: segue.Time(f.At), Source: f.Source}
	for _, us := range f.Waits {
		out.Waits = append(out.Waits, spanOf(us))
	}
	return out
}

type storedAlternative struct {
	SubmitAt        int64   `json:"submit_at"`
	Interruption    int64   `json:"interruption"`
	Overlap         int64   `json:"overlap"`
	StartsBeforeEnd float64 `json:"starts_before_end"`
	Cost            float64 `json:"cost"`
	Forecaster      string  `json:"forecaster,omitempty"`
}

func alternativesOf(all []segue.Alternative) []storedAlternative {
	var out []storedAlternative
	for _, a := range all {
		out = append(out, storedAlternative{int64(a.SubmitAt), span(a.Interruption), span(a.Overlap), a.StartsBeforeEnd, a.Cost, text(a.Forecaster)})
	}
	return out
}

func valuesOf(all []storedAlternative) []segue.Alternative {
	var out []segue.Alternative
	for _, a := range all {
		out = append(out, segue.Alternative{
			SubmitAt: segue.Time(a.SubmitAt), Interruption: spanOf(a.Interruption), Overlap: spanOf(a.Overlap),
			StartsBeforeEnd: a.StartsBeforeEnd, Cost: a.Cost, Forecaster: a.Forecaster,
		})
	}
	return out
}
