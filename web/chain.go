package web

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/reports"
)

// How many of the latest links and decisions the page of a chain shows, unless it is
// asked for more. More links than drawnLinks are too thin to draw.
const (
	drawnLinks     = 30
	shownLinks     = 100
	shownDecisions = 12
	mostDecisions  = 500
)

// chainData is what the page of a chain shows.
type chainData struct {
	Chain        segue.Chain
	Prefer       string
	Timeline     figure
	Drawn        int // links in the drawing
	Links        []linkView
	MoreLinks    int // earlier links that are not shown
	Decisions    []decisionView
	Earlier      string // where earlier decisions are; empty where there are none
	NotTheLatest bool   // of the decisions
	Recent       string
	Verbs        []verb // what the viewer may do to it
	Summary      string
}

// linkView is a link with what became of it.
type linkView struct {
	segue.Link
	Waited  string
	Ran     string
	Before  string // to the link before: a gap or an overlap
	Kind    string // "gap", "overlap" or ""
	How     string // how it ended
	JobName string
}

// decisionView is a decision with its numbers.
type decisionView struct {
	Recorded
	Verdict      string
	Sentence     string
	Came         string
	Quantiles    []quantile
	Alternatives []alternativeView
}

type quantile struct {
	Share string
	Wait  string
}

type alternativeView struct {
	At, Gap, Overlap, Odds, Cost string
	Chosen                       bool
}

// ownChain returns a chain that the viewer may see. Others' are as none.
func (w *Web) ownChain(v visit, id string) (segue.Chain, error) {
	c, err := w.services.Chains.Chain(v.r.Context(), id)
	if segue.KindOf(err) == segue.NotFound || err == nil && c.User != v.viewer.User && !v.viewer.Operator {
		return segue.Chain{}, segue.Errorf(segue.NotFound, "there is no chain %q of yours", id)
	}
	return c, err
}

func (w *Web) chain(v visit) error {
	c, err := w.ownChain(v, v.r.PathValue("id"))
	if err != nil {
		return err
	}
	ctx := v.r.Context()
	links, err := w.services.Chains.Links(ctx, c.ID)
	if err != nil {
		return err
	}
	data := chainData{Chain: c, Prefer: c.Terms.WithDefaults().Prefer.String(), Verbs: verbsFor(v.viewer, c)}
	data.links(links, w.cfg.Now())
	if err := w.decisions(v, &data); err != nil {
		return err
	}
	if c.Request.Nodes > 0 {
		if recent, err := w.services.Cluster.Recent(ctx, c.Request.Shape); err == nil { // else the page does without
			data.Recent = ofRecent(recent)
		}
	}
	return v.show(frame{Page: "chain", Title: "Chain " + c.ID, Section: "/chains", Live: true, Data: data})
}

// decisions fills in a page of the decisions, the latest ones unless those before a place
// are asked for.
func (w *Web) decisions(v visit, data *chainData) error {
	query := v.r.URL.Query()
	wanted, before := shownDecisions, Place{At: segue.Never}
	if n, err := strconv.Atoi(query.Get("decisions")); err == nil {
		wanted = min(max(n, 1), mostDecisions)
	}
	if text := query.Get("before"); text != "" {
		if _, err := fmt.Sscanf(text, "%d.%d.%d", &before.At, &before.Number, &before.Attempt); err != nil {
			return segue.Errorf(segue.Invalid, "before %q: want the place of a decision", text)
		}
		data.NotTheLatest = true
	}
	all, err := w.services.Chains.Decisions(v.r.Context(), data.Chain.ID, before, wanted+1)
	if err != nil {
		return err
	}
	shown := all[:min(len(all), wanted)]
	for _, r := range shown {
		data.Decisions = append(data.Decisions, viewOf(r))
	}
	switch {
	case len(all) <= wanted:
	case wanted < mostDecisions && !data.NotTheLatest:
		data.Earlier = fmt.Sprintf("?decisions=%d", mostDecisions)
	default:
		last := shown[len(shown)-1]
		data.Earlier = fmt.Sprintf("?decisions=%d&before=%d.%d.%d", wanted, last.Decision.At, last.Number, last.Attempt)
	}
	return nil
}

// links fills in the drawing and the rows of the links, the latest first.
func (d *chainData) links(links []segue.Link, now segue.Time) {
	timeline := timelineOf(links, now)
	handovers := timeline.Handovers()
	d.Summary = summary(links, handovers)
	before := map[string]reports.Handover{} // by the name of the later link
	for i, l := range started(timeline) {
		if i > 0 {
			before[l.Name] = handovers[i-1]
		}
	}
	for _, l := range links {
		d.Links = append(d.Links, linkViewOf(l, before, now))
	}
	d.MoreLinks = max(0, len(d.Links)-shownLinks)
	d.Links = d.Links[d.MoreLinks:]
	slices.Reverse(d.Links)
	drawn := timelineOf(links[max(0, len(links)-drawnLinks):], now)
	d.Drawn = len(drawn.Links)
	if d.Drawn > 0 {
		d.Timeline = figureOfBoth(drawn, "")
	}
}

