package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/traces"
)

// adviseFlags are the flags of segue advise.
type adviseFlags struct {
	history                            cli.History
	scheduler                          cli.Scheduler
	at, limit, remaining, prefer, user string
	requestNodes, replicas             int
	maxLead                            time.Duration
	seed                               uint64
	json                               bool
	model, policy                      string
	ask                                serverFlags
	// What only a server can look at.
	partition, account, cluster, job string
	gpusPerNode                      int
}

func newAdviseCommand() *cobra.Command {
	var f adviseFlags
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Say whether to submit the next link of a chain now",
		Long: `Advise says whether to submit the next job of a chain now, at a moment of a
recorded history: what would the wait be, and what would be lost by submitting
now or at each later hour? It uses nothing that happened after that moment.

A planner decides, which simulates futures of the queue; or with --model a trained
model, unless the queue is unlike all that its training saw. With --server a server
answers, about its cluster's queue as it is now.`,
		Example: `  segue advise --trace jobs.log --cluster-nodes 76 --at 2023-02-14T09:00 \
      --nodes 1 --time 48:00:00 --remaining 9h --prefer balanced
  segue advise --model ./model --trace jobs.log --cluster-nodes 76 --at 2023-02-14T09:00 \
      --nodes 1 --time 48:00:00 --remaining 9h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asks, err := f.ask.asks(cmd, "a recorded history", onlyHere...)
			switch {
			case err != nil:
				return err
			case asks:
				return f.runServer(cmd)
			}
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	f.ask.add(flags, "about its queue as it is now")
	f.history.Add(flags)
	f.scheduler.Add(flags, "cluster-nodes", "nodes of the cluster; 0 takes what the history shows until --at")
	flags.IntVar(&f.requestNodes, "nodes", 1, "nodes of the next link, as sbatch --nodes")
	flags.StringVar(&f.at, "at", "", "the moment, UTC unless it says otherwise (required)")
	flags.StringVar(&f.limit, "time", "", "time limit of the next link, as sbatch --time (48 is 48 minutes) or 48h (required)")
	flags.StringVar(&f.remaining, "remaining", "", "how long the current link still runs, as squeue shows it (9:00 is 9 minutes) or 9h (required)")
	flags.StringVar(&f.job, "job", "", "with --server, instead of --remaining: the running job that the next link follows")
	flags.StringVar(&f.partition, "partition", "", "with --server: partition of the next link")
	flags.StringVar(&f.account, "account", "", "with --server: its account")
	flags.IntVar(&f.gpusPerNode, "gpus-per-node", 0, "with --server: its GPUs on each node")
	flags.StringVar(&f.cluster, "cluster", "", "with --server: the cluster, where the server has histories of several")
	flags.StringVar(&f.prefer, "prefer", "balanced", "no-gap, balanced, no-waste, or hours of overlap worth one hour of interruption")
	flags.StringVar(&f.user, "user", "", "whose jobs of the history are one's own")
	flags.DurationVar(&f.maxLead, "max-lead", 0, "never submit earlier than this before the end; 0 is no cap")
	flags.IntVar(&f.replicas, "replicas", 200, "simulated futures")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the simulated futures")
	flags.StringVar(&f.model, "model", "", "let the trained model in this folder decide, \"default\" for the one that segue carries (without it a planner decides)")
	flags.StringVar(&f.policy, "policy", "", "which policy of the model (default moe-dqn, or what it has)")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *adviseFlags) run(cmd *cobra.Command) error {
	for _, name := range onlyServed {
		if cmd.Flags().Changed(name) {
			return segue.Errorf(segue.Invalid, "--%s is for a server to look at: name one by --server", name)
		}
	}
	q, at, err := f.question()
	if err != nil {
		return err
	}
	by, err := f.trained()
	if err != nil {
		return err
	}
	h, err := f.history.LoadAloud(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if err := within(h.Jobs, at); err != nil {
		return err
	}
	if f.scheduler.Nodes == 0 {
		if f.scheduler.Nodes, err = proposedNodes(predictor.Known(h.Jobs, at), h.Header); err != nil {
			return err
		}
	}
	now := predictor.RecordedAt(h.Jobs, at, f.scheduler.Nodes)
	if now.Owner = f.user; f.user != "" && !slices.ContainsFunc(h.Jobs, func(j segue.Job) bool { return j.User == f.user && j.Submit <= at }) {
		fmt.Fprintf(cmd.ErrOrStderr(), "segue: --user %q: no job of the history by then is theirs, so nothing is known of them\n", f.user)
	}
	d, err := f.advise(cmd.Context(), by, h.Jobs, now, q)
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(adviceOf(d, now))
	}
	return printAdvice(cmd.OutOrStdout(), d, now)
}

// lastDay is how long after its last submission a history still shows the queue:
// there may have been none since.
const lastDay = 24 * time.Hour

// within refuses a moment of which the history says nothing.
func within(jobs []segue.Job, at segue.Time) error {
	first, last := segue.Never, segue.NoTime
	for i := range jobs {
		if submit := jobs[i].Submit; submit.Known() {
			first, last = min(first, submit), max(last, submit)
		}
	}
	if at <= first || at > last.Add(lastDay) {
		return segue.Errorf(segue.Invalid, "--at %s is outside the history, whose jobs are submitted from %s to %s", at, first, last)
	}
	return nil
}

// proposedNodes returns the number of nodes that a history shows.
func proposedNodes(jobs []segue.Job, head traces.Header) (int, error) {
	stats, err := traces.Stats(func(yield func(segue.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}, head)
	if err != nil {
		return 0, err
	}
	if stats.Busy.Proposed < 1 {
		return 0, segue.Errorf(segue.Invalid, "no job has run by --at, so that the history does not show the cluster's size: give --cluster-nodes")
	}
	return int(stats.Busy.Proposed), nil
}

func (f *adviseFlags) question() (provisioner.Question, segue.Time, error) {
	var q provisioner.Question
	at, err := cli.Instant("at", f.at)
	if err != nil {
		return q, 0, err
	}
	if q.Request.Limit, err = cli.Limit("time", f.limit); err != nil {
		return q, 0, err
	}
	if q.Remaining, err = cli.TimeLeft("remaining", f.remaining); err != nil {
		return q, 0, err
	}
	if q.Prefer, err = segue.ParsePreference(f.prefer); err != nil {
		return q, 0, fmt.Errorf("--prefer: %w", err)
	}
	q.Request.Nodes, q.Request.User, q.MaxLead = f.requestNodes, f.user, f.maxLead
	return q, at, nil
}

// advice is the JSON of a decision; hours are hours.
type advice struct {
	At                string             `json:"at"`
	Decision          string             `json:"decision"` // "submit" or "wait"
	SubmitAt          string             `json:"submit_at"`
	Reason            string             `json:"reason"`
	Policy            string             `json:"policy"`
	Model             string             `json:"model"`      // ID of the model that was asked, "" for none
	Forecaster        string             `json:"forecaster"` // whose forecast decided
	Prefer            string             `json:"prefer"`
	RemainingHours    float64            `json:"remaining_hours"`
	Running           int                `json:"running_jobs"`
	Pending           int                `json:"pending_jobs"`
	WaitHours         map[string]float64 `json:"wait_quantiles_hours"`
	StartsBeforeEnd   float64            `json:"starts_before_end"`
	InterruptionHours float64            `json:"expected_interruption_hours"`
	OverlapHours      float64            `json:"expected_overlap_hours"`
	Alternatives      []alternative      `json:"alternatives"`
}

type alternative struct {
	SubmitAt          string  `json:"submit_at"`
	InterruptionHours float64 `json:"expected_interruption_hours"`
	OverlapHours      float64 `json:"expected_overlap_hours"`
	StartsBeforeEnd   float64 `json:"starts_before_end"`
	CostHours         float64 `json:"cost_hours"`
	Forecaster        string  `json:"forecaster"` // whose forecast priced it
}

// quantiles are those that advice shows.
var quantiles = []float64{0.1, 0.25, 0.5, 0.75, 0.9, 0.95}

func adviceOf(d segue.Decision, now predictor.Present) advice {
	a := advice{
		At: d.At.String(), Decision: verdict(d), SubmitAt: d.SubmitAt.String(), Reason: d.Reason, Policy: d.Policy,
		Model: d.Model, Forecaster: d.Forecast.Source, Prefer: d.Prefer.String(), RemainingHours: d.Remaining.Hours(),
		Running: len(now.Snapshot.Running), Pending: len(now.Snapshot.Pending), WaitHours: map[string]float64{},
		StartsBeforeEnd:   d.Forecast.StartsWithin(d.Remaining),
		InterruptionHours: d.Forecast.Interruption(d.Remaining).Hours(), OverlapHours: d.Forecast.Overlap(d.Remaining).Hours(),
		Alternatives: []alternative{},
	}
	for _, p := range quantiles {
		a.WaitHours[fmt.Sprintf("%g", p)] = d.Forecast.Quantile(p).Hours()
	}
	for _, alt := range d.Alternatives {
		a.Alternatives = append(a.Alternatives, alternative{
			alt.SubmitAt.String(), alt.Interruption.Hours(), alt.Overlap.Hours(), alt.StartsBeforeEnd, alt.Cost, alt.Forecaster,
		})
	}
	return a
}

func verdict(d segue.Decision) string {
	if d.Submit {
		return "submit"
	}
	return "wait"
}

func printAdvice(w io.Writer, d segue.Decision, now predictor.Present) error {
	fmt.Fprintf(w, "%s\n\n", d.Reason)
	fmt.Fprintf(w, "At %s: %d jobs run, %d wait; the next link is %s.\n", d.At, len(now.Snapshot.Running), len(now.Snapshot.Pending), d.Request.Shape)
	fmt.Fprintf(w, "Wait of a submission now:")
	for _, p := range quantiles {
		fmt.Fprintf(w, "  %g %% within %s", 100*p, policy.Words(d.Forecast.Quantile(p)))
	}
	fmt.Fprintf(w, "\n\n")
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"submit at (UTC)", "expected interruption", "expected overlap", "no gap", "cost, hours"})
	for _, a := range d.Alternatives {
		t.AppendRow(table.Row{
			a.SubmitAt.Std().Format("Mon 02 Jan 15:04"), policy.Words(a.Interruption), policy.Words(a.Overlap),
			fmt.Sprintf("%.0f %%", 100*a.StartsBeforeEnd), fmt.Sprintf("%.2f", a.Cost),
		})
	}
	t.Render()
	_, err := fmt.Fprintf(w, "Cost = interruption + %.2g x overlap (--prefer %s); decided by %s.\n", d.Prefer.OverlapPrice(), d.Prefer, decidedBy(d))
	return err
}
