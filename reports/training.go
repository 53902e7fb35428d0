package reports

import (
	"fmt"
	"strconv"
)

// Training is the report of how a model was made. What there is adds sections;
// nothing is needed.
type Training struct {
	Title string // default "Training"
	// Trace says in a sentence or two which histories the model learned from.
	Trace string
	// Command is the command line that made the model.
	Command string
	// Facts say what the model was made from, a name and a value each: window,
	// samples, seeds, versions.
	Facts [][2]string
	// Settings are the choices of the training, a name and a value each.
	Settings [][2]string
	// Trees are the losses of the trees, round by round.
	Trees *Lines
	// Policies are the networks, in the order in which they were trained.
	Policies []TrainedPolicy
	// ByFold, ByLoad and Coverage say how the forecasts turned out that policies
	// were trained on: each by trees that had not seen its time.
	ByFold, ByLoad *Calibration
	Coverage       *Dots
	// Frontier compares the policies on the fold of time that none was trained
	// on, Costs what they cost there as they are.
	Frontier *Frontier
	Costs    *Dots
	// Parent is the model that this one is compared with, "" for none. Changes
	// are the differences of the manifests, Metrics the numbers of both.
	Parent  string
	Changes []Change
	Metrics []Change
	// Effort is how long each step took, and MemoryMiB the most memory that was
	// in use at once; 0 for not known.
	Effort    []Step
	MemoryMiB float64
	// Notes are sentences that limit what the numbers say.
	Notes []string
}

// TrainedPolicy is how the training of one network went. Costs are of the
// validation; one that is not known is NaN.
type TrainedPolicy struct {
	Name string
	What string // one sentence, "" for none
	// Rule is the cost of the rule from which the training began, Best the least
	// cost, after BestStep of the Steps that were taken; Most is how many there
	// could have been.
	Rule, Best            float64
	BestStep, Steps, Most int
	// Course has the curves of the training.
	Course Lines
}

// Change is something of which two models have different, or equal, values.
type Change struct{ Section, Name, Before, After string }

// Step is one step of a training.
type Step struct {
	Name    string
	Seconds float64
}

// HTML returns the report as one file that needs nothing else and runs no
// script.
func (t Training) HTML() ([]byte, error) {
	page := page{
		Title: t.Title, Trace: t.Trace, Command: t.Command, Answer: t.answer(), Headline: t.headline(), Caption: trainedCaption,
		About: "How to read this", Measured: []string{trainingAbout}, Notes: t.Notes, Words: trainingWords,
	}
	if page.Title == "" {
		page.Title = "Training"
	}
	page.addTable(namedValues(t.Facts), "made-from", "What the model was made from", factsCaption)
	if len(t.Settings) > 0 {
		page.addTable(namedValues(t.Settings), "settings", "What was chosen", settingsCaption)
	}
	if t.Trees != nil {
		page.add(*t.Trees, "trees", "The trees, round by round", treesCaption)
	}
	for i, p := range t.Policies {
		caption := courseCaption
		if p.What != "" {
			caption = p.What + " " + caption
		}
		page.add(p.Course, "policy-"+strconv.Itoa(i+1), "The training of "+p.Name, caption)
	}
	t.addForecasts(&page)
	if t.Frontier != nil {
		page.add(*t.Frontier, "frontier", "The policies on time that none was trained on", validationCaption)
	}
	if t.Costs != nil {
		page.add(*t.Costs, "costs", "What they cost as they are", costsCaption)
	}
	t.addChanges(&page)
	t.addEffort(&page)
	return page.render()
}

func (t Training) addForecasts(page *page) {
	if t.ByFold != nil {
		page.add(*t.ByFold, "calibration-fold", "How forecasts turned out, by fold of time", calibrationCaption+heldOutCaption)
	}
	if t.ByLoad != nil {
		page.add(*t.ByLoad, "calibration-load", "How forecasts turned out, by load", calibrationCaption+" "+loadWords)
	}
	if t.Coverage != nil {
		page.add(*t.Coverage, "coverage", "How forecasts turned out, by replay, pair and month", coverageCaption)
	}
}

