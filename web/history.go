package web

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/reports"
)

// historyData is what the page of the histories shows.
type historyData struct {
	Histories []historyView
	Now       segue.Time
	Operator  bool
}

// historyView is the history of a cluster, and how good it is.
type historyView struct {
	History
	Coverage part[Coverage]
	Gaps     []gapView
	MoreGaps int
	Missing  int // days without jobs
	Text     []string
	Months   figure
}

// gapView is some days in a row without a job.
type gapView struct {
	From, Until segue.Time // the first day, and the last one
	Days        int
}

// maxGaps is how many gaps of a history are listed, the latest ones.
const maxGaps = 20

func (w *Web) history(v visit) error {
	all, err := w.services.Histories.Histories(v.r.Context())
	if err != nil {
		return err
	}
	data := historyData{Now: w.cfg.Now(), Operator: v.viewer.Operator}
	for _, h := range all {
		view := historyView{History: h}
		view.Coverage = load(v, "coverage of "+short(h.Cluster), func() (Coverage, error) {
			return w.services.Histories.Coverage(v.r.Context(), h.Cluster)
		})
		view.finish(data.Now)
		data.Histories = append(data.Histories, view)
	}
	return v.show(frame{Page: "history", Title: "History", Section: "/history", Data: data})
}

// finish finds the gaps, and says in sentences how good the history is.
func (h *historyView) finish(now segue.Time) {
	days := h.Coverage.Value.Days
	for i := 1; i < len(days); i++ {
		missing := int(days[i].Begin.Sub(days[i-1].Begin)/(24*time.Hour)) - 1
		if missing > 0 {
			h.Missing += missing
			h.Gaps = append([]gapView{{From: days[i-1].Begin.Add(24 * time.Hour), Until: days[i].Begin.Add(-24 * time.Hour), Days: missing}}, h.Gaps...)
		}
	}
	h.MoreGaps = max(0, len(h.Gaps)-maxGaps)
	h.Gaps = h.Gaps[:min(len(h.Gaps), maxGaps)]
	h.Text = h.sentences(now)
	h.Months = figureOf(monthly(days), 560, "Jobs by month")
}

func (h *historyView) sentences(now segue.Time) []string {
	if h.Jobs == 0 {
		return []string{"There is no job in it yet."}
	}
	text := []string{fmt.Sprintf("%s jobs, submitted from %s to %s UTC; the latest one %s ago.",
		grouped(h.Jobs), moment(h.First), moment(h.Last), span(max(0, now.Sub(h.Last))))}
	if c := h.Coverage.Value; c.Estimated > 0 {
		text = append(text, fmt.Sprintf("Of %s of them the end is a guess from looks at the queue (%s).",
			grouped(c.Estimated), percent(float64(c.Estimated)/float64(h.Jobs))))
	}
	if h.Missing > 0 {
		text = append(text, fmt.Sprintf("%s without a job in %s: a history with gaps makes queues look shorter than they were.",
			count(h.Missing, "day"), count(len(h.Gaps)+h.MoreGaps, "place")))
	}
	if known(h.Accounted) && now.Sub(h.Accounted) > 24*time.Hour {
		text = append(text, fmt.Sprintf("The accounting was last asked %s ago: is it away?", span(now.Sub(h.Accounted))))
	}
	return text
}

// monthly draws how many jobs each month has.
func monthly(days []Day) reports.Figure {
	dots := reports.Dots{Title: "Jobs by month", Row: "month", Panels: []reports.DotPanel{{Title: "jobs", Axis: "jobs"}}}
	for _, d := range days {
		name := d.Begin.Std().Format("2006-01")
		if n := len(dots.Rows); n == 0 || dots.Rows[n-1].Name != name {
			dots.Rows = append(dots.Rows, reports.DotRow{Name: name})
			dots.Panels[0].Values = append(dots.Panels[0].Values, reports.Dot{})
		}
		last := &dots.Panels[0].Values[len(dots.Rows)-1]
		sum := last.Value + float64(d.Jobs)
		*last = reports.Dot{Value: sum, Lo: sum, Hi: sum}
	}
	if extra := len(dots.Rows) - 24; extra > 0 { // two years
		dots.Rows, dots.Panels[0].Values = dots.Rows[extra:], dots.Panels[0].Values[extra:]
	}
	return dots
}
