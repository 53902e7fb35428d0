package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/synthetic"
)

// generateFlags are the flags of segue trace generate.
type generateFlags struct {
	history             synthetic.Config
	months              float64
	start, format, path string
	force               bool
}

func newTraceGenerateCommand() *cobra.Command {
	var f generateFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make up the job history of a cluster that never existed",
		Long: `Generate makes a job history up: users in sessions, by day and week, in calm
and congested weeks, with bursts, arrays, chains of 48-hour jobs and a limit on
each user's jobs. Its parameters follow a real cluster (docs/synthetic.md). Equal
flags give equal bytes.

Start times come from a light scheduler inside (first come, first served, EASY
backfill), or with --unscheduled every job starts at once, as the input of
'segue simulate'.`,
		Example: `  segue trace generate --months 6 --seed 7 -o history.parquet
  segue trace generate --jobs 10000000 --nodes 1000 --users 4000 -o large.swf.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.history.Jobs, "jobs", 0, "end after so many rows; 0 is no limit")
	flags.Float64Var(&f.months, "months", 0, "months of 30 days with submissions (default 4, or no limit with --jobs)")
	flags.IntVar(&f.history.Nodes, "nodes", 76, "nodes of the cluster")
	flags.IntVar(&f.history.GPUsPerNode, "gpus-per-node", 3, "GPUs of a node")
	flags.IntVar(&f.history.CPUsPerNode, "cpus-per-node", 128, "processors of a node")
	flags.Float64Var(&f.history.PartNode, "part-node", 0, "part of the one-node scripts that take some GPUs of a shared node, 0 to 1")
	flags.IntVar(&f.history.Users, "users", 300, "people who may submit")
	flags.Float64Var(&f.history.Load, "load", 0.85, "node-hours asked for over those there are, in the long run")
	flags.IntVar(&f.history.MaxRunning, "max-running", 8, "most running jobs of one user; -1 is no limit")
	flags.IntVar(&f.history.MaxQueued, "max-queued", 40, "most queued and running jobs of one user; -1 is no limit")
	flags.StringVar(&f.start, "start", "2024-01-01", "first day")
	flags.Uint64Var(&f.history.Seed, "seed", 0, "decides all that is random")
	flags.BoolVar(&f.history.Unscheduled, "unscheduled", false, "let every job start at once")
	flags.StringVar(&f.format, "format", "", "swf, ls6, sacct, parquet or csv (default by the file's name; sacct on standard output)")
	flags.BoolVar(&f.force, "force", false, "replace the file if it exists")
	flags.StringVarP(&f.path, "output", "o", "-", "file to write, gzip if it ends in .gz; - is standard output")
	return cmd
}

func (f *generateFlags) run(cmd *cobra.Command) error {
	jobs, err := f.generate()
	if err != nil {
		return err
	}
	w, err := f.create(cmd.OutOrStdout())
	if err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "jobs made up", int64(f.history.Jobs))
	defer bar.Done()
	if err := writeAll(cmd.Context(), w, jobs, bar); err != nil {
		w.Abort()
		return fmt.Errorf("generate history: %w", err)
	}
	return w.Close()
}

func (f *generateFlags) generate() (iter.Seq[segue.Job], error) {
	if f.months < 0 || f.months > 1e4 {
		return nil, segue.Errorf(segue.Invalid, "--months %g: want more than 0, at most 10000", f.months)
	}
	f.history.Duration = time.Duration(f.months * float64(30*24*time.Hour))
	var err error
	if f.history.Start, err = cli.Instant("start", f.start); err != nil {
		return nil, err
	}
	return synthetic.Generate(f.history)
}

// create opens the output in its format.
func (f *generateFlags) create(stdout io.Writer) (*traces.Writer, error) {
	format, err := traces.ParseFormat(f.format)
	if err != nil {
		return nil, err
	}
	cfg := f.history
	opt := traces.WriteOptions{Format: format, Header: traces.Header{
		Computer:     "synthetic",
		Installation: fmt.Sprintf("segue trace generate, seed %d", cfg.Seed),
		MaxNodes:     int64(cfg.Nodes),
		MaxProcs:     int64(cfg.Nodes) * int64(cfg.CPUsPerNode),
	}}
	if f.path != "-" {
		if err := refuseToReplace(f.path, f.force); err != nil {
			return nil, err
		}
		return traces.Create(f.path, opt)
	}
	if opt.Format == traces.Auto {
		opt.Format = traces.Sacct
	}
	return traces.NewWriter(stdout, opt)
}

// writeAll writes jobs until they end or ctx does.
func writeAll(ctx context.Context, w *traces.Writer, jobs iter.Seq[segue.Job], bar *cli.Progress) error {
	const stride = 1024 // jobs between two looks at ctx
	n := int64(0)
	for j := range jobs {
		if err := w.Write(j); err != nil {
			return err
		}
		if n++; n%stride == 0 {
			bar.Add(stride)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	bar.Add(n % stride)
	return nil
}
