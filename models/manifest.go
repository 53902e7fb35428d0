package models

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// FormatVersion is the version of the format that this package reads and
// writes.
const FormatVersion = 1

// Manifest says what a model is, what it was made from, and how good it was
// when it was made. It is the content of manifest.json; what happens to the
// model later is in the registry's log.
type Manifest struct {
	Format int `json:"format"` // FormatVersion; Write sets it
	// ID names the model: lower-case letters, digits, '.', '_' and '-', at most
	// 100. In a registry it is the name of the folder.
	ID      string  `json:"id"`
	Created Instant `json:"created"`
	Version string  `json:"segue_version"` // of the program that trained it
	// Parent is the model that was the champion when this one was trained,
	// empty for the first.
	Parent string   `json:"parent,omitempty"`
	Notes  []string `json:"notes,omitempty"` // anything that a person should know, a line each

	Trace   Trace    `json:"trace"`
	Window  Window   `json:"training_window"`
	Cluster Cluster  `json:"cluster"`
	Pairs   []Pair   `json:"pairs,omitempty"` // what it was trained for
	Seeds   []uint64 `json:"seeds,omitempty"`
	// Settings are all choices of the training that change its result, by name,
	// as a person types them: "every" is "4h0m0s".
	Settings map[string]string `json:"settings,omitempty"`

	Features   Features   `json:"features"`
	Forecaster Forecaster `json:"forecaster"`
	Policies   []Policy   `json:"policies,omitempty"`
	// Metrics are numbers by name, such as "pinball_hours" or
	// "coverage_0.9/2023-02"; none is NaN or infinite.
	Metrics map[string]float64 `json:"metrics,omitempty"`

	Files []File `json:"files"` // every other file, by name; Write sets them
}

// Trace is the job history that a model was trained on.
type Trace struct {
	SHA256 string `json:"sha256"`         // of the input, lower-case hexadecimal
	Name   string `json:"name,omitempty"` // as a person knows it
	Jobs   int64  `json:"jobs,omitempty"` // records used
}

// Window is the part of the history that was trained on: from From up to, but
// not including, Until.
type Window struct {
	From  Instant `json:"from"`
	Until Instant `json:"until"`
}

// Cluster is where the history was recorded.
type Cluster struct {
	Nodes int    `json:"nodes"`
	Name  string `json:"name,omitempty"`
}

// Pair is the shape of both jobs of the pairs that policies were trained for.
type Pair struct {
	Nodes        int   `json:"nodes"`
	GPUsPerNode  int   `json:"gpus_per_node,omitempty"` // 0 takes whole nodes
	LimitSeconds int64 `json:"limit_seconds"`
}

// PairOf returns the pair of a shape, whose limit it rounds down to seconds.
func PairOf(s segue.Shape) Pair {
	return Pair{Nodes: s.Nodes, GPUsPerNode: s.GPUsPerNode, LimitSeconds: int64(s.Limit / time.Second)}
}

// Shape returns the shape of each job.
func (p Pair) Shape() segue.Shape {
	return segue.Shape{Nodes: p.Nodes, GPUsPerNode: p.GPUsPerNode, Limit: time.Duration(p.LimitSeconds) * time.Second}
}

// String returns for example "8 nodes x 48h0m0s".
func (p Pair) String() string { return p.Shape().String() }

// Forecaster describes the forecaster of the model.
type Forecaster struct {
	Name  string   `json:"name"`            // stable, as in segue.Forecast.Source
	What  string   `json:"what,omitempty"`  // one sentence: how it was trained
	Files []string `json:"files,omitempty"` // which files of the model it reads
}

// Policy is one policy of the model.
type Policy struct {
	Name string `json:"name"`           // stable, as in segue.Decision.Policy
	Kind string `json:"kind"`           // what reads the file: "moe", "mlp", "transformer", ...
	File string `json:"file,omitempty"` // of its weights, empty when it has none
	// Settings hold the parameter for pairs and preferences.
	Settings []Setting `json:"settings,omitempty"`
}

// Setting is the parameter for one pair at one preference, tuned or the preference
// itself, and what it achieved on starts that the policy was not trained on.
type Setting struct {
	Pair      Pair      `json:"pair"`
	Prefer    float64   `json:"prefer"` // hours of overlap worth one hour of interruption
	Parameter float64   `json:"parameter"`
	Cost      *Estimate `json:"cost_hours,omitempty"` // nil: not measured
	GapClosed *Estimate `json:"gap_closed,omitempty"` // nil: not measured
}

// Estimate is a mean with the bounds of its interval.
type Estimate struct {
	Mean float64 `json:"mean"`
	Lo   float64 `json:"lo"`
	Hi   float64 `json:"hi"`
}

// EstimateOf returns what a backtest found, nil when it is not known with an
// interval.
func EstimateOf(e evaluation.Estimate) *Estimate {
	if !e.Mean.Known() || !e.Lo.Known() || !e.Hi.Known() {
		return nil
	}
	return &Estimate{Mean: float64(e.Mean), Lo: float64(e.Lo), Hi: float64(e.Hi)}
}

// File is one file of the model.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Instant is a segue.Time whose text is RFC 3339 in UTC.
type Instant segue.Time

// Time returns the instant as the rest of Segue counts it.
func (i Instant) Time() segue.Time { return segue.Time(i) }

// String returns RFC 3339 in UTC, or "unknown" or "never".
func (i Instant) String() string { return i.Time().String() }

// MarshalText writes RFC 3339 with as many decimals of a second as needed.
func (i Instant) MarshalText() ([]byte, error) {
	if t := i.Time(); !t.Known() || t == segue.Never {
		return nil, segue.Errorf(segue.Invalid, "the instant is %s", t)
	}
	return i.Time().Std().AppendFormat(nil, time.RFC3339Nano), nil
}

// UnmarshalText reads RFC 3339.
func (i *Instant) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return segue.Errorf(segue.Invalid, "%q is no instant, want 2006-01-02T15:04:05Z", text)
	}
	*i = Instant(segue.TimeOf(t))
	return nil
}
