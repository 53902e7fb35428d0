//go:build native

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer/learning"
)

func newShardCommand() *cobra.Command {
	var f trainFlags
	cmd := &cobra.Command{
		Use:   "shard I/N",
		Short: "Gather one shard of the samples of a training",
		Long: `Shard does the I-th part of N of the longest step of a training: it finds out
what every submit time would have led to, for every N-th start. Parts may run
anywhere and at the same time, as tasks of a Slurm job array or of an indexed
Kubernetes Job; one that was lost is run again. 'segue-trainer merge' puts them
together. The flags must be those of the training.`,
		Example: `  #SBATCH --array=1-20
  segue-trainer shard $SLURM_ARRAY_TASK_ID/20 --trace jobs.log --nodes 76 --until 2023-01-01 \
      --out shard-$SLURM_ARRAY_TASK_ID`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.shard(cmd, args[0]) },
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "file of the shard (required)")
	return cmd
}

func (f *trainFlags) shard(cmd *cobra.Command, which string) error {
	if f.out == "" {
		return segue.Errorf(segue.Invalid, "--out is missing: name the file of the shard")
	}
	cfg, _, err := f.config(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	var rest string
	if n, _ := fmt.Sscanf(which+" ", "%d/%d%s", &cfg.Samples.Shard, &cfg.Samples.Shards, &rest); n != 2 || cfg.Samples.Shards < 1 {
		return segue.Errorf(segue.Invalid, "shard %q: want a part of a number of parts, such as 3/20", which)
	}
	steps := newStepper(cmd.ErrOrStderr())
	cfg.Progress = steps.report
	err = learning.GatherShard(cmd.Context(), cfg, f.out)
	steps.done()
	return err
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
		RunE: func(_ *cobra.Command, args []string) error {
			if out == "" {
				return segue.Errorf(segue.Invalid, "--out is missing: name the folder of the model to be")
			}
			return learning.MergeShards(args, out+unfinished)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "folder of the model to be (required)")
	return cmd
}
