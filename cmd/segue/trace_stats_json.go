package main

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/traces"
)

// The JSON of segue trace stats. Durations are in seconds, instants in RFC
// 3339 and UTC, shares between 0 and 1; null and a missing key are "not known".
type (
	statsObject struct {
		File         string           `json:"file"`
		Format       string           `json:"format"`
		Incomplete   string           `json:"incomplete,omitempty"` // why the reading ended early
		Lines        int64            `json:"lines"`
		Jobs         int64            `json:"jobs"`
		Started      int64            `json:"started"`
		NeverStarted int64            `json:"never_started"`
		NotEnded     int64            `json:"not_ended"`
		FirstSubmit  *string          `json:"first_submit"`
		LastSubmit   *string          `json:"last_submit"`
		FirstStart   *string          `json:"first_start"`
		LastEnd      *string          `json:"last_end"`
		NodeHours    float64          `json:"node_hours"`
		GPUHours     float64          `json:"gpu_hours"`
		States       []countObject    `json:"states"`
		Users        tallyObject      `json:"users"`
		Accounts     tallyObject      `json:"accounts"`
		Partitions   tallyObject      `json:"partitions"`
		Wait         *durationsObject `json:"wait_seconds"`
		EligibleWait *durationsObject `json:"eligible_wait_seconds"`
		Run          *durationsObject `json:"run_seconds"`
		LimitUsed    *limitUsedObject `json:"limit_used"`
		Shapes       shapesObject     `json:"shapes"`
		Months       []monthObject    `json:"months"`
		Busy         busyObject       `json:"busy_nodes"`
		LongestQueue int64            `json:"longest_queue_jobs"`
		LongestAt    *string          `json:"longest_queue_at"`
		Findings     []findingObject  `json:"findings"`
	}
	countObject struct {
		Name      string  `json:"name"`
		Jobs      int64   `json:"jobs"`
		NodeHours float64 `json:"node_hours"`
	}
	tallyObject struct {
		Distinct int           `json:"distinct"`
		Top      []countObject `json:"top"`
	}
	durationsObject struct {
		Count int64   `json:"count"`
		Mean  float64 `json:"mean"`
		P50   float64 `json:"p50"`
		P90   float64 `json:"p90"`
		P99   float64 `json:"p99"`
		Max   float64 `json:"max"`
	}
	limitUsedObject struct {
		Count int64   `json:"count"`
		Mean  float64 `json:"mean"`
		P10   float64 `json:"p10"`
		P50   float64 `json:"p50"`
		P90   float64 `json:"p90"`
		Max   float64 `json:"max"`
		Over  int64   `json:"over"`
	}
	shapesObject struct {
		Distinct int           `json:"distinct"`
		Top      []shapeObject `json:"top"`
	}
	shapeObject struct {
		Nodes       int      `json:"nodes"`
		GPUsPerNode int      `json:"gpus_per_node,omitempty"`
		Limit       *float64 `json:"limit_seconds"` // null: not known; -1: unlimited
		Jobs        int64    `json:"jobs"`
		NodeHours   float64  `json:"node_hours"`
	}
	monthObject struct {
		Month     string  `json:"month"`
		Jobs      int64   `json:"jobs"`
		MeanWait  float64 `json:"mean_wait_seconds"`
		NodeHours float64 `json:"node_hours"`
	}
	busyObject struct {
		Max      int64      `json:"max"`
		P99      int64      `json:"p99"`
		P90      int64      `json:"p90"`
		P50      int64      `json:"p50"`
		Mean     float64    `json:"mean"`
		Span     float64    `json:"span_seconds"`
		Full     fullObject `json:"full_moments"`
		Largest  int64      `json:"largest_job"`
		Header   int64      `json:"header_nodes,omitempty"`
		Proposed int64      `json:"proposed"`
		Basis    string     `json:"basis"`
	}
	fullObject struct {
		Count int64   `json:"count"`
		Time  float64 `json:"seconds"`
		P50   int64   `json:"p50"`
		P75   int64   `json:"p75"`
		P90   int64   `json:"p90"`
		P95   int64   `json:"p95"`
	}
	findingObject struct {
		Finding  string          `json:"finding"`
		Class    string          `json:"class"`
		Count    int64           `json:"count"`
		Examples []exampleObject `json:"examples"`
	}
	exampleObject struct {
		Line int64  `json:"line"`
		Text string `json:"text"`
	}
)

