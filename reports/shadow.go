package reports

import (
	"fmt"
	"math"
	"strconv"

	"github.com/segue-project/segue/evaluation"
)

// Shadow is the report of `segue shadow`: what users did by hand beside what Segue
// would have done. Only Compared is needed; what else there is adds sections.
type Shadow struct {
	Title string // default "Segue beside what users did"
	// Trace says in a sentence or two which history was looked at.
	Trace string
	// Command is the command line that made this report.
	Command string
	// Compared scores the ways; its reference is what the others are compared with.
	Compared evaluation.WaysReport
	// Ways says in words what each way is. Own is the name of Segue's among them,
	// Shifted that of the same with the error of the world, Recorded that of users'
	// as it was recorded, Hindsight that of a rule chosen afterwards; "" for none.
	Ways                              []PolicyText
	Own, Shifted, Recorded, Hindsight string
	// Leads are what fixed leads came to, the shortest first.
	Leads []evaluation.Point
	// Found says what was found, a name and a number each.
	Found [][2]string
	// Hows are the ways of users, Totals the sums, Forecasts and World say how far
	// the numbers can be trusted.
	Hows, Totals, Forecasts, World Table
	// Examples are single hand-overs, two timelines each: the user's and Segue's.
	Examples []Timeline
	// List has one row for every hand-over.
	List Table
	// Notes are sentences that limit what the numbers say.
	Notes []string
}

// HTML returns the report as one file that needs nothing else and runs no script.
func (s Shadow) HTML() ([]byte, error) {
	page := page{
		Title: s.Title, Trace: s.Trace, Command: s.Command, Answer: s.answer(), About: "What was measured", Measured: shadowMeasured,
		Headline: s.headline(), Caption: shadowHeadlineCaption, Policies: s.explained(), Notes: s.Notes, Words: shadowWords,
	}
	if page.Title == "" {
		page.Title = "Segue beside what users did"
	}
	if len(s.Compared.Ways) > 0 {
		page.add(s.means(), "means", "Gaps, overlaps and what they cost", shadowMeansCaption)
		page.add(s.changes(), "changes", "Against what users did, and how sure that is", s.changesCaption())
		if len(s.Leads) > 0 {
			page.add(s.frontier(), "frontier", "At equal overlap", shadowFrontierCaption)
		}
		page.add(s.loads(), "load", "Light, medium and heavy queues", shadowLoadCaption)
		page.addTable(s.users(), "users", "User by user", shadowUsersCaption)
	}
	if len(s.Found) > 0 {
		page.addTable(namedValues(s.Found), "found", "What was found", shadowFoundCaption)
	}
	for _, t := range []struct {
		table                Table
		id, heading, caption string
	}{
		{s.Hows, "hows", "How users went on", shadowHowsCaption},
		{s.Totals, "totals", "In all", shadowTotalsCaption},
		{s.Forecasts, "forecasts", "Forecasts beside recorded waits", shadowForecastsCaption},
		{s.World, "world", "The world beside the record", shadowWorldCaption},
	} {
		if len(t.table.Rows) > 0 {
			page.addTable(t.table, t.id, t.heading, t.caption)
		}
	}
	for i, example := range s.Examples {
		page.add(example, "example-"+strconv.Itoa(i+1), example.Title, chainCaption)
	}
	if len(s.List.Rows) > 0 {
		page.addTable(s.List, "list", "Every hand-over", shadowListCaption)
	}
	return page.render()
}

// label returns what a way is called on the page.
func (s Shadow) label(name string) string { return Backtest{Policies: s.Ways}.label(name) }

// score returns the way of that name.
func (s Shadow) score(name string) (evaluation.WayScore, bool) {
	for _, w := range s.Compared.Ways {
		if w.Name == name {
			return w, true
		}
	}
	return evaluation.WayScore{}, false
}

func (s Shadow) explained() []PolicyText {
	return Backtest{Policies: s.Ways}.explained()
}

func (s Shadow) rows() []DotRow {
	rows := make([]DotRow, len(s.Compared.Ways))
	for i, w := range s.Compared.Ways {
		rows[i] = DotRow{Name: s.label(w.Name), Look: Look(i)}
		switch w.Name {
		case evaluation.OracleName:
			rows[i].Look = OracleLook
		case s.Compared.Reference:
			rows[i].Look = ConstantLook
		}
	}
	return rows
}

