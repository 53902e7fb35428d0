package web

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// t0 is when the tests begin.
var t0 = segue.TimeOf(time.Date(2026, 3, 1, 14, 20, 0, 0, time.UTC))

// Secrets of the tests.
const (
	adaWrites = "segue_ada_writes"
	adaReads  = "segue_ada_reads"
	operates  = "segue_op"
)

// house is a house in memory.
type house struct {
	mu        sync.Mutex
	now       segue.Time
	broken    error // of everything but the visitors
	away      error // of the visitors
	queue     Queue
	outlooks  []Outlook
	recent    Recent
	standing  Standing
	chains    []segue.Chain
	links     []segue.Link
	decisions []Recorded
	handovers []Handover
	models    []Model
	histories []History
	coverage  Coverage
	trainings []Training
	log       string
	did       []string // what was changed
}

func (h *house) Viewer(_ context.Context, secret string) (Viewer, error) {
	if h.away != nil {
		return Viewer{}, h.away
	}
	known := map[string]Viewer{
		adaWrites: {User: "ada", MayChange: true}, adaReads: {User: "ada"}, operates: {User: "olga", MayChange: true, Operator: true},
	}
	v, ok := known[secret]
	if !ok {
		return v, segue.Errorf(segue.NotFound, "nobody")
	}
	return v, nil
}

func (h *house) Queue(context.Context) (Queue, error)         { return h.queue, h.broken }
func (h *house) Outlooks(context.Context) ([]Outlook, error)  { return h.outlooks, h.broken }
func (h *house) Standing(context.Context) (Standing, error)   { return h.standing, h.broken }
func (h *house) Models(context.Context) ([]Model, error)      { return h.models, h.broken }
func (h *house) Histories(context.Context) ([]History, error) { return h.histories, h.broken }

func (h *house) Recent(context.Context, segue.Shape) (Recent, error) { return h.recent, h.broken }

func (h *house) Chains(_ context.Context, q ChainQuery) ([]segue.Chain, error) {
	var all []segue.Chain
	seen := q.BeforeID == ""
	for _, c := range h.chains {
		if seen && (q.User == "" || c.User == q.User) && (q.State == nil || c.State == *q.State) && len(all) < q.Limit {
			all = append(all, c)
		}
		seen = seen || c.ID == q.BeforeID
	}
	return all, h.broken
}

func (h *house) Count(_ context.Context, user string) (map[segue.ChainState]int, error) {
	counts := map[segue.ChainState]int{}
	for _, c := range h.chains {
		if user == "" || c.User == user {
			counts[c.State]++
		}
	}
	return counts, h.broken
}

func (h *house) Chain(_ context.Context, id string) (segue.Chain, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.chains {
		if c.ID == id {
			return c, h.broken
		}
	}
	return segue.Chain{}, segue.Errorf(segue.NotFound, "there is no such chain")
}

func (h *house) Links(context.Context, string) ([]segue.Link, error) { return h.links, h.broken }

func (h *house) Decisions(_ context.Context, _ string, before Place, n int) ([]Recorded, error) {
	found := slices.DeleteFunc(slices.Clone(h.decisions), func(r Recorded) bool {
		return before.At != segue.Never && r.Decision.At >= before.At
	})
	return found[:min(n, len(found))], h.broken
}

func (h *house) Open(_ context.Context, user string) ([]Recorded, error) {
	return slices.DeleteFunc(slices.Clone(h.decisions), func(r Recorded) bool { return user != "" && r.Decision.Request.User != user }), h.broken
}

func (h *house) Handovers(context.Context, string, segue.Time, int) ([]Handover, error) {
	return h.handovers, h.broken
}

func (h *house) SetState(_ context.Context, by Viewer, id string, from, to segue.ChainState, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, fmt.Sprintf("%s: %s from %s to %s: %s", by.User, id, from, to, why))
	for i := range h.chains {
		if h.chains[i].ID == id {
			h.chains[i].State = to
		}
	}
	return h.broken
}

