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
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
)

func newHistoryCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Look at, bring in and take out the job histories of the store",
		Long: `The store keeps the job history of each cluster: what the agent collects from
snapshots of the queue and, where there is accounting, from sacct, and what is
imported. Forecasts and training read it.`,
	}
	cmd.AddCommand(newHistoryCollectCommand(), newHistoryExportCommand(), newHistoryImportCommand(), newHistoryListCommand())
	return cmd
}

func newHistoryListCommand() *cobra.Command {
	var where chainStore
	var ask serverFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show what the store, or a server, holds of each cluster",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			asks, err := ask.asks(cmd, "this machine", "store")
			switch {
			case err != nil:
				return err
			case asks:
				return ask.told(listServedHistories(cmd, &ask, asJSON))
			}
			return where.with(cmd.Context(), func(s *store.Store) error {
				all, err := s.Histories(cmd.Context())
				if err != nil {
					return err
				}
				return printHistories(cmd, all, asJSON)
			})
		},
	}
	where.add(cmd.Flags())
	ask.add(cmd.Flags(), "about its histories")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func printHistories(cmd *cobra.Command, all []store.History, asJSON bool) error {
	out := cmd.OutOrStdout()
	if asJSON {
		for _, h := range all {
			line := struct {
				Cluster   string  `json:"cluster"`
				Jobs      int64   `json:"jobs"`
				First     *string `json:"first_submit"`
				Last      *string `json:"last_submit"`
				Seen      *string `json:"latest_snapshot"`
				Accounted *string `json:"accounting_until"`
			}{h.Cluster, h.Jobs, known(h.First), known(h.Last), known(h.Seen), known(h.Accounted)}
			if err := json.NewEncoder(out).Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "The store holds no history. `segue history collect` asks Slurm's accounting; an agent collects by itself.")
		return nil
	}
	tabulateHistories(out, all)
	return nil
}

func tabulateHistories(out io.Writer, all []store.History) {
	t := newTraceTable(out, "Histories")
	t.AppendHeader(table.Row{"cluster", "jobs", "submitted from", "to (UTC)", "latest snapshot", "accounting until"})
	rightFrom(t, 2, 2)
	for _, h := range all {
		t.AppendRow(table.Row{safe(h.Cluster), thousands(h.Jobs), onDay(h.First), onDay(h.Last), onDay(h.Seen), onDay(h.Accounted)})
	}
	t.Render()
}

// onDay returns an instant for people, a dash for one that is not known.
func onDay(at segue.Time) string {
	if !at.Known() {
		return "-"
	}
	return at.Std().UTC().Format("2006-01-02 15:04")
}

func newHistoryImportCommand() *cobra.Command {
	var where chainStore
	var history cli.History
	var ask serverFlags
	var cluster string
	cmd := &cobra.Command{
		Use:   "import FILE --cluster NAME",
		Short: "Add a job history to that of a cluster",
		Long: `Import adds the history FILE (any format that 'segue trace' reads; "-" is standard
input) to that of a cluster. It may be imported again, in part or in whole: what
the store knows already is not written. With --server it is sent to a server as it
is read: that takes a token of the scope operator.`,
		Example: `  segue history import jobs.sacct.gz --cluster lonestar6
  sacct ... | segue history import - --cluster lonestar6 --server https://segue:7411 --token-file operator.token`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			history.Path = args[0]
			if cluster == "" {
				return segue.Errorf(segue.Invalid, "--cluster is empty")
			}
			asks, err := ask.asks(cmd, "this machine", "store", "timezone")
			switch {
			case err != nil:
				return err
			case asks:
				return ask.told(sendHistory(cmd, &ask, &history, cluster))
			}
			return where.with(cmd.Context(), func(s *store.Store) error {
				return audited(cmd.Context(), s, "import-history", cluster, func() error { return importHistory(cmd, s, &history, cluster) })
			})
		},
	}
	where.add(cmd.Flags())
	ask.add(cmd.Flags(), "to add it to a history of its own")
	history.AddReading(cmd.Flags())
	cmd.Flags().StringVar(&cluster, "cluster", "", "the cluster's name (required); Slurm's ClusterName if the agent is to use it")
	_ = cmd.MarkFlagRequired("cluster") // it is declared
	return cmd
}

