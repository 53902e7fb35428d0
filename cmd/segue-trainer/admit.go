//go:build native

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/learning"
)

// admit returns what the flags say, without the replays, and the cluster. It
// refuses what would otherwise be noticed after hours of work, or never: a 0 that
// stands for a default, say.
func (f *trainFlags) admit(flags *pflag.FlagSet) (learning.Config, simulator.Config, error) {
	cfg := learning.Config{
		Samples: trainer.SamplesConfig{Every: f.every, Monte: predictor.MonteCarloConfig{Replicas: f.replicas, Seed: f.samplesSeed}},
		Trees:   learning.TreesConfig{Kind: waits.Kind(f.forecast)}, Policies: f.policies, Seed: f.seed, Steps: f.steps, Resume: f.resume,
		Published: f.published,
	}
	cfg.Samples.Grid.Step = f.step
	var cluster simulator.Config
	if err := cfg.Validate(); err != nil {
		return cfg, cluster, err
	}
	switch {
	case f.seed == 0:
		return cfg, cluster, segue.Errorf(segue.Invalid, "--seed 0: want 1 or more")
	case f.published.Trees == 0 || f.published.Width == 0 || f.published.Epochs == 0:
		return cfg, cluster, segue.Errorf(segue.Invalid, "--published-trees, --published-width or --published-epochs is 0: want 1 or more")
	}
	if err := checkPace(f.every, f.replicas); err != nil {
		return cfg, cluster, err
	}
	if err := f.admitShares(); err != nil {
		return cfg, cluster, err
	}
	cluster, err := f.scheduler.Config()
	if err != nil {
		return cfg, cluster, err
	}
	if cfg.Samples.Pairs, err = f.pairs.shapes(flags, f.scheduler.Nodes); err != nil {
		return cfg, cluster, err
	}
	if limit := cfg.Samples.Pairs[0].Limit; f.step < time.Minute || f.step > limit {
		return cfg, cluster, segue.Errorf(segue.Invalid, "--lead-step %s: want from a minute to --pair-time, %s", f.step, limit)
	}
	if cfg.Samples.Until, err = cli.Instant("until", f.until); err != nil {
		return cfg, cluster, err
	}
	if f.from != "" {
		if cfg.Samples.From, err = cli.Instant("from", f.from); err != nil {
			return cfg, cluster, err
		}
		if cfg.Samples.From >= cfg.Samples.Until {
			return cfg, cluster, segue.Errorf(segue.Invalid, "--from %s is not before --until %s", f.from, f.until)
		}
	}
	return cfg, cluster, nil
}

func (f *trainFlags) admitShares() error {
	for _, share := range slices.Concat(f.loads, f.faithfulLoads) {
		if !(share >= 0.1 && share <= 10) {
			return segue.Errorf(segue.Invalid, "a share %v of the nodes: want --node-shares and --faithful-node-shares from 0.1 to 10", share)
		}
	}
	return nil
}

// admitModel refuses a folder that a model cannot be written to.
func admitModel(out string) error {
	if out == "" {
		return segue.Errorf(segue.Invalid, "--out is missing: name the folder of the model")
	}
	if err := models.CheckID(filepath.Base(out)); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if _, err := os.Lstat(out); err == nil {
		return segue.Errorf(segue.Invalid, "--out %q exists already: a model is never replaced", out)
	}
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return segue.Errorf(segue.Invalid, "--out %q: there is no folder %s", out, filepath.Dir(out))
	}
	return nil
}

// unfinished ends the name of the folder in which a training keeps what is
// finished, and in which merged shards are.
const unfinished = ".unfinished"

// admitUnfinished refuses to begin anew where there is work to go on from: it may
// be hours of many machines.
func (f *trainFlags) admitUnfinished() error {
	if f.resume {
		return nil
	}
	entries, err := os.ReadDir(f.out + unfinished)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("look for an interrupted training: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // half a file
			return segue.Errorf(segue.Conflict, "%s holds merged shards, or what an interrupted training has finished: go on from there with --resume, or remove it", f.out+unfinished)
		}
	}
	return nil
}
