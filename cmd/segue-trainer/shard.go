//go:build native

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/trainer/learning"
)

func newShardCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "shard I/N|N",
		Short: "Gather one shard of the samples of a training",
		Long: `Shard does the I-th part of N of the longest step of a training: it finds out
what every submit time would have led to, for every N-th start. Parts may run
anywhere and at the same time; one that was lost is run again. I is from 1 to N.
With N alone it is the number of the task: of a Slurm job array
(SLURM_ARRAY_TASK_ID, with --array=1-N), or of an indexed Kubernetes Job of N
completions (JOB_COMPLETION_INDEX and one more, as that counts from 0).

'segue-trainer merge' puts the shards together. The flags are those of the
training, all of which may be given; those below bear on the samples, and must be
the same. What the published method is fitted to is no part of shards: the
training gathers it.`,
		Example: `  segue-trainer shard 3/20 --trace jobs.log --nodes 76 --until 2023-01-01 --out shard-3

  #SBATCH --array=1-20
  segue-trainer shard 20 --trace jobs.log --nodes 76 --until 2023-01-01 --out shard-$SLURM_ARRAY_TASK_ID`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.shard(cmd, args[0]) },
	}
	f.addLearning(cmd.Flags())
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
	f.addGathering(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "file of the shard (required)")
	return cmd
}

func (f *trainFlags) shard(cmd *cobra.Command, which string) error {
	shard, shards, err := part(which, os.Getenv)
	if err != nil {
		return err
	}
	if f.out == "" {
		return segue.Errorf(segue.Invalid, "--out is missing: name the file of the shard")
	}
	if err := cli.Writable(f.out); err != nil {
		return segue.Errorf(segue.Invalid, "--out: %w", err)
	}
	cfg, _, err := f.config(cmd)
	if err != nil {
		return err
	}
	cfg.Samples.Shard, cfg.Samples.Shards = shard, shards
	steps := newStepper(cmd.ErrOrStderr())
	cfg.Progress = steps.report
	err = learning.GatherShard(cmd.Context(), cfg, f.out)
	steps.done()
	return err
}

// part reads which shard of how many is asked for: "3/20", or in a task of an
// array "20".
func part(which string, getenv func(string) string) (shard, shards int, err error) {
	number, of, named := strings.Cut(which, "/")
	if !named {
		if number, of = ownNumber(getenv), which; number == "" {
			return 0, 0, segue.Errorf(segue.Invalid, "shard %q: want a part of a number of parts, such as 3/20; a number of parts alone is for a task of an array, which either SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX numbers", which)
		}
	}
	shard, err = strconv.Atoi(number)
	if err == nil {
		shards, err = strconv.Atoi(of)
	}
	switch {
	case err != nil:
		return 0, 0, segue.Errorf(segue.Invalid, "shard %q: want a part of a number of parts, such as 3/20", which)
	case shards < 1 || shard < 1 || shard > shards:
		return 0, 0, segue.Errorf(segue.Invalid, "shard %d of %d: they are numbered from 1 on, as tasks of a Slurm array with --array=1-%d", shard, shards, max(shards, 1))
	}
	return shard, shards, nil
}

// ownNumber returns the number of the task that this process is, from 1 on; "" for
// none, or for two.
func ownNumber(getenv func(string) string) string {
	slurm, kubernetes := getenv("SLURM_ARRAY_TASK_ID"), getenv("JOB_COMPLETION_INDEX")
	if index, err := strconv.Atoi(kubernetes); err == nil && slurm == "" {
		return strconv.Itoa(index + 1)
	}
	if kubernetes != "" {
		return ""
	}
	return slurm
}

func newMergeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge SHARD...",
		Short: "Put shards together for a training",
		Long: `Merge puts the shards of a training together, in any order; one that is there
twice counts once, and one that is missing is named. 'segue-trainer train
--resume' with the same flags goes on from there and makes the model that it
would have made alone.`,
		Example: `  segue-trainer merge --out model shard-*
  segue-trainer train --resume --trace jobs.log --nodes 76 --until 2023-01-01 --out model`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := admitModel(out); err != nil {
				return err
			}
			if err := learning.MergeShards(args, out+unfinished); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d files of shards are merged: segue-trainer train --resume --out %s goes on from there.\n", len(args), out)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder of the model to be (required)")
	return cmd
}