// object returns what is printed.
func (r statsReport) object() statsObject {
	s, b := r.Statistics, r.Busy
	o := statsObject{
		File: r.file, Format: r.reader.Format().String(), Lines: r.reader.Report().Lines,
		Jobs: s.Jobs, Started: s.Started, NeverStarted: s.NeverStarted, NotEnded: s.NotEnded,
		NodeHours: s.NodeHours, GPUHours: s.GPUHours, States: countObjects(s.States),
		Users: tallyOf(s.Users), Accounts: tallyOf(s.Accounts), Partitions: tallyOf(s.Partitions),
		Wait: durationsOf(s.Wait), EligibleWait: durationsOf(s.EligibleWait), Run: durationsOf(s.Run),
		Shapes: shapesOf(s.Shapes), Months: []monthObject{}, Findings: findingObjects(r.reader.Report()),
		LongestQueue: s.Queue.Jobs, LongestAt: known(s.Queue.At),
		Busy: busyObject{
			b.Max, b.P99, b.P90, b.P50, b.Mean, b.Span.Seconds(),
			fullObject{b.Full.Moments, b.Full.Time.Seconds(), b.Full.P50, b.Full.P75, b.Full.P90, b.Full.P95},
			b.Largest, r.reader.Header().MaxNodes, b.Proposed, b.Basis.String(),
		},
	}
	if r.damage != nil {
		o.Incomplete = r.damage.Error()
	}
	if s.Jobs > 0 {
		o.FirstSubmit, o.LastSubmit = known(s.FirstSubmit), known(s.LastSubmit)
		o.FirstStart, o.LastEnd = known(s.FirstStart), known(s.LastEnd)
	}
	if l := s.LimitUsed; l.Count > 0 {
		o.LimitUsed = &limitUsedObject{l.Count, l.Mean, l.P10, l.P50, l.P90, l.Max, s.OverLimit}
	}
	for _, m := range s.Months {
		o.Months = append(o.Months, monthObject{m.Name, m.Jobs, m.MeanWait.Seconds(), m.NodeHours})
	}
	return o
}

// known returns an instant in RFC 3339, nil if it is not known.
func known(t segue.Time) *string {
	if !t.Known() {
		return nil
	}
	s := t.Std().Format(time.RFC3339)
	return &s
}

func countObjects(counts []traces.Count) []countObject {
	objects := make([]countObject, 0, len(counts))
	for _, c := range counts {
		objects = append(objects, countObject(c))
	}
	return objects
}

func tallyOf(t traces.Tally) tallyObject { return tallyObject{t.Distinct, countObjects(t.Top)} }

func durationsOf(d traces.Durations) *durationsObject {
	if d.Count == 0 {
		return nil
	}
	return &durationsObject{d.Count, d.Mean.Seconds(), d.P50.Seconds(), d.P90.Seconds(), d.P99.Seconds(), d.Max.Seconds()}
}

func shapesOf(s traces.Shapes) shapesObject {
	o := shapesObject{Distinct: s.Distinct, Top: []shapeObject{}}
	for _, c := range s.Top {
		shape := shapeObject{Nodes: c.Nodes, GPUsPerNode: c.GPUsPerNode, Jobs: c.Jobs, NodeHours: c.NodeHours}
		if c.Limit > 0 {
			seconds := c.Limit.Seconds()
			if c.Limit == segue.Unlimited {
				seconds = -1
			}
			shape.Limit = &seconds
		}
		o.Top = append(o.Top, shape)
	}
	return o
}

func findingObjects(r *traces.Report) []findingObject {
	objects := []findingObject{}
	for _, f := range r.Findings() {
		o := findingObject{Finding: f.Reason.String(), Class: f.Reason.Class().String(), Count: f.Count}
		for _, e := range f.Examples {
			o.Examples = append(o.Examples, exampleObject(e))
		}
		objects = append(objects, o)
	}
	return objects
}