func (h *house) Promote(_ context.Context, by Viewer, id, reason string) error {
	h.did = append(h.did, fmt.Sprintf("%s promotes %s: %s", by.User, id, reason))
	return h.broken
}

func (h *house) Rollback(_ context.Context, by Viewer, expected, reason string) (string, error) {
	h.did = append(h.did, fmt.Sprintf("%s rolls back from %s: %s", by.User, expected, reason))
	return "before", h.broken
}

func (h *house) Coverage(context.Context, string) (Coverage, error) { return h.coverage, h.broken }

func (h *house) Trainings(context.Context, int) ([]Training, error) { return h.trainings, h.broken }

func (h *house) Log(_ context.Context, _ string, most int64) ([]byte, int64, error) {
	return []byte(h.log[max(0, len(h.log)-int(most)):]), int64(len(h.log)), h.broken
}

// serve returns a dashboard on the house.
func (h *house) serve(tb testing.TB) *Web {
	tb.Helper()
	w, err := New(h.services(), Config{Now: func() segue.Time { return h.now }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// services returns the house as all that a dashboard stands on.
func (h *house) services() Services { return Services{h, h, h, h, h, h} }

// emptyHouse is an installation that nobody has used yet.
func emptyHouse() *house { return &house{now: t0} }

// fullHouse has some of everything, and every text of others is text.
func fullHouse(text string) *house {
	shape := segue.Shape{Nodes: 4, GPUsPerNode: 8, Limit: 48 * time.Hour}
	h := &house{
		now: t0,
		queue: Queue{Cluster: text, Live: true, At: t0, Nodes: 60, IdleNodes: 2, Shapes: []ShapeCount{
			{Shape: shape, Running: 7, Pending: 30, Longest: 5 * time.Hour}, {Shape: segue.Shape{Nodes: 1, Limit: segue.Unlimited}, Running: 3},
		}},
		recent: Recent{From: t0.Add(-7 * 24 * time.Hour), Until: t0, Waits: forecast(t0, text, 41)},
		standing: Standing{
			Checks:  []Check{{"store", true, "answers"}, {"scheduler", false, "does not answer"}, {"model", true, "m2 decides"}},
			Leaders: []Leader{{"chains", text}}, Version: text,
		},
		histories: []History{{Cluster: text, Jobs: 97_250, First: t0.Add(-90 * 24 * time.Hour), Last: t0, Seen: t0, Accounted: t0.Add(-72 * time.Hour)}},
		coverage:  Coverage{Estimated: 12, Snapshots: 900, FirstSnapshot: t0.Add(-9 * 24 * time.Hour)},
		log:       "collect\n" + text + "\ntrain\n",
	}
	for i := range 5 {
		h.outlooks = append(h.outlooks, Outlook{Shape: shape, Forecasts: []segue.Forecast{forecast(t0, text, 21+i), forecast(t0.Add(time.Hour), text, 21)}})
	}
	for _, day := range []int{0, 1, 2, 9, 10, 40} {
		h.coverage.Days = append(h.coverage.Days, Day{t0.Add(time.Duration(day-90) * 24 * time.Hour), int64(100 + day)})
	}
	for i, state := range (overviewData{}).States() {
		for _, user := range []string{"ada", "bob", text} {
			h.chains = append(h.chains, segue.Chain{
				ID: fmt.Sprintf("c%d%d", i, len(h.chains)), Name: text, User: user, Created: t0.Add(-time.Duration(len(h.chains)) * time.Hour), State: state, Why: text,
				Request: segue.Request{Shape: shape, User: user, Partition: text, Account: text},
			})
		}
	}
	h.fillChain(text)
	h.models = []Model{
		{ID: "m3", State: "new", Created: t0, From: t0.Add(-50 * 24 * time.Hour), Until: t0, Jobs: 9000, Nodes: 60, Parent: "m2", Policies: []string{text}, Metrics: map[string]float64{text: 2, "only": 1}},
		{ID: "m2", State: "champion", Champion: true, Reason: text, Created: t0.Add(-24 * time.Hour), Parent: "m1", Metrics: map[string]float64{text: 3}, InUse: true},
		{ID: "m1", State: "former champion", Parent: "m0", Created: segue.NoTime, From: segue.NoTime, Until: segue.NoTime},
		{ID: "bad", State: "damaged", Error: text, Created: segue.NoTime},
	}
	h.trainings = []Training{
		{ID: "20260301-020000", Cluster: text, Cause: "schedule", Started: t0.Add(-time.Hour), Ended: segue.NoTime, State: "running", Step: "train", HasLog: true},
		{ID: "20260228-020000", Cluster: text, Cause: "hand", Started: t0.Add(-25 * time.Hour), Ended: t0.Add(-24 * time.Hour), State: "failed", Why: text, Model: "m3"},
	}
	return h
}

// fillChain gives the chains links, decisions and handovers.
func (h *house) fillChain(text string) {
	for i := range 4 {
		start := t0.Add(time.Duration(i-4) * 47 * time.Hour)
		h.links = append(h.links, segue.Link{
			Chain: "c00", Number: i + 1, Attempt: 1, State: segue.LinkEnded, Job: segue.JobID{Number: int64(100 + i)}, Planned: start.Add(-5 * time.Hour),
			Submitted: start.Add(-5 * time.Hour), Start: start, End: start.Add(48 * time.Hour), Ready: segue.NoTime, Ended: segue.Timeout, ExitCode: 1,
		})
	}
	last := &h.links[3]
	last.State, last.End = segue.LinkRunning, t0.Add(390*time.Minute)
	for i := range 3 {
		d := decision(t0.Add(-time.Duration(i)*time.Hour), i == 0)
		d.Reason, d.Policy, d.Model, d.Forecast.Source = text, text, text, text
		h.decisions = append(h.decisions, Recorded{Chain: "c00", Number: 5, Attempt: i + 1, Decision: d, Known: i == 2, Interruption: time.Hour})
	}
	for i := range 60 {
		d := decision(t0.Add(-time.Duration(i)*24*time.Hour), true)
		h.handovers = append(h.handovers, Handover{
			Recorded:  Recorded{Chain: "c00", Number: i + 2, Attempt: 1, Decision: d, Known: true, Overlap: 2 * time.Hour},
			Submitted: d.At, Start: d.At.Add(d.Forecast.Quantile(float64(i%20) / 20)),
		})
	}
}

// forecast returns n waits, from 10 minutes on in steps of 20.
func forecast(at segue.Time, source string, n int) segue.Forecast {
	waits := make([]time.Duration, n)
	for i := range waits {
		waits[i] = time.Duration(10+20*i) * time.Minute
	}
	return segue.NewForecast(at, source, waits)
}

// decision is one with 6 h 30 min to go. An hour later there would be a gap of 40
// minutes in 3 of 10 cases.
func decision(at segue.Time, submit bool) segue.Decision {
	d := segue.Decision{
		At: at, Policy: "planner", Request: segue.Request{Shape: segue.Shape{Nodes: 4, Limit: 48 * time.Hour}, User: "ada"},
		Remaining: 390 * time.Minute, Prefer: segue.Balanced, Submit: submit, SubmitAt: at, Forecast: forecast(at, "montecarlo", 21),
		Alternatives: []segue.Alternative{
			{SubmitAt: at, Overlap: 3 * time.Hour, Interruption: 2 * time.Minute, StartsBeforeEnd: 0.95, Cost: 0.8},
			{SubmitAt: at.Add(time.Hour), Overlap: 2 * time.Hour, Interruption: 12 * time.Minute, StartsBeforeEnd: 0.7, Cost: 0.7},
			{SubmitAt: at.Add(390 * time.Minute), Interruption: 4 * time.Hour, StartsBeforeEnd: 0.1, Cost: 4},
		},
		Reason: "The planner said so.",
	}
	if !submit {
		d.SubmitAt = at.Add(time.Hour)
	}
	return d
}

// hostile is a text that breaks out of anything that does not escape it.
var hostile = `</title></script><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "`${x}\u202e\x00" + strings.Repeat("w", 300)