// started returns the links in the order in which Handovers tells of them.
func started(t reports.Timeline) []reports.Link {
	links := slices.DeleteFunc(slices.Clone(t.Links), func(l reports.Link) bool { return !known(l.Start) })
	slices.SortStableFunc(links, func(a, b reports.Link) int { return cmp.Compare(a.Start, b.Start) })
	return links
}

// timelineOf draws links up to now.
func timelineOf(links []segue.Link, now segue.Time) reports.Timeline {
	t := reports.Timeline{Title: "The links of the chain", Until: now}
	for _, l := range links {
		drawn := reports.Link{Name: linkName(l), Submit: l.Submitted, Start: l.Start, End: l.End}
		if !known(drawn.Submit) {
			drawn.Submit = l.Planned
		}
		if l.State == segue.LinkRunning || l.State == segue.LinkQueued {
			drawn.End = segue.NoTime // it lies in the future
		}
		t.Links = append(t.Links, drawn)
	}
	return t
}

func linkName(l segue.Link) string {
	if l.Attempt > 1 {
		return fmt.Sprintf("link %d, attempt %d", l.Number, l.Attempt)
	}
	return fmt.Sprintf("link %d", l.Number)
}

func linkViewOf(l segue.Link, before map[string]reports.Handover, now segue.Time) linkView {
	view := linkView{Link: l, Waited: unknown, Ran: unknown, Before: unknown}
	if l.Job.Number > 0 {
		view.JobName = l.Job.String()
	}
	switch {
	case known(l.Submitted) && known(l.Start):
		view.Waited = span(max(0, l.Start.Sub(l.Submitted)))
	case known(l.Submitted) && l.State == segue.LinkQueued:
		view.Waited = span(max(0, now.Sub(l.Submitted))) + " so far"
	}
	switch {
	case known(l.Start) && l.State == segue.LinkRunning:
		view.Ran = span(max(0, now.Sub(l.Start))) + " so far"
	case known(l.Start) && known(l.End):
		view.Ran = span(max(0, l.End.Sub(l.Start)))
	}
	if h, ok := before[linkName(l)]; ok {
		length := time.Duration(h.Hours * float64(time.Hour))
		switch {
		case length >= time.Second:
			view.Before, view.Kind = span(length)+" gap", "gap"
		case length <= -time.Second:
			view.Before, view.Kind = span(-length)+" overlap", "overlap"
		default:
			view.Before = "none"
		}
	}
	switch {
	case l.State == segue.LinkLost && l.Job.Number == 0:
		view.How = "made no job"
	case l.State == segue.LinkLost:
		view.How = "by the scheduler before it started"
	case l.State == segue.LinkEnded:
		view.How = l.Ended.String()
		if l.ExitCode != 0 || l.Signal != 0 {
			view.How += fmt.Sprintf(", exit code %d, signal %d", l.ExitCode, l.Signal)
		}
	}
	return view
}

// summary says in a sentence how a chain went.
func summary(links []segue.Link, handovers []reports.Handover) string {
	var gaps, overlaps int
	var gap, overlap time.Duration
	for _, h := range handovers {
		length := time.Duration(h.Hours * float64(time.Hour))
		switch {
		case length >= time.Second:
			gaps++
			gap += length
		case length <= -time.Second:
			overlaps++
			overlap -= length
		}
	}
	lost := 0 // attempts of which nothing ran, which are no links
	for _, l := range links {
		if l.State == segue.LinkLost {
			lost++
		}
	}
	if len(links) == lost {
		return "It has no links yet."
	}
	text := fmt.Sprintf("%s; between them %s of gaps in %s and %s of overlap in %s.",
		count(len(links)-lost, "link"), span(gap), count(gaps, "place"), span(overlap), count(overlaps, "place"))
	if lost > 0 {
		text += fmt.Sprintf(" %s came to nothing.", count(lost, "more attempt"))
	}
	return text
}

func viewOf(r Recorded) decisionView {
	d := r.Decision
	view := decisionView{Recorded: r, Sentence: explain(d), Came: came(r), Verdict: "Submit now"}
	if !d.Submit {
		view.Verdict = "Wait until " + clock(d.SubmitAt, d.At)
	}
	if !d.Forecast.Empty() {
		for _, p := range []float64{0.1, 0.25, 0.5, 0.75, 0.9} {
			view.Quantiles = append(view.Quantiles, quantile{percent(p), span(d.Forecast.Quantile(p))})
		}
	}
	chosen, hasChosen := d.SubmitAt, known(d.SubmitAt)
	if d.Submit {
		chosen, hasChosen = d.At, true
	}
	for _, a := range d.Alternatives {
		view.Alternatives = append(view.Alternatives, alternativeView{
			At: clock(a.SubmitAt, d.At), Gap: span(a.Interruption), Overlap: span(a.Overlap), Odds: percent(1 - a.StartsBeforeEnd),
			Cost: strconv.FormatFloat(a.Cost, 'f', 2, 64) + " h", Chosen: hasChosen && a.SubmitAt >= chosen,
		})
		hasChosen = hasChosen && a.SubmitAt < chosen
	}
	return view
}
