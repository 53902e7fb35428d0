package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/store"
)

func newStatusCommand() *cobra.Command {
	var where chainStore
	var ask serverFlags
	var all, asJSON, follow bool
	show := func(cmd *cobra.Command, s chainSource, args []string) error {
		now := segue.TimeOf(time.Now())
		if len(args) == 1 {
			return showChain(cmd, s, args[0], asJSON, now)
		}
		return showChains(cmd, s, all, asJSON, now)
	}
	cmd := &cobra.Command{
		Use:   "status [CHAIN]",
		Short: "Show chains: what runs, what is queued, and when the next link comes",
		Long: `Status shows the chains that go on; with --all those that have ended too, and with
the name of one its links. The odds of a gap are those of the latest decision. With
--server a server is asked for the chains that its token may see, and with --follow
it tells what changes, until ^C; a stream that breaks goes on where it was, and with
--json an object with "resumed" says that changes may have passed before it.`,
		Args: cobra.MaximumNArgs(1),

		ValidArgsFunction: completeChain(&where, &ask),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask.ask(cmd.Context(), &where,
				func(c *client.Client) error {
					if follow {
						return followStatus(cmd, c, args, asJSON, show)
					}
					return show(cmd, served{c}, args)
				},
				func(s *store.Store) error {
					if follow {
						return segue.Errorf(segue.Invalid, "--follow: a server tells of changes: name it by --server or %s", serverVariable)
					}
					return show(cmd, s, args)
				})
		},
	}
	where.add(cmd.Flags())
	ask.add(cmd.Flags(), "about its chains (default "+serverVariable+")")
	cmd.Flags().BoolVar(&follow, "follow", false, "go on with what changes, as a server tells it")
	cmd.Flags().BoolVar(&all, "all", false, "show chains that have ended too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// chainStatus is a line of the table.
type chainStatus struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	State   string   `json:"state"`
	Why     string   `json:"why,omitempty"`
	Links   int      `json:"links"` // so far
	Running string   `json:"running_job,omitempty"`
	EndsIn  string   `json:"running_ends_in,omitempty"`
	Queued  string   `json:"queued_job,omitempty"`
	NextAt  string   `json:"next_submission,omitempty"` // as planned by the latest decision
	GapOdds *float64 `json:"odds_of_a_gap,omitempty"`   // of what is planned
}