func (s Shadow) means() Dots {
	g := Dots{Title: "Interruption, overlap and cost of each way", Rows: s.rows(), Panels: []DotPanel{
		{Title: "interruption", Axis: "hours per hand-over"},
		{Title: "overlap", Axis: "hours per hand-over"},
		{Title: "cost", Axis: "hours per hand-over"},
	}}
	for _, w := range s.Compared.Ways {
		for i, e := range []evaluation.Estimate{w.Interruption, w.Overlap, w.Cost} {
			g.Panels[i].Values = append(g.Panels[i].Values, dotOf(e))
		}
	}
	return g
}

func (s Shadow) changes() Dots {
	g := Dots{Title: "Cost minus that of " + s.label(s.Compared.Reference), Rows: s.rows(), SameScale: true, Panels: []DotPanel{
		{Title: "blocks of a day", Axis: "hours per hand-over", Marks: []Mark{{0, "equal"}}},
		{Title: "blocks of four days", Axis: "hours per hand-over", Marks: []Mark{{0, "equal"}}},
	}}
	for _, w := range s.Compared.Ways {
		g.Panels[0].Values = append(g.Panels[0].Values, dotOf(w.Change))
		g.Panels[1].Values = append(g.Panels[1].Values, dotOf(w.ChangeFourDays))
	}
	return g
}

// frontier draws what fixed leads come to, and where the ways lie beside them.
func (s Shadow) frontier() Frontier {
	f := Frontier{Title: "Interruption at each overlap", Series: []FrontierSeries{{Name: "fixed leads", Look: ConstantLook, Points: s.Leads}}}
	rows := s.rows()
	for i, w := range s.Compared.Ways {
		if name := w.Name; name == s.Recorded || name == s.Shifted || name == s.Hindsight {
			continue
		}
		p := evaluation.Point{Overlap: float64(w.Overlap.Mean), Interruption: float64(w.Interruption.Mean)}
		look := rows[i].Look
		if look == ConstantLook {
			look = Look(i)
		}
		f.MaxOverlap = max(f.MaxOverlap, 8, 1.2*p.Overlap)
		f.Series = append(f.Series, FrontierSeries{Name: rows[i].Name, Look: look, Points: []evaluation.Point{p}, Tuned: &p})
	}
	return f
}

// equal says what fixed leads leave at Segue's overlap.
func (s Shadow) equal(own evaluation.WayScore) []string {
	left := evaluation.NewFrontier(s.Leads).At(float64(own.Overlap.Mean))
	if len(s.Leads) == 0 || !finite(left) {
		return nil
	}
	return []string{fmt.Sprintf("At the same overlap fixed leads, the best of them or a mixture of two, leave %s h of interruption; Segue leaves %s h.",
		decimal(left), decimal(float64(own.Interruption.Mean)))}
}

func (s Shadow) loads() Dots {
	g := Dots{Title: "Cost by load", Rows: s.rows()}
	for _, load := range []struct {
		name string
		of   func(evaluation.ByLoad) evaluation.LoadScore
	}{
		{"light", func(l evaluation.ByLoad) evaluation.LoadScore { return l.Light }},
		{"medium", func(l evaluation.ByLoad) evaluation.LoadScore { return l.Medium }},
		{"heavy", func(l evaluation.ByLoad) evaluation.LoadScore { return l.Heavy }},
	} {
		panel := DotPanel{Axis: "cost, hours per hand-over"}
		for _, w := range s.Compared.Ways {
			panel.Values = append(panel.Values, bare(load.of(w.ByLoad).Cost))
			panel.Title = load.name + " (" + strconv.Itoa(load.of(w.ByLoad).Starts) + ")"
		}
		g.Panels = append(g.Panels, panel)
	}
	return g
}

// headline is the table of all ways.
func (s Shadow) headline() Table {
	t := Table{Columns: []string{"way", "interruption, h", "overlap, h", "cost, h (95 % interval)", "no gap", "cost if users count alike", "worst hand-over"}}
	for _, w := range s.Compared.Ways {
		t.Rows = append(t.Rows, []string{
			s.label(w.Name), decimal(float64(w.Interruption.Mean)), decimal(float64(w.Overlap.Mean)), withInterval(w.Cost, decimal),
			percent(float64(w.NoGap)), decimal(float64(w.CostOfUsers)), worstOf(w.Worst),
		})
	}
	return t
}

