package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/reports"
)

// maxRisks is how many chains at risk the overview names, and maxShapes how many
// shapes of the queue.
const (
	maxRisks  = 12
	maxShapes = 12
)

// overviewData is what the overview shows.
type overviewData struct {
	Queue     part[Queue]
	MoreJobs  int // shapes of the queue that are not shown
	Outlooks  part[[]outlookView]
	Risks     part[[]riskView]
	Watched   int // chains whose next link has not started
	Counts    part[map[segue.ChainState]int]
	Standing  part[Standing]
	Histories part[[]History]
	Now       segue.Time
	Empty     bool // neither chains nor a history
	Operator  bool
}

// outlookView is how long submissions of a shape would wait.
type outlookView struct {
	Shape  segue.Shape
	Text   string // in a sentence
	Recent string
	Now    segue.Forecast
	Figure figure
}

// riskView is a chain, with the odds of a gap by the latest decision.
type riskView struct {
	Chain    string
	Link     int
	Gap      float64 // probability
	Length   string  // of the gap, if it comes
	Decided  segue.Time
	Sentence string
}

// States returns the states that a page counts, in order.
func (overviewData) States() []segue.ChainState {
	return []segue.ChainState{segue.ChainActive, segue.ChainPaused, segue.ChainDone, segue.ChainStopped, segue.ChainFailed}
}

func (w *Web) overview(v visit) error {
	ctx := v.r.Context()
	data := overviewData{Now: w.cfg.Now(), Operator: v.viewer.Operator}
	data.Queue = load(v, "queue", func() (Queue, error) { return w.services.Cluster.Queue(ctx) })
	data.limitShapes()
	data.Outlooks = load(v, "forecast", func() ([]outlookView, error) { return w.outlooks(ctx) })
	data.Risks = load(v, "chains at risk", func() ([]riskView, error) {
		open, err := w.services.Chains.Open(ctx, v.whose())
		data.Watched = len(open)
		return risksOf(open), err
	})
	data.Counts = load(v, "number of chains", func() (map[segue.ChainState]int, error) { return w.services.Chains.Count(ctx, v.whose()) })
	data.Standing = load(v, "state of the server", func() (Standing, error) { return w.services.Cluster.Standing(ctx) })
	data.Histories = load(v, "history", func() ([]History, error) { return w.services.Histories.Histories(ctx) })
	data.Empty = data.isEmpty()
	return v.show(frame{Page: "overview", Title: "Overview", Section: "/", Live: true, Data: &data})
}

// isEmpty reports whether nothing is there to show yet.
func (d *overviewData) isEmpty() bool {
	for _, h := range d.Histories.Value {
		if h.Jobs > 0 {
			return false
		}
	}
	return d.Counts.Problem == "" && d.Histories.Problem == "" && len(d.Counts.Value) == 0
}

// limitShapes keeps the shapes of which most jobs wait.
func (d *overviewData) limitShapes() {
	all := slices.Clone(d.Queue.Value.Shapes)
	slices.SortStableFunc(all, func(a, b ShapeCount) int {
		return cmp.Or(cmp.Compare(b.Pending, a.Pending), cmp.Compare(b.Running, a.Running))
	})
	for _, s := range all[min(len(all), maxShapes):] {
		d.MoreJobs += s.Running + s.Pending
	}
	d.Queue.Value.Shapes = all[:min(len(all), maxShapes)]
}

// Totals returns all jobs of the queue.
func (d *overviewData) Totals() (t ShapeCount) {
	for _, s := range d.Queue.Value.Shapes {
		t.Running += s.Running
		t.Pending += s.Pending
	}
	return t
}

func (w *Web) outlooks(ctx context.Context) ([]outlookView, error) {
	all, err := w.services.Cluster.Outlooks(ctx)
	if err != nil {
		return nil, err
	}
	var views []outlookView
	for _, o := range all {
		if len(o.Forecasts) == 0 || o.Forecasts[0].Empty() {
			continue
		}
		recent, err := w.services.Cluster.Recent(ctx, o.Shape)
		if err != nil {
			return nil, err
		}
		now := o.Forecasts[0]
		views = append(views, outlookView{
			Shape: o.Shape, Now: now, Recent: ofRecent(recent),
			Text:   "Submitted now, " + startsWithin(now) + ".",
			Figure: figureOf(bandOf(o), 400, "How long a job of "+shapeWords(o.Shape)+" would wait, by when it is submitted"),
		})
	}
	return views, nil
}

// bandOf draws the forecasts of a shape.
func bandOf(o Outlook) reports.Band {
	b := reports.Band{Title: shapeWords(o.Shape), X: "submitted after, h", Y: "wait, h", Range: "80 % of waits"}
	for _, f := range o.Forecasts {
		if f.Empty() {
			continue
		}
		b.At = append(b.At, f.At.Sub(o.Forecasts[0].At).Hours())
		b.Lo = append(b.Lo, f.Quantile(0.1).Hours())
		b.Mid = append(b.Mid, f.Quantile(0.5).Hours())
		b.Hi = append(b.Hi, f.Quantile(0.9).Hours())
	}
	return b
}

// risksOf returns the chains whose next link would most likely come too late, the
// worst first.
func risksOf(open []Recorded) []riskView {
	var all []riskView
	for _, r := range open {
		d := r.Decision
		gap, length := oddsOf(d)
		if gap < 0.025 {
			continue
		}
		all = append(all, riskView{Chain: r.Chain, Link: r.Number, Gap: gap, Length: span(length), Decided: d.At, Sentence: explain(d)})
	}
	slices.SortStableFunc(all, func(a, b riskView) int { return cmp.Or(cmp.Compare(b.Gap, a.Gap), cmp.Compare(a.Chain, b.Chain)) })
	return all[:min(len(all), maxRisks)]
}

// oddsOf returns the probability of a gap by a decision as it was made, and how
// long the gap then is on average.
func oddsOf(d segue.Decision) (gap float64, length time.Duration) {
	lead := time.Duration(0)
	if !d.Submit {
		lead = d.SubmitAt.Sub(d.At)
	}
	a, ok := after(d, lead)
	if !ok {
		return 0, 0
	}
	if gap = 1 - a.StartsBeforeEnd; gap > 0 {
		length = time.Duration(float64(a.Interruption) / gap)
	}
	return gap, length
}