func showChains(cmd *cobra.Command, s chainSource, all, asJSON bool, now segue.Time) error {
	q := store.ChainQuery{States: []segue.ChainState{segue.ChainActive, segue.ChainPaused}}
	if all {
		q.States = nil
	}
	chains, err := s.Chains(cmd.Context(), q)
	if err != nil {
		return err
	}
	var lines []chainStatus
	for _, c := range chains {
		line, err := statusOf(cmd, s, c, now)
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	out := cmd.OutOrStdout()
	if asJSON {
		for _, line := range lines {
			if err := json.NewEncoder(out).Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		fmt.Fprintln(out, "There is no chain that goes on. `segue sbatch --segue-chain ...` begins one.")
		return nil
	}
	t := newTable(out)
	t.AppendHeader(table.Row{"chain", "name", "state", "links", "runs", "ends in", "queued", "next submission", "odds of a gap"})
	for _, l := range lines {
		odds := "–"
		if l.GapOdds != nil {
			odds = fmt.Sprintf("%.0f %%", 100**l.GapOdds)
		}
		t.AppendRow(table.Row{l.ID, printable(l.Name), l.State, l.Links, dash(l.Running), dash(l.EndsIn), dash(l.Queued), dash(l.NextAt), odds})
	}
	t.Render()
	for _, l := range lines {
		if l.Why != "" {
			fmt.Fprintf(out, "%s is %s: %s\n", l.ID, l.State, printable(l.Why))
		}
	}
	return nil
}

// statusOf gathers a line of the table.
func statusOf(cmd *cobra.Command, s chainSource, c segue.Chain, now segue.Time) (chainStatus, error) {
	line := chainStatus{ID: c.ID, Name: c.Name, State: c.State.String(), Why: c.Why}
	links, err := s.Links(cmd.Context(), c.ID)
	if err != nil {
		return line, err
	}
	for _, l := range links {
		switch l.State {
		case segue.LinkRunning:
			line.Running = l.Job.String()
			if l.End.Known() {
				line.EndsIn = policy.Words(max(0, l.End.Sub(now)))
			}
		case segue.LinkQueued:
			line.Queued = l.Job.String()
		case segue.LinkSubmitting:
			line.Queued = "being submitted"
		}
		if l.State != segue.LinkLost { // else another attempt follows
			line.Links = l.Number
		}
	}
	if c.State != segue.ChainActive || line.Queued != "" {
		return line, nil
	}
	if line.Running == "" { // what was planned while a link ran is void
		if at, ok := provisioner.Earliest(c, links); ok && at > now {
			line.NextAt = shortClock(at)
		}
		return line, nil
	}
	latest, err := s.Decisions(cmd.Context(), c.ID, 1)
	if err != nil || len(latest) == 0 {
		return line, err
	}
	d := latest[0].Decision
	if d.Submit || latest[0].Number <= line.Links {
		return line, nil
	}
	line.NextAt = shortClock(d.SubmitAt)
	for _, a := range d.Alternatives {
		if a.SubmitAt <= d.SubmitAt {
			odds := 1 - a.StartsBeforeEnd
			line.GapOdds = &odds
		}
	}
	return line, nil
}

func showChain(cmd *cobra.Command, s chainSource, name string, asJSON bool, now segue.Time) error {
	chain, err := find(cmd.Context(), s, name)
	if err != nil {
		return err
	}
	links, err := s.Links(cmd.Context(), chain.ID)
	if err != nil {
		return err
	}
	if asJSON {
		return printChainJSON(cmd, s, chain, links, now)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s\nEach link: %s. Preference: %s.\n\n",
		sentences(fmt.Sprintf("Chain %s (%s) of %s is %s.", chain.ID, printable(chain.Name), chain.User, chain.State), printable(chain.Why), delayed(chain, links, now)),
		chain.Request.Shape, chain.Terms.WithDefaults().Prefer)
	t := newTable(out)
	t.AppendHeader(table.Row{"link", "job", "state", "submitted", "waited", "started", "ended or ends", "gap (+) or overlap (-)"})
	var before *segue.Link
	for i := range links {
		l := &links[i]
		row := table.Row{l.Number, dash(jobOf(l)), linkState(l), clock(l.Submitted), "–", clock(l.Start), clock(l.End), "–"}
		if l.Start.Known() && l.Submitted.Known() {
			row[4] = policy.Words(l.Start.Sub(l.Submitted))
		}
		if before != nil && before.End.Known() && l.Start.Known() {
			gap := l.Start.Sub(before.End)
			row[7] = map[bool]string{true: "+", false: "-"}[gap >= 0] + policy.Words(gap.Abs())
		}
		t.AppendRow(row)
		if l.State != segue.LinkLost {
			before = l
		}
	}
	t.Render()
	for i := range links {
		if l := &links[i]; l.State == segue.LinkLost {
			fmt.Fprintln(out, provisioner.Lost(*l))
		}
	}
	return nil
}

// linkStatus is a link of a chain.
type linkStatus struct {
	Number    int     `json:"number"`
	Attempt   int     `json:"attempt"`
	Job       string  `json:"job,omitempty"`
	State     string  `json:"state"`
	Ended     string  `json:"ended_as,omitempty"`
	ExitCode  int     `json:"exit_code"`
	Submitted *string `json:"submitted"`
	Start     *string `json:"started"`
	End       *string `json:"ends"` // or has ended
}

// printChainJSON prints the line of a chain in the table, and its links.
func printChainJSON(cmd *cobra.Command, s chainSource, chain segue.Chain, links []segue.Link, now segue.Time) error {
	line, err := statusOf(cmd, s, chain, now)
	if err != nil {
		return err
	}
	list := make([]linkStatus, 0, len(links))
	for _, l := range links {
		one := linkStatus{
			Number: l.Number, Attempt: l.Attempt, Job: jobOf(&l), State: l.State.String(), ExitCode: l.ExitCode,
			Submitted: known(l.Submitted), Start: known(l.Start), End: known(l.End),
		}
		if l.State == segue.LinkEnded {
			one.Ended = l.Ended.String()
		}
		list = append(list, one)
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
		chainStatus
		List []linkStatus `json:"link_list"`
	}{line, list})
}

// delayed says until when a chain of which nothing runs waits, "" where it does not.
func delayed(chain segue.Chain, links []segue.Link, now segue.Time) string {
	at, ok := provisioner.Earliest(chain, links)
	if !ok || at <= now || chain.State != segue.ChainActive {
		return ""
	}
	return fmt.Sprintf("The next link is submitted at %s at the earliest, because the one before failed fast, made no job or was lost.", clock(at))
}

// sentences joins those that are not empty.
func sentences(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), " ")
}

