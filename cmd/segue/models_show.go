package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue/models"
)

func newModelsShowCommand(f *modelsFlags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show what a model was trained on, what is in it and how good it was",
		Long: `Show reads every byte of a model of the folder and shows what is known of it.
"default" names the one that segue carries.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			card, err := f.card(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(card.object())
			}
			card.print(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// modelCard is a model, every byte of which was compared, with its history.
type modelCard struct {
	models.Entry
	events []models.Event // that name it, the oldest first
}

func (f *modelsFlags) card(id string) (modelCard, error) {
	m, err := f.open(id)
	if err != nil {
		return modelCard{}, err
	}
	card := modelCard{Entry: models.Entry{ID: id, Manifest: m.Manifest}}
	if id == models.DefaultName {
		return card, nil
	}
	r, err := f.registry()
	if err != nil {
		return modelCard{}, err
	}
	events, err := r.Log()
	if err != nil {
		return modelCard{}, err
	}
	for _, e := range events {
		if e.Model == id {
			card.events = append(card.events, e)
			card.Last = &e
		}
	}
	if champion, err := r.Champion(); err == nil {
		card.Champion = champion == id
	}
	return card, nil
}

// object returns the JSON of the card.
func (c modelCard) object() any {
	return struct {
		modelObject
		Events []models.Event `json:"events"`
	}{modelObjectOf(c.Entry), append([]models.Event{}, c.events...)}
}

func (c modelCard) print(w io.Writer) {
	c.printOrigin(w)
	c.printSettings(w)
	c.printPolicies(w)
	c.printMetrics(w)
	c.printFiles(w)
	if len(c.events) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTraceTable(w, "What became of it")
	t.AppendHeader(table.Row{"at (UTC)", "", "champion before", "reason"})
	for _, e := range c.events {
		t.AppendRow(table.Row{e.At.Time().Std().Format("2006-01-02 15:04"), e.Action, orDash(e.Before), e.Reason})
	}
	t.Render()
}

func (c modelCard) printOrigin(w io.Writer) {
	m := c.Manifest
	t := newTraceTable(w, "Model "+c.ID)
	row := func(name string, value any) { t.AppendRow(table.Row{name, value}) }
	row("state", stateOf(c.Entry))
	row("created", fmt.Sprintf("%s by segue %s", m.Created, m.Version))
	row("parent", orDash(m.Parent))
	row("trained on", fmt.Sprintf("%s until %s", m.Window.From, m.Window.Until))
	row("trace", listed(m.Trace.Name, fmt.Sprintf("SHA-256 %.12s", m.Trace.SHA256)))
	row("cluster", listed(m.Cluster.Name, fmt.Sprintf("nodes: %d", m.Cluster.Nodes)))
	for _, p := range m.Pairs {
		row("pairs of", p)
	}
	row("seeds", orDash(strings.Trim(fmt.Sprint(m.Seeds), "[]")))
	row("features", fmt.Sprintf("%d, SHA-256 %.12s", len(m.Features.Names), m.Features.SHA256))
	row("forecaster", orDash(listed(m.Forecaster.Name, m.Forecaster.What)))
	for _, note := range m.Notes {
		row("note", note)
	}
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: 90, WidthMaxEnforcer: text.WrapSoft}})
	t.Render()
}

func (c modelCard) printSettings(w io.Writer) {
	if len(c.Manifest.Settings) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTraceTable(w, "What was chosen for the training")
	for _, name := range slices.Sorted(maps.Keys(c.Manifest.Settings)) {
		t.AppendRow(table.Row{name, orDash(c.Manifest.Settings[name])})
	}
	t.Render()
}

// listed joins the texts that are not empty.
func listed(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ", ")
}

func (c modelCard) printPolicies(w io.Writer) {
	if len(c.Manifest.Policies) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTraceTable(w, "Policies, as scored when it was trained")
	t.AppendHeader(table.Row{"policy", "kind", "pair", "prefer", "parameter", "cost, hours", "gap closed"})
	rightFrom(t, 4, 7)
	for _, p := range c.Manifest.Policies {
		if len(p.Settings) == 0 {
			t.AppendRow(table.Row{p.Name, p.Kind, "-", "-", "-", "-", "-"})
		}
		for _, s := range p.Settings {
			t.AppendRow(table.Row{p.Name, p.Kind, s.Pair, s.Prefer, s.Parameter, estimateWords(s.Cost), estimateWords(s.GapClosed)})
		}
	}
	t.Render()
}

// estimateWords returns for example "2.31 (2.02 to 2.64)".
func estimateWords(e *models.Estimate) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", e.Mean, e.Lo, e.Hi)
}

func (c modelCard) printMetrics(w io.Writer) {
	if len(c.Manifest.Metrics) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTraceTable(w, "Metrics")
	rightFrom(t, 2, 2)
	for _, name := range slices.Sorted(maps.Keys(c.Manifest.Metrics)) {
		t.AppendRow(table.Row{name, fmt.Sprintf("%.6g", c.Manifest.Metrics[name])})
	}
	t.Render()
}

func (c modelCard) printFiles(w io.Writer) {
	fmt.Fprintln(w)
	t := newTraceTable(w, "Files")
	t.AppendHeader(table.Row{"file", "bytes", "SHA-256"})
	rightFrom(t, 2, 2)
	for _, file := range c.Manifest.Files {
		t.AppendRow(table.Row{file.Name, thousands(file.Size), fmt.Sprintf("%.12s", file.SHA256)})
	}
	t.Render()
}

func newModelsDiffCommand(f *modelsFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "diff A B",
		Short: "Show in what model B differs from model A",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := f.card(args[0])
			if err != nil {
				return err
			}
			b, err := f.card(args[1])
			if err != nil {
				return err
			}
			printDifferences(cmd.OutOrStdout(), a, b)
			return nil
		},
	}
}

func printDifferences(w io.Writer, a, b modelCard) {
	differences := models.Diff(a.Manifest, b.Manifest)
	if len(differences) == 0 {
		fmt.Fprintf(w, "%s and %s differ by their names alone.\n", a.ID, b.ID)
		return
	}
	t := newTraceTable(w, fmt.Sprintf("In what %s differs from %s", b.ID, a.ID))
	t.AppendHeader(table.Row{"", "", a.ID, b.ID})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, WidthMax: 48, WidthMaxEnforcer: text.WrapSoft},
		{Number: 3, WidthMax: 64, WidthMaxEnforcer: text.WrapSoft},
		{Number: 4, WidthMax: 64, WidthMaxEnforcer: text.WrapSoft},
	})
	for _, d := range differences {
		t.AppendRow(table.Row{d.Section, d.Name, orDash(d.A), orDash(d.B)})
	}
	t.Render()
}
