package shadow

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/reports"
)

// texts say what each way is.
var texts = []reports.PolicyText{
	{Name: Recorded.String(), Label: "user, as recorded", What: "What the history says that the user did, and what came of it."},
	{Name: User.String(), Label: "user", What: "The user's own submission, in the world. A dependent job counts from when it could start; one submitted before its predecessor ran, from when that did."},
	{Name: Segue.String(), Label: "Segue", What: "Submits when the advice says so, and at the latest when the predecessor ends."},
	{Name: Shifted.String(), Label: "Segue, shifted", What: "Segue's, moved by what the world was wrong about the user's own submission: to be held against what was recorded."},
	{Name: AfterAny.String(), Label: "afterany", What: "Submits when the predecessor ends, which is what a dependency amounts to where waiting on it earns no age."},
	{Name: FixedLead.String(), Label: "fixed lead, in hindsight", What: "Submits the same time before every end, the one that turned out cheapest: more than anybody could have known."},
	{Name: Oracle.String(), Label: "oracle", What: "Takes the best of all submissions that were tried, knowing what comes. With a submission every half hour some of its luck is chance of the simulation."},
}

// Page returns the HTML report of a comparison that was made by command.
func Page(cfg Config, result Result, r Report, command string) ([]byte, error) {
	cfg = cfg.withDefaults()
	by := "a planner"
	if cfg.By != nil {
		by = "the model " + cfg.By.ID
	}
	page := reports.Shadow{
		Title:   fmt.Sprintf("Segue beside what users did, %s to %s", cfg.From.Std().Format("2 Jan 2006"), cfg.Until.Std().Format("2 Jan 2006")),
		Trace:   fmt.Sprintf("%d jobs in the history, %d nodes; advice by %s every %s, at a price of %.2g h of interruption for an hour of overlap.", len(cfg.History), cfg.Cluster.Pools[0].Nodes, by, policy.Words(cfg.Every), cfg.Prefer.OverlapPrice()),
		Command: command, Compared: r.WaysReport, Ways: texts, Own: Segue.String(), Shifted: Shifted.String(),
		Recorded: Recorded.String(), Hindsight: FixedLead.String(), Leads: result.Leads,
		Found: r.Found.named(), Hows: r.howTable(), Totals: r.totalTable(), Forecasts: r.Forecasts.table(), World: r.World.table(),
		Examples: examples(cfg, result), List: r.list(),
	}
	if n := len(result.Judged); n > 0 {
		page.Notes = append(page.Notes, fmt.Sprintf("The fixed lead that turned out cheapest is %s.", policy.Words(result.Lead)))
	}
	return page.HTML()
}

func (c Counts) named() [][2]string {
	return [][2]string{
		{"jobs that ran into their limit", strconv.Itoa(c.UsedUp)},
		{"of these: continued by hand", strconv.Itoa(c.Handovers)},
		{"not continued", strconv.Itoa(c.Alone)},
		{"continued too late to count", strconv.Itoa(c.Late)},
		{"several of a kind side by side: nobody can tell which was continued", strconv.Itoa(c.SideBySide)},
		{"too near the end of the history", strconv.Itoa(c.TooLate)},
		{"continued by hand, but without advice that was written down", strconv.Itoa(c.Unadvised)},
	}
}

func (r Report) howTable() reports.Table {
	t := reports.Table{Columns: []string{"the successor was", "hand-overs", "interruption, h", "overlap, h", "submitted after the end, h"}}
	words := map[string]string{
		AfterEnd.String(): "submitted after the end", Queued.String(): "in the queue at the end",
		Dependent.String(): "held by a dependency", Overlapping.String(): "running before the end",
	}
	for _, h := range r.Hows {
		t.Rows = append(t.Rows, []string{words[h.How], strconv.Itoa(h.Handovers), hours(h.Interruption), hours(h.Overlap), hours(h.Idle)})
	}
	return t
}

func (r Report) totalTable() reports.Table {
	t := reports.Table{Columns: []string{"way", "interruption, h", "overlap, h", "overlap, node-hours"}}
	for w, total := range r.Totals {
		t.Rows = append(t.Rows, []string{texts[w].Label, hours(total.Interruption), hours(total.Overlap), hours(total.OverlapNodeHours)})
	}
	return t
}