// users compares Segue with the reference, user by user.
func (s Shadow) users() Table {
	t := Table{Columns: []string{"user", "hand-overs"}}
	names := []string{s.Compared.Reference, s.Own}
	for _, name := range names {
		t.Columns = append(t.Columns, s.label(name)+": gap, h", "overlap, h", "cost, h", "worst cost, h")
	}
	t.Columns = append(t.Columns, "change of cost")
	for _, u := range s.Compared.Users {
		row := []string{u.User, strconv.Itoa(u.Handovers)}
		costs := []float64{math.NaN(), math.NaN()}
		for k, name := range names {
			for _, w := range u.Ways {
				if w.Name == name {
					row = append(row, decimal(float64(w.Interruption)), decimal(float64(w.Overlap)), decimal(float64(w.Cost)), decimal(float64(w.Worst)))
					costs[k] = float64(w.Cost)
				}
			}
		}
		t.Rows = append(t.Rows, append(row, decimal(costs[1]-costs[0])))
	}
	return t
}

// answer says what came out, in sentences.
func (s Shadow) answer() []string {
	reference, known := s.score(s.Compared.Reference)
	own, there := s.score(s.Own)
	if !known || !there {
		return []string{"No job of the period was continued by hand, so there is nothing to compare."}
	}
	text := []string{fmt.Sprintf("%s by hand. Users' work stood still for %s h at each and ran twice for %s h; "+
		"by Segue's advice it would have been %s h and %s h.%s", handOvers(s.Compared.Handovers),
		decimal(float64(reference.Interruption.Mean)), decimal(float64(reference.Overlap.Mean)),
		decimal(float64(own.Interruption.Mean)), decimal(float64(own.Overlap.Mean)), s.recorded())}
	change := fmt.Sprintf("The cost of a hand-over changes by %s h%s", decimal(float64(own.Change.Mean)), interval("95 % interval ", own.Change, decimal))
	switch {
	case own.Change.Hi < 0:
		change += ": Segue is cheaper, and that is unlikely to be luck."
	case own.Change.Lo > 0:
		change += ": Segue is dearer, and that is unlikely to be luck."
	default:
		change += ", which may be luck."
	}
	text = append(text, change, fmt.Sprintf("Segue was cheaper at %s of them and dearer at %s.", percent(float64(own.Cheaper)), percent(float64(own.Dearer))))
	if hindsight, ok := s.score(s.Hindsight); ok {
		text = append(text, fmt.Sprintf("It costs %s h; the %s, %s h: whoever does not know the queue beforehand does not know that lead either.",
			decimal(float64(own.Cost.Mean)), s.label(s.Hindsight), decimal(float64(hindsight.Cost.Mean))))
	}
	text = append(text, s.equal(own)...)
	if shifted, ok := s.score(s.Shifted); ok {
		text = append(text, fmt.Sprintf("If the world in which this is measured errs for Segue as it did for users, Segue's cost is %s h and not %s h.",
			decimal(float64(shifted.Cost.Mean)), decimal(float64(own.Cost.Mean))))
	}
	if s.Compared.Blocks < 10 {
		text = append(text, fmt.Sprintf("The intervals rest on %s with a hand-over, and on %s of four days.", count(s.Compared.Days, "day"), count(s.Compared.Blocks, "block")))
	}
	return text
}

// recorded says what was recorded of users' own way.
func (s Shadow) recorded() string {
	w, ok := s.score(s.Recorded)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (All in the world in which they are compared; recorded of users are %s h and %s h.)",
		decimal(float64(w.Interruption.Mean)), decimal(float64(w.Overlap.Mean)))
}

func handOvers(n int) string {
	if n == 1 {
		return "1 job was continued"
	}
	return fmt.Sprintf("%d jobs were continued", n)
}

func (s Shadow) changesCaption() string {
	return "Left of 0 a way costs less than " + s.label(s.Compared.Reference) + " on the same hand-overs. " + shadowChangesCaption
}
