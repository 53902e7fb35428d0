package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/reports"
)

// judgedSpan is how far back forecasts are compared with what happened, and
// mostJudged how many of them at most.
const (
	judgedSpan = 365 * 24 * time.Hour
	mostJudged = 5000
)

// levels are the quantiles at which forecasts are judged.
var levels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// forecastsData is what the page of forecasts shows.
type forecastsData struct {
	Judged      int
	Text        []string
	Calibration figure
	Coverage    figure
	Months      []monthView
	Latest      []latestView
	Operator    bool
	Cut         bool // whether there were more than mostJudged
}

// monthView is what happened in a month.
type monthView struct {
	Name                   string
	Starts                 int
	Within90, Within80     string // share within the 90 % quantile, and between 10 % and 90 %
	Gaps                   int
	MeanGap, MeanOverlap   string // of all handovers whose outcome is known
	within, between, known int
	gap, overlap           time.Duration
}

// latestView is one forecast with what happened.
type latestView struct {
	Chain                     string
	Link                      int
	At                        segue.Time
	Half, Most, Waited, Place string
}

func (w *Web) forecasts(v visit) error {
	since := w.cfg.Now().Add(-judgedSpan)
	all, err := w.services.Chains.Handovers(v.r.Context(), v.whose(), since, mostJudged)
	if err != nil {
		return err
	}
	data := judge(all)
	data.Cut = len(all) == mostJudged
	data.Operator = v.viewer.Operator
	return v.show(frame{Page: "forecasts", Title: "Forecasts against what happened", Section: "/forecasts", Data: data})
}

// judge compares forecasts with the waits that followed. Those without a
// distribution say nothing to compare.
func judge(all []Handover) forecastsData {
	judged := slices.DeleteFunc(slices.Clone(all), func(h Handover) bool { return len(h.Decision.Forecast.Waits) < 2 })
	data := forecastsData{Judged: len(judged)}
	if len(judged) == 0 {
		return data
	}
	observed := make([]float64, len(levels))
	for _, h := range judged {
		for i, level := range levels {
			if h.waited() <= h.Decision.Forecast.Quantile(level) {
				observed[i] += 1 / float64(len(judged))
			}
		}
	}
	data.Calibration = figureOf(reports.Calibration{
		Title:  "How many starts came within each quantile",
		Series: []reports.CalibrationSeries{{Name: "all forecasts", Levels: levels, Observed: observed}},
	}, 560, "")
	data.Calibration.Numbers = tableOf("Share of starts within each quantile of their forecast", levelTable(observed))
	data.months(judged)
	data.Text = verdictOn(judged, observed)
	for _, h := range judged[:min(len(judged), 20)] {
		data.Latest = append(data.Latest, latestOf(h))
	}
	return data
}

// levelTable lists the shares at each level.
func levelTable(observed []float64) reports.Table {
	t := reports.Table{Columns: []string{"should be within", "were within"}}
	for i, level := range levels {
		t.Rows = append(t.Rows, []string{percent(level), percent(observed[i])})
	}
	return t
}

// waited returns how long the link waited.
func (h *Handover) waited() time.Duration { return max(0, h.Start.Sub(h.Submitted)) }

func (d *forecastsData) months(judged []Handover) {
	byName := map[string]*monthView{}
	for _, h := range judged {
		name := h.Decision.At.Std().Format("2006-01")
		m := byName[name]
		if m == nil {
			m = &monthView{Name: name}
			byName[name] = m
		}
		m.add(h)
	}
	for _, m := range byName {
		d.Months = append(d.Months, *m)
	}
	slices.SortFunc(d.Months, func(a, b monthView) int { return cmp.Compare(a.Name, b.Name) })
	dots := reports.Dots{Title: "Coverage by month", Panels: []reports.DotPanel{
		{Title: "within the 90 % quantile", Axis: "share of starts", Percent: true, Marks: []reports.Mark{{Value: 0.9, Name: "should be"}}},
		{Title: "between 10 % and 90 %", Axis: "share of starts", Percent: true, Marks: []reports.Mark{{Value: 0.8, Name: "should be"}}},
	}}
	for i := range d.Months {
		m := &d.Months[i]
		m.finish()
		dots.Rows = append(dots.Rows, reports.DotRow{Name: fmt.Sprintf("%s (%d)", m.Name, m.Starts)})
		dots.Panels[0].Values = append(dots.Panels[0].Values, shareOf(m.within, m.Starts))
		dots.Panels[1].Values = append(dots.Panels[1].Values, shareOf(m.between, m.Starts))
	}
	d.Coverage = figureOfBoth(dots, "")
}

func (m *monthView) add(h Handover) {
	m.Starts++
	f, waited := h.Decision.Forecast, h.waited()
	if waited <= f.Quantile(0.9) {
		m.within++
		if waited >= f.Quantile(0.1) {
			m.between++
		}
	}
	if h.Known {
		m.known++
		m.gap += h.Interruption
		m.overlap += h.Overlap
		if h.Interruption > 0 {
			m.Gaps++
		}
	}
}

func (m *monthView) finish() {
	m.Within90, m.Within80 = percent(float64(m.within)/float64(m.Starts)), percent(float64(m.between)/float64(m.Starts))
	m.MeanGap, m.MeanOverlap = unknown, unknown
	if n := time.Duration(m.known); n > 0 {
		m.MeanGap, m.MeanOverlap = span(m.gap/n), span(m.overlap/n)
	}
}

// shareOf returns k of n with its 95 % interval (Wilson, 1927).
func shareOf(k, n int) reports.Dot {
	const z = 1.96
	p, size := float64(k)/float64(n), float64(n)
	centre := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return reports.Dot{Value: p, Lo: max(0, centre-half), Hi: min(1, centre+half)}
}

// verdictOn says in sentences how good the forecasts were.
func verdictOn(judged []Handover, observed []float64) []string {
	n := len(judged)
	share := observed[len(observed)-1]
	interval := shareOf(int(math.Round(share*float64(n))), n)
	text := []string{fmt.Sprintf("Of %s, %s began within the time that 90 %% should keep to, and %s within the time that half should keep to.",
		count(n, "start"), percent(share), percent(observed[4]))}
	switch {
	case n < 20:
		text = append(text, "That is too few to judge by.")
	case interval.Hi < 0.9:
		text = append(text, "Waits were longer than forecast more often than they should be.")
	case interval.Lo > 0.9:
		text = append(text, "Forecasts were on the safe side: waits were shorter than they said.")
	default:
		text = append(text, "So many starts may differ from 90 % by as much by chance.")
	}
	return text
}

func latestOf(h Handover) latestView {
	f, waited := h.Decision.Forecast, h.waited()
	place := "longer than 90 %"
	switch {
	case waited <= f.Quantile(0.1):
		place = "within 10 %"
	case waited <= f.Quantile(0.5):
		place = "within half"
	case waited <= f.Quantile(0.9):
		place = "within 90 %"
	}
	return latestView{
		Chain: h.Chain, Link: h.Number, At: h.Decision.At, Half: span(f.Quantile(0.5)), Most: span(f.Quantile(0.9)), Waited: span(waited), Place: place,
	}
}