func (f ForecastScore) table() reports.Table {
	if f.Forecasts == 0 {
		return reports.Table{}
	}
	return reports.Table{
		Columns: []string{"forecasts", "within the median", "within the 0.9 quantile", "pinball loss, h", "that of “no wait”, h", "error of the median, h", "mean wait, h"},
		Rows: [][]string{{
			strconv.Itoa(f.Forecasts), percent(f.At50), percent(f.At90), hours(f.Pinball), hours(f.PinballNoWait), hours(f.MAE), hours(f.MeanWait),
		}},
	}
}

func (w WorldScore) table() reports.Table {
	if w.Jobs == 0 {
		return reports.Table{}
	}
	return reports.Table{
		Columns: []string{"submissions", "count", "mean wait recorded, h", "mean wait in the world, h", "error, h", "r"},
		Rows: [][]string{
			{"users' own", strconv.Itoa(w.Jobs), hours(w.Recorded), hours(w.World), hours(w.MAE), hours(w.R)},
			{"Segue's within an hour of the user's", strconv.Itoa(w.Near), hours(w.NearRecorded), hours(w.NearWorld), "–", "–"},
		},
	}
}

// list has one row for every hand-over.
func (r Report) list() reports.Table {
	t := reports.Table{Columns: []string{"ended (UTC)", "user", "name", "nodes", "jobs", "user, as recorded", "user", "Segue", "afterany", "oracle", "Segue's lead, h"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		cells := []string{row.Ended, row.User, row.Name, strconv.Itoa(int(row.Nodes)), row.Before + " → " + row.After}
		for _, w := range []Way{Recorded, User, Segue, AfterAny, Oracle} {
			cells = append(cells, hours(row.Ways[w].Outcome))
		}
		t.Rows = append(t.Rows, append(cells, hours(row.Lead)))
	}
	return t
}

// hours returns a number of hours, or another number, with two decimals.
func hours(n evaluation.Number) string {
	if !n.Known() {
		return "–"
	}
	return strconv.FormatFloat(float64(n), 'f', 2, 64)
}

func percent(n evaluation.Number) string {
	if !n.Known() {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n))
}

// examples draws the hand-over at which Segue saves most, the median one, and the
// one at which it loses most, each as the user and as Segue would have had it.
func examples(cfg Config, result Result) []reports.Timeline {
	order := make([]int, len(result.Judged))
	for i := range order {
		order[i] = i
	}
	change := func(i int) float64 {
		x := func(w Way) float64 {
			d := result.Judged[i].Outcome(cfg.History, w)
			return cfg.Prefer.Cost(max(d, 0), max(-d, 0))
		}
		return x(Segue) - x(User)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(change(a), change(b)) })
	var picked []int
	var titles []string
	for k, title := range []string{"Where Segue saves most", "In the middle", "Where Segue does worst"} {
		if len(order) == 0 {
			break
		}
		if i := order[k*(len(order)-1)/2]; !slices.Contains(picked, i) {
			picked, titles = append(picked, i), append(titles, title)
		}
	}
	var drawn []reports.Timeline
	for k, i := range picked {
		for _, way := range []Way{User, Segue} {
			drawn = append(drawn, timeline(cfg, &result.Judged[i], titles[k], way))
		}
	}
	return drawn
}

// shownRun bounds how much of a successor is drawn.
const shownRun = 24 * time.Hour

func timeline(cfg Config, j *Judged, title string, way Way) reports.Timeline {
	a, b := &cfg.History[j.Before], &cfg.History[j.After]
	until := max(a.End, j.Start[User], j.Start[Segue]).Add(shownRun)
	return reports.Timeline{
		Title: fmt.Sprintf("%s: jobs %s and %s of %s, %s", title, a.ID, b.ID, a.User, texts[way].Label),
		Links: []reports.Link{
			{Name: a.ID.String(), Submit: a.Start, Start: a.Start, End: a.End},
			{Name: texts[way].Label, Submit: j.Submit[way], Start: j.Start[way], End: min(j.Start[way].Add(b.Run()), until)},
		},
		Until: until,
	}
}