func importHistory(cmd *cobra.Command, s *store.Store, history *cli.History, cluster string) error {
	r, err := history.Open(cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer r.Close()
	line := cli.NewProgress(cmd.ErrOrStderr(), "jobs read", 0)
	counted := func(yield func(segue.Job, error) bool) {
		for j, err := range r.All() {
			line.Add(1)
			if !yield(j, err) {
				return
			}
		}
	}
	done, err := s.ImportJobs(cmd.Context(), cluster, counted)
	line.Done()
	out := cmd.OutOrStdout()
	if err == nil {
		err = r.Usable()
	}
	if err != nil && done.Changed == 0 {
		return err
	}
	tellImported(out, cluster, int64(done.Read), int64(done.Changed))
	for _, p := range done.Problems {
		fmt.Fprintf(out, "Not kept: %s.\n", p)
	}
	cli.WarnRejected(cmd.ErrOrStderr(), history.Path, r.Report())
	return err
}

func tellImported(w io.Writer, cluster string, read, changed int64) {
	fmt.Fprintf(w, "Cluster %s: %s jobs read, %s of them new or changed.\n", cluster, thousands(read), thousands(changed))
}

func newHistoryExportCommand() *cobra.Command {
	var where chainStore
	var to string
	var force bool
	cmd := &cobra.Command{
		Use:   "export CLUSTER OUT",
		Short: "Write the history of a cluster to a file",
		Long: `Export writes the history of a cluster to a file, which 'segue trace', 'segue
backtest' and segue-trainer read. The format follows the name of OUT: .parquet
keeps most; .swf, .sacct and .csv, with .gz behind for gzip.`,
		Example: "  segue history export lonestar6 jobs.parquet",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return where.with(cmd.Context(), func(s *store.Store) error { return exportHistory(cmd, s, args[0], args[1], to, force) })
		},
	}
	where.add(cmd.Flags())
	cmd.Flags().StringVar(&to, "to", "auto", "format of OUT, when its name does not say: swf, sacct, parquet or csv")
	cmd.Flags().BoolVar(&force, "force", false, "replace OUT if it exists")
	return cmd
}

func exportHistory(cmd *cobra.Command, s *store.Store, cluster, out, to string, force bool) error {
	format, err := traces.ParseFormat(to)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if err := refuseToReplace(out, force); err != nil {
		return err
	}
	w, err := createOutput(out, cmd.OutOrStdout(), traces.WriteOptions{Format: format})
	if err != nil {
		return err
	}
	n := 0
	for j, err := range s.Jobs(cmd.Context(), store.JobQuery{Cluster: cluster}) {
		if err == nil {
			err = w.Write(j)
			if segue.KindOf(err) == segue.Invalid {
				fmt.Fprintf(cmd.ErrOrStderr(), "segue: left out: %v\n", err)
				continue
			}
		}
		if err != nil {
			w.Abort()
			return err
		}
		n++
	}
	if n == 0 {
		w.Abort()
		return segue.Errorf(segue.NotFound, "the store holds no job of cluster %q; `segue history list` lists the clusters", cluster)
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s jobs of cluster %s.\n", out, thousands(int64(n)), cluster)
	return nil
}

func newHistoryCollectCommand() *cobra.Command {
	var where chainStore
	var back time.Duration
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "Ask Slurm's accounting for the history of the cluster, up to now",
		Long: `Collect asks sacct for what it knows of the jobs of all users, a day at a time, from
where the store's history ends up to now. An agent does it by itself, a day a
minute; this is for who does not want to wait, or keeps no agent. It may be
interrupted, and goes on where it was.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return where.with(cmd.Context(), func(s *store.Store) error { return collectHistory(cmd, s, back) })
		},
	}
	where.add(cmd.Flags())
	spanVar(cmd.Flags(), &back, "back", 30*24*time.Hour, "how far the first time goes back")
	return cmd
}

func collectHistory(cmd *cobra.Command, s *store.Store, back time.Duration) error {
	if back <= 0 {
		return segue.Errorf(segue.Invalid, "--back %s: want more than 0", back)
	}
	driver := slurm.New(slurm.Config{})
	caps, err := driver.Capabilities(cmd.Context())
	if err != nil {
		return err
	}
	now := segue.TimeOf(time.Now())
	return collectUntil(cmd, s, driver, caps.Cluster, now, provisioner.HistoryConfig{Back: back})
}

func collectUntil(cmd *cobra.Command, s *store.Store, from schedulers.Historian, cluster string, now segue.Time, cfg provisioner.HistoryConfig) error {
	line := cli.NewProgress(cmd.ErrOrStderr(), "days asked for", int64(cfg.Back.Hours()/24)+1)
	err := audited(cmd.Context(), s, "collect-history", cluster, func() error {
		return provisioner.CatchUp(cmd.Context(), s, from, cluster, now, cfg, func(c provisioner.Collected) {
			line.Add(1)
			if c.Rejected > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "segue: %d records of sacct cannot be read, the first: %s\n", c.Rejected, c.Why)
			}
		})
	})
	line.Done()
	if err != nil {
		return err
	}
	all, err := s.Histories(cmd.Context())
	if err != nil {
		return err
	}
	return printHistories(cmd, all, false)
}