func (t Training) addChanges(page *page) {
	if t.Parent == "" {
		return
	}
	changes := Table{Columns: []string{"", "", t.Parent, "this model"}, Words: true}
	for _, c := range t.Changes {
		changes.Rows = append(changes.Rows, []string{c.Section, c.Name, orUnknown(c.Before), orUnknown(c.After)})
	}
	page.addTable(changes, "changes", "What changed since "+t.Parent, changesCaption)
	metrics := Table{Columns: []string{"metric", t.Parent, "this model"}}
	for _, m := range t.Metrics {
		metrics.Rows = append(metrics.Rows, []string{m.Name, orUnknown(m.Before), orUnknown(m.After)})
	}
	page.addTable(metrics, "metrics", "The metrics of both", metricsCaption)
}

func orUnknown(text string) string {
	if text == "" {
		return unknown
	}
	return text
}

func (t Training) addEffort(page *page) {
	if len(t.Effort) == 0 {
		return
	}
	table, total := Table{Columns: []string{"step", "seconds", "share"}}, 0.0
	for _, s := range t.Effort {
		total += s.Seconds
	}
	for _, s := range t.Effort {
		table.Rows = append(table.Rows, []string{s.Name, precise(s.Seconds), percent(s.Seconds / total)})
	}
	table.Rows = append(table.Rows, []string{"all", precise(total), percent(1)})
	caption := effortCaption
	if t.MemoryMiB > 0 {
		caption = fmt.Sprintf("The process had at most %s MiB of memory in use at once. ", whole(t.MemoryMiB)) + caption
	}
	page.addTable(table, "effort", "What it took", caption)
}

// namedValues returns a table of names and values.
func namedValues(list [][2]string) Table {
	t := Table{Columns: []string{"", ""}, Words: true}
	for _, p := range list {
		t.Rows = append(t.Rows, p[:])
	}
	return t
}

// answer says what came out, in sentences.
func (t Training) answer() []string {
	var text []string
	for _, p := range t.Policies {
		text = append(text, p.answer())
	}
	if t.Costs != nil {
		text = append(text, t.Costs.cheapest()...)
	}
	if len(text) == 0 {
		text = append(text, "The model has a forecast and no network.")
	}
	return text
}

// answer says whether the training of a policy led anywhere.
func (p TrainedPolicy) answer() string {
	switch {
	case !finite(p.Rule) || !finite(p.Best):
		return fmt.Sprintf("%s costs %s on the validation after %s.", p.Name, precise(p.Best), count(p.BestStep, "step"))
	case p.BestStep == 0:
		return fmt.Sprintf("%s kept the rule from which it began: of %s none cost less on the validation.", p.Name, count(p.Steps, "step"))
	}
	return fmt.Sprintf("%s costs %s less on the validation than the rule from which it began, after step %d of %d.",
		p.Name, percent(1-p.Best/p.Rule), p.BestStep, p.Steps)
}

// cheapest names the row that costs least in the first panel.
func (g Dots) cheapest() []string {
	best := -1
	for i, r := range g.Rows {
		if v := g.Panels[0].value(i).Value; r.Look >= 0 && finite(v) && (best < 0 || v < g.Panels[0].value(best).Value) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return []string{fmt.Sprintf("On the fold of time that none was trained on %s costs least for %s: %s h a start.",
		g.Rows[best].Name, g.Panels[0].Title, g.Panels[0].inFull(g.Panels[0].value(best)))}
}

// headline is the table of all networks.
func (t Training) headline() Table {
	table := Table{Columns: []string{"policy", "validation cost of the rule", "least validation cost", "at step", "of", "at most"}}
	for _, p := range t.Policies {
		table.Rows = append(table.Rows, []string{
			p.Name, precise(p.Rule), precise(p.Best), strconv.Itoa(p.BestStep), strconv.Itoa(p.Steps), strconv.Itoa(p.Most),
		})
	}
	return table
}