// printable returns what others wrote without what would move a terminal's cursor:
// on one line, with a mark for each character that cannot be seen.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

func jobOf(l *segue.Link) string {
	if l.Job.Number == 0 {
		return ""
	}
	return l.Job.String()
}

func linkState(l *segue.Link) string {
	if l.State == segue.LinkLost && l.Job.Number == 0 {
		return "made no job"
	}
	if l.State != segue.LinkEnded {
		return l.State.String()
	}
	text := l.Ended.String()
	if l.ExitCode != 0 || l.Ended == segue.Failed {
		text += fmt.Sprintf(" %d", l.ExitCode)
	}
	return text
}

func clock(t segue.Time) string {
	if !t.Known() {
		return "–"
	}
	return t.Std().Local().Format("2 Jan 15:04:05")
}

func shortClock(t segue.Time) string { return t.Std().Local().Format("2 Jan 15:04") }

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

func newWhyCommand() *cobra.Command {
	var where chainStore
	var ask serverFlags
	var n int
	cmd := &cobra.Command{
		Use:   "why CHAIN",
		Short: "Tell the latest decisions about a chain, and what they were based on",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: completeChain(&where, &ask),
		RunE: func(cmd *cobra.Command, args []string) error {
			return ask.ask(cmd.Context(), &where,
				func(c *client.Client) error { return tellWhy(cmd, served{c}, args[0], n) },
				func(s *store.Store) error { return tellWhy(cmd, s, args[0], n) })
		},
	}
	where.add(cmd.Flags())
	ask.add(cmd.Flags(), "about its chains (default "+serverVariable+")")
	cmd.Flags().IntVarP(&n, "decisions", "n", 3, "how many decisions")
	return cmd
}

func tellWhy(cmd *cobra.Command, s chainSource, name string, n int) error {
	chain, err := find(cmd.Context(), s, name)
	if err != nil {
		return err
	}
	decisions, err := s.Decisions(cmd.Context(), chain.ID, n)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if len(decisions) == 0 {
		links, err := s.Links(cmd.Context(), chain.ID)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, sentences(fmt.Sprintf("Nothing was decided about chain %s yet: the agent decides while a link runs, and when one has ended.", chain.ID),
			delayed(chain, links, segue.TimeOf(time.Now()))))
	}
	for _, r := range decisions {
		d := r.Decision
		fmt.Fprintf(out, "%s, about link %d", clock(d.At), r.Number)
		if r.Attempt > 1 {
			fmt.Fprintf(out, ", attempt %d", r.Attempt)
		}
		fmt.Fprintf(out, ", by %s", d.Policy)
		if d.Model != "" {
			fmt.Fprintf(out, " of model %s", d.Model)
		}
		fmt.Fprintf(out, ":\n  %s\n", printable(d.Reason))
		for i, a := range d.Alternatives {
			if i >= 4 {
				fmt.Fprintf(out, "  and %d later ones\n", len(d.Alternatives)-i)
				break
			}
			fmt.Fprintf(out, "  submitted %s: %.0f %% without a gap, expected interruption %s, overlap %s, cost %.2f h\n",
				clock(a.SubmitAt), 100*a.StartsBeforeEnd, policy.Words(a.Interruption), policy.Words(a.Overlap), a.Cost)
		}
		if o := r.Outcome; o != nil {
			fmt.Fprintf(out, "  what became of it: interruption %s, overlap %s\n", policy.Words(o.Interruption), policy.Words(o.Overlap))
		}
	}
	return nil
}
