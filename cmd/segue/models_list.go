package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
)

func newModelsListCommand(f *modelsFlags) *cobra.Command {
	var asJSON bool
	var ask serverFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models, the newest first",
		Long: `List shows every model of the folder, the newest first, and last those that
cannot be used, each with the reason. It reads the manifests and compares the
files' names and sizes; 'segue models verify' compares every byte. With --server
it shows those of a server, and which of them decides there.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asks, err := f.asks(cmd, &ask)
			switch {
			case err != nil:
				return err
			case asks:
				return ask.told(listServed(cmd, &ask, asJSON))
			}
			r, err := f.registry()
			if err != nil {
				return err
			}
			entries, err := r.List()
			if err != nil {
				return err
			}
			if asJSON {
				return printModelsJSON(cmd.OutOrStdout(), entries)
			}
			printModels(cmd.OutOrStdout(), linesOf(entries))
			return nil
		},
	}
	ask.add(cmd.Flags(), "about its models")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// modelLine is a line of the table of models. What is not known is empty.
type modelLine struct{ id, state, trained, nodes, policies, reason, err string }

func linesOf(entries []models.Entry) []modelLine {
	lines := make([]modelLine, 0, len(entries))
	for _, e := range entries {
		line := modelLine{id: e.ID, state: stateOf(e), reason: reasonOf(e)}
		if m := e.Manifest; e.Err == nil {
			line.trained, line.nodes = day(m.Window.From)+" to "+day(m.Window.Until), strconv.Itoa(m.Cluster.Nodes)
			line.policies = strings.Join(policiesOf(m), ", ")
		} else {
			line.err = e.Err.Error()
		}
		lines = append(lines, line)
	}
	return lines
}

func printModels(w io.Writer, lines []modelLine) {
	if len(lines) == 0 {
		fmt.Fprintln(w, "There are no models.")
		return
	}
	t := newTraceTable(w, "Models")
	t.AppendHeader(table.Row{"model", "state", "trained on", "nodes", "policies", "reason"})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 4, Align: text.AlignRight}, {Number: 6, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft},
	})
	for _, l := range lines {
		t.AppendRow(table.Row{safe(l.id), safe(l.state), orDash(l.trained), orDash(l.nodes), orDash(safe(l.policies)), orDash(safe(l.reason))})
	}
	t.Render()
	printDamage(w, lines)
}

// printDamage says of every model that cannot be used why.
func printDamage(w io.Writer, lines []modelLine) {
	for _, l := range lines {
		if l.err != "" {
			fmt.Fprintf(w, "%s cannot be used: %s.\n", safe(l.id), safe(l.err))
		}
	}
}

func policiesOf(m models.Manifest) []string {
	names := make([]string, 0, len(m.Policies))
	for _, p := range m.Policies {
		names = append(names, p.Name)
	}
	return names
}

// modelObject is the JSON of a listed model; what is not known is left out.
type modelObject struct {
	ID       string           `json:"id"`
	State    string           `json:"state"` // "champion", "former champion", "kept", "new" or "damaged"
	Error    string           `json:"error,omitempty"`
	Last     *models.Event    `json:"last_event,omitempty"`
	Manifest *models.Manifest `json:"manifest,omitempty"`
}

func modelObjectOf(e models.Entry) modelObject {
	o := modelObject{ID: e.ID, State: stateOf(e), Last: e.Last}
	if e.Err != nil {
		o.Error = e.Err.Error()
	} else {
		o.Manifest = &e.Manifest
	}
	return o
}

func printModelsJSON(w io.Writer, entries []models.Entry) error {
	list := struct {
		Models []modelObject `json:"models"`
	}{Models: []modelObject{}}
	for _, e := range entries {
		list.Models = append(list.Models, modelObjectOf(e))
	}
	return json.NewEncoder(w).Encode(list)
}

func newModelsVerifyCommand(f *modelsFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "verify [ID]",
		Short: "Compare every byte of a model, or of all, with its checksum",
		Long: `Verify compares every byte of a model of the folder, or of all of them, with its
checksum. "default" names the one that segue carries.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				m, err := f.open(args[0])
				if err != nil {
					return err
				}
				printVerified(cmd.OutOrStdout(), []models.Entry{{ID: args[0], Manifest: m.Manifest}})
				return nil
			}
			r, err := f.registry()
			if err != nil {
				return err
			}
			entries, err := r.Verify()
			if err != nil {
				return err
			}
			printVerified(cmd.OutOrStdout(), entries)
			return damageIn(entries)
		},
	}
}

func printVerified(w io.Writer, entries []models.Entry) {
	if len(entries) == 0 {
		fmt.Fprintln(w, "There are no models.")
		return
	}
	t := newTraceTable(w, "Models, every byte of them")
	t.AppendHeader(table.Row{"model", "", "files", "bytes"})
	rightFrom(t, 3, 4)
	for _, e := range entries {
		if e.Err != nil {
			t.AppendRow(table.Row{safe(e.ID), "damaged", "", ""})
			continue
		}
		bytes := int64(0)
		for _, file := range e.Manifest.Files {
			bytes += file.Size
		}
		t.AppendRow(table.Row{e.ID, "sound", len(e.Manifest.Files), thousands(bytes)})
	}
	t.Render()
	printDamage(w, linesOf(entries))
}

// damageIn returns an error when a model cannot be used.
func damageIn(entries []models.Entry) error {
	broken := 0
	for _, e := range entries {
		if e.Err != nil {
			broken++
		}
	}
	if broken == 0 {
		return nil
	}
	return segue.Errorf(segue.Corrupt, "%d of %d models cannot be used", broken, len(entries))
}
