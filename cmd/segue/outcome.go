package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/reports"
	"github.com/segue-project/segue/trainer"
)

func newOutcomeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "outcome",
		Short: "Say what would have come of a submission",
		Long: `Outcome replays a recorded history and says what would have come of submitting
the next link of a chain at one moment or another.`,
	}
	cmd.AddCommand(newOutcomeCurveCommand())
	return cmd
}

// curveFlags are the flags of segue outcome curve.
type curveFlags struct {
	history       cli.History
	scheduler     cli.Scheduler
	at, pairTime  string
	pairNodes     int
	step, maxLead time.Duration
	links         int
	lead          string
	svg           string
	faithful      bool
	json          bool
}

func newOutcomeCurveCommand() *cobra.Command {
	var f curveFlags
	cmd := &cobra.Command{
		Use:   "curve",
		Short: "Show the outcome of every submit time of a pair, or of a chain under one lead",
		Long: `Curve submits the first job of a pair at one moment of a replayed history and
shows, for every lead of a grid, when the second one would have started, had it
been submitted so long before the first one's end: an interruption if later than
that end, an overlap if earlier. Each point is a fork of the simulation, in which
all other jobs, those submitted later included, go on as they would.

With --links K above 2 it follows a chain of K links instead, each submitted
--lead before the end of the one before.`,
		Example: `  segue outcome curve --trace jobs.log --nodes 76 --at 2023-02-14T09:00 --pair-nodes 1 --pair-time 48h
  segue outcome curve --trace jobs.log --nodes 76 --at 2023-01-10 --pair-time 48h --links 5 --lead 8h --svg chain.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	f.history.Add(flags)
	f.scheduler.Add(flags, "nodes", "nodes of the cluster (required; 'segue trace stats' proposes a number)")
	flags.StringVar(&f.at, "at", "", "when the first job is submitted, UTC unless it says otherwise (required)")
	flags.IntVar(&f.pairNodes, "pair-nodes", 1, "nodes of each job")
	flags.StringVar(&f.pairTime, "pair-time", "48h", "time limit of each job, which it uses up")
	flags.DurationVar(&f.step, "step", outcomes.DefaultStep, "time between submit times")
	flags.DurationVar(&f.maxLead, "max-lead", 0, "longest lead; 0 is the time limit")
	flags.IntVar(&f.links, "links", 2, "links of the chain; more than 2 follow the chain under --lead")
	flags.StringVar(&f.lead, "lead", "0s", "how long before its predecessor's end each link of a longer chain is submitted")
	flags.BoolVar(&f.faithful, "faithful", false, "hold the limits and dependencies that the history gives away")
	flags.StringVar(&f.svg, "svg", "", "draw the curve, or the chain, into this file")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *curveFlags) run(cmd *cobra.Command) error {
	setup, at, err := f.setup(cmd)
	if err != nil {
		return err
	}
	if f.links > 2 {
		return f.chain(cmd, setup, at)
	}
	if cmd.Flags().Changed("lead") {
		return segue.Errorf(segue.Invalid, "--lead is for chains: give --links above 2, or leave it out to see every lead")
	}
	curve, err := trainer.Probe(setup, at)
	if err != nil {
		return err
	}
	f.warn(cmd.ErrOrStderr(), setup, curve.End.Add(max(0, slowest(curve.Outcomes))))
	if f.svg != "" {
		if err := writeSVG(f.svg, drawCurve(setup.Pair, curve)); err != nil {
			return err
		}
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(curveReportOf(setup.Pair, curve))
	}
	return printCurve(cmd.OutOrStdout(), setup.Pair, curve)
}

// setup reads the flags and the history.
func (f *curveFlags) setup(cmd *cobra.Command) (trainer.Setup, segue.Time, error) {
	var s trainer.Setup
	if f.links < 2 {
		return s, 0, segue.Errorf(segue.Invalid, "--links %d: want at least 2", f.links)
	}
	at, err := cli.Instant("at", f.at)
	if err != nil {
		return s, 0, err
	}
	pairTime, err := cli.Limit("pair-time", f.pairTime)
	if err != nil {
		return s, 0, err
	}
	cluster, err := f.scheduler.Config()
	if err != nil {
		return s, 0, err
	}
	h, err := f.history.LoadAloud(cmd.ErrOrStderr())
	if err != nil {
		return s, 0, err
	}
	replays, err := trainer.Replays(h.Jobs, cluster, f.faithful)
	if err != nil {
		return s, 0, err
	}
	r := replays[len(replays)-1]
	s = trainer.Setup{Cluster: r.Cluster, Jobs: r.Jobs, Pair: segue.Shape{Nodes: f.pairNodes, Limit: pairTime}}
	s.Grid = outcomes.Grid{Step: f.step, Max: f.maxLead}
	return s, at, cmd.Context().Err()
}

// warn says that the history ends before the instant until, from which on no
// other job arrives: outcomes near it are too good.
func (f *curveFlags) warn(w io.Writer, s trainer.Setup, until segue.Time) {
	last := segue.NoTime
	for i := range s.Jobs {
		last = max(last, s.Jobs[i].Submit)
	}
	if last < until {
		fmt.Fprintf(w, "segue: the history's last job is submitted at %s, before the last start shown (%s): without later jobs the waits are too short\n", last, until)
	}
}

func slowest(outcomes []time.Duration) time.Duration {
	longest := outcomes[0]
	for _, x := range outcomes {
		longest = max(longest, x)
	}
	return longest
}

func (f *curveFlags) chain(cmd *cobra.Command, setup trainer.Setup, at segue.Time) error {
	lead, err := cli.Limit("lead", f.lead)
	if err != nil {
		return err
	}
	links, err := trainer.ProbeChain(setup, at, f.links, lead)
	if err != nil {
		return err
	}
	f.warn(cmd.ErrOrStderr(), setup, links[len(links)-1].Start)
	if f.svg != "" {
		if err := writeSVG(f.svg, drawChain(setup.Pair, lead, links)); err != nil {
			return err
		}
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(chainReportOf(setup.Pair, lead, links))
	}
	return printChain(cmd.OutOrStdout(), setup.Pair, lead, links)
}

func writeSVG(path string, svg []byte) error {
	return cli.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(svg)
		return err
	})
}

func drawCurve(pair segue.Shape, c outcomes.Curve) []byte {
	fig := reports.OutcomeCurve{Title: "Outcome by lead"}
	for i, lead := range c.Leads {
		fig.Outcomes = append(fig.Outcomes, reports.LeadOutcome{Lead: lead.Hours(), Outcome: c.Outcomes[i].Hours()})
	}
	return reports.Standalone(fig, "When to submit the next link: "+pair.String(), curveFacts(c)...)
}

func curveFacts(c outcomes.Curve) []string {
	return []string{
		fmt.Sprintf("The first job is submitted at %s, starts at %s and ends at %s.", moment(c.Submit), moment(c.Start), moment(c.End)),
		fmt.Sprintf("Submitted at that end, the second one waits %s.", policy.Words(c.Reactive())),
	}
}

func drawChain(pair segue.Shape, lead time.Duration, links []outcomes.Link) []byte {
	fig := reports.Timeline{Title: fmt.Sprintf("A chain of %d links", len(links))}
	for k, l := range links {
		fig.Links = append(fig.Links, reports.Link{Name: fmt.Sprintf("link %d", k+1), Submit: l.Submit, Start: l.Start, End: l.End})
	}
	interruption, overlap := chainTotals(links)
	return reports.Standalone(fig, fmt.Sprintf("A chain of %d links of %s", len(links), pair), fmt.Sprintf(
		"Each link is submitted %s before the one before ends: %s of interruption, %s of overlap in all.",
		policy.Words(lead), policy.Words(interruption), policy.Words(overlap)))
}

func chainTotals(links []outcomes.Link) (interruption, overlap time.Duration) {
	for _, l := range links {
		interruption += max(l.Outcome, 0)
		overlap += max(-l.Outcome, 0)
	}
	return interruption, overlap
}

func printCurve(w io.Writer, pair segue.Shape, c outcomes.Curve) error {
	for _, line := range append([]string{fmt.Sprintf("A pair of %s.", pair)}, curveFacts(c)...) {
		fmt.Fprintln(w, line)
	}
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"lead", "submitted (UTC)", "starts (UTC)", "wait", "outcome"})
	for i, lead := range c.Leads {
		start := c.End.Add(c.Outcomes[i])
		t.AppendRow(table.Row{policy.Words(lead), moment(c.End.Add(-lead)), moment(start), policy.Words(lead + c.Outcomes[i]), outcomeWords(c.Outcomes[i])})
	}
	t.Render()
	return nil
}

func printChain(w io.Writer, pair segue.Shape, lead time.Duration, links []outcomes.Link) error {
	fmt.Fprintf(w, "A chain of %d links of %s, each submitted %s before the one before ends.\n", len(links), pair, policy.Words(lead))
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"link", "submitted (UTC)", "starts (UTC)", "ends (UTC)", "wait", "outcome"})
	for k, l := range links {
		outcome := "–"
		if k > 0 {
			outcome = outcomeWords(l.Outcome)
		}
		t.AppendRow(table.Row{k + 1, moment(l.Submit), moment(l.Start), moment(l.End), policy.Words(l.Wait()), outcome})
	}
	t.Render()
	interruption, overlap := chainTotals(links)
	_, err := fmt.Fprintf(w, "In all %s of interruption and %s of overlap.\n", policy.Words(interruption), policy.Words(overlap))
	return err
}

// moment returns an instant in UTC to the minute.
func moment(t segue.Time) string { return t.Std().Format("2006-01-02 15:04") }

// outcomeWords says what a signed outcome is.
func outcomeWords(x time.Duration) string {
	switch {
	case x >= 30*time.Second:
		return policy.Words(x) + " interruption"
	case x <= -30*time.Second:
		return policy.Words(-x) + " overlap"
	}
	return "none"
}
