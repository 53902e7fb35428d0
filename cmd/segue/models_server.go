package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/models"
)

// listServed lists the models of a server.
func listServed(cmd *cobra.Command, ask *serverFlags, asJSON bool) error {
	all, err := ask.models(cmd.Context())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Models []api.Model `json:"models"`
		}{append([]api.Model{}, all...)})
	}
	lines, err := servedLines(all)
	if err != nil {
		return err
	}
	printModels(out, lines)
	if i := slices.IndexFunc(all, func(m api.Model) bool { return m.InUse }); i >= 0 {
		_, err = fmt.Fprintf(out, "%s decides at this server.\n", safe(all[i].ID))
	} else {
		_, err = fmt.Fprintln(out, "A planner decides at this server.")
	}
	return err
}

// models asks the server for its models.
func (f *serverFlags) models(ctx context.Context) ([]api.Model, error) {
	c, err := f.client()
	if err != nil {
		return nil, err
	}
	return c.Models(ctx)
}

func servedLines(all []api.Model) ([]modelLine, error) {
	lines := make([]modelLine, 0, len(all))
	for i := range all {
		line, err := servedModel(&all[i])
		if err != nil {
			return nil, fmt.Errorf("the server's model %s: %w", safe(all[i].ID), err)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// servedModel returns the line of a model as the interface tells of it.
func servedModel(m *api.Model) (modelLine, error) {
	line := modelLine{id: m.ID, state: m.State, reason: m.Reason, policies: strings.Join(m.Policies, ", "), err: m.Error}
	if m.Champion && m.State != "champion" {
		line.state = "champion, " + m.State
	}
	if m.Nodes > 0 {
		line.nodes = strconv.Itoa(m.Nodes)
	}
	if m.TrainedFrom == "" {
		return line, nil
	}
	from, err := servedInstant(&m.TrainedFrom)
	if err != nil {
		return line, err
	}
	until, err := servedInstant(&m.TrainedTo)
	line.trained = day(models.Instant(from)) + " to " + day(models.Instant(until))
	return line, err
}

func promoteServed(cmd *cobra.Command, ask *serverFlags, id, reason string) error {
	if err := models.CheckID(id); err != nil {
		return fmt.Errorf("promote: %w", err)
	}
	c, err := ask.client()
	if err != nil {
		return err
	}
	done, err := c.PromoteModel(cmd.Context(), id, reason, rand.Text())
	if err != nil {
		return err
	}
	return tellPromoted(cmd.OutOrStdout(), done, "")
}

func rollBackServed(cmd *cobra.Command, ask *serverFlags, expected, reason string) error {
	if expected == "" {
		all, err := ask.models(cmd.Context())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(m api.Model) bool { return m.Champion })
		if i < 0 {
			return segue.Errorf(segue.NotFound, "roll back: no model was promoted at this server yet")
		}
		expected = all[i].ID
	}
	c, err := ask.client()
	if err != nil {
		return err
	}
	done, err := c.RollBackModel(cmd.Context(), expected, reason, rand.Text())
	if err != nil {
		return err
	}
	return tellPromoted(cmd.OutOrStdout(), done, " again")
}

// tellPromoted says who is the champion of a server by now, and who decides there if it
// is another one.
func tellPromoted(w io.Writer, p api.Promotion, again string) error {
	_, err := fmt.Fprintf(w, "The champion is %s%s.\n", safe(p.Champion), again)
	switch {
	case err != nil || p.Decides == p.Champion:
	case p.Decides == "":
		_, err = fmt.Fprintln(w, "A planner goes on deciding at this server: its configuration does not have model: champion.")
	default:
		_, err = fmt.Fprintf(w, "%s goes on deciding at this server: its configuration does not have model: champion.\n", safe(p.Decides))
	}
	return err
}

// completeModel completes the ID of a model that can be promoted, of the folder or of the
// server that is named. It is silent where nobody answers.
func completeModel(f *modelsFlags, ask *serverFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completing)
		defer cancel()
		lines, err := f.lines(ctx, ask)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var all []cobra.Completion
		for _, l := range lines {
			if strings.HasPrefix(l.id, begun) && l.err == "" && l.state != "champion" {
				all = append(all, cobra.CompletionWithDesc(printable(l.id), printable(l.state)))
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// lines returns the models of the folder, or of the server that is named.
func (f *modelsFlags) lines(ctx context.Context, ask *serverFlags) ([]modelLine, error) {
	if ask.server == "" {
		r, err := f.registry()
		if err != nil {
			return nil, err
		}
		entries, err := r.List()
		return linesOf(entries), err
	}
	all, err := ask.models(ctx)
	if err != nil {
		return nil, err
	}
	return servedLines(all)
}
