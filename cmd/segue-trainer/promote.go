//go:build native

package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/trainer"
)

// promoteFlags are the flags of segue-trainer promote.
type promoteFlags struct {
	history              cli.History
	scheduler            cli.Scheduler
	registry, challenger string
	from, until          string
	pairs                pairFlags
	plainOnly            bool
	every                time.Duration
	replicas             int
	seed                 uint64
}

func newPromoteCommand() *cobra.Command {
	var f promoteFlags
	cmd := &cobra.Command{
		Use:   "promote",
		Short: "Make a model the champion if it is better on a stretch that nobody saw",
		Long: `Promote replays a stretch of a history that neither the champion nor the
challenger was trained on, and compares what the default policies of both cost a
start at the balanced preference. The challenger takes the place if it costs less
by a whole 95 % interval, and in no load class more than 5 % (or 0.05 h) beyond
the champion. The first model of a folder is compared with the planner that did
best on the stretch, and may cost 5 % more.

The decision and its reason are logged either way: 'segue models list' shows
them. A challenger outside the folder is copied into it first.`,
		Example: `  segue-trainer promote --registry models --challenger ./2023-02 --trace jobs.log \
      --nodes 76 --from 2023-02-01 --until 2023-03-01`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	f.history.Add(flags)
	f.scheduler.Add(flags, "nodes", "nodes of the cluster (required)")
	flags.StringVar(&f.registry, "registry", "", "folder of the models (required)")
	flags.StringVar(&f.challenger, "challenger", "", "ID of a model there, or the path of a model's folder, with a / (required)")
	flags.StringVar(&f.from, "from", "", "first start that is judged (required)")
	flags.StringVar(&f.until, "until", "", "end of the stretch; nothing later is used (required)")
	f.pairs.add(flags, "judged")
	flags.BoolVar(&f.plainOnly, "plain-only", false, "leave out the replay with inferred caps and dependencies")
	flags.DurationVar(&f.every, "every", 4*time.Hour, "time between starts")
	flags.IntVar(&f.replicas, "replicas", 12, "simulated futures of a Monte Carlo forecast")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the simulated futures and of the bootstrap")
	return cmd
}

func (f *promoteFlags) run(cmd *cobra.Command) error {
	// 1. Find the two models; what cannot be judged is refused before the work.
	if f.registry == "" || f.challenger == "" {
		return segue.Errorf(segue.Invalid, "--registry and --challenger are required: name the folder of the models and the model to judge")
	}
	period, err := f.period()
	if err != nil {
		return err
	}
	if err := checkPace(f.every, f.replicas); err != nil {
		return err
	}
	cluster, err := f.scheduler.Config()
	if err != nil {
		return err
	}
	pairs, err := f.pairs.shapes(cmd.Flags(), f.scheduler.Nodes)
	if err != nil {
		return err
	}
	registry := models.NewRegistry(f.registry, func() segue.Time { return segue.TimeOf(time.Now()) })
	cfg := trainer.ContestConfig{
		Pairs: pairs, Period: period, Every: f.every, Monte: predictor.MonteCarloConfig{Replicas: f.replicas, Seed: f.seed},
		Judge: evaluation.JudgeConfig{Seed: f.seed},
	}
	champion, err := registry.Champion()
	if err != nil && segue.KindOf(err) != segue.NotFound {
		return err
	}
	if champion != "" {
		if cfg.Champion, _, err = unseen(registry.Open, champion, period); err != nil {
			return fmt.Errorf("champion: %w", err)
		}
	}
	id, err := f.enter(registry, period, &cfg)
	if err != nil {
		return fmt.Errorf("--challenger: %w", err)
	}
	if id == champion {
		return segue.Errorf(segue.Conflict, "--challenger: model %s is the champion already", id)
	}
	// 2. Judge them on the stretch.
	if cfg.Replays, _, err = replaysOf(cmd.ErrOrStderr(), f.history, cluster, !f.plainOnly, cfg.Period.To); err != nil {
		return err
	}
	bar := cli.NewProgress(cmd.ErrOrStderr(), "starts judged", 0)
	defer bar.Done()
	cfg.Progress = bar.Set
	verdict, err := trainer.Contest(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	bar.Done()
	// 3. Do what the verdict says, and say it.
	if err := registry.Settle(id, champion, verdict); err != nil {
		return err
	}
	return printVerdict(cmd.OutOrStdout(), id, champion, verdict)
}

func (f *promoteFlags) period() (evaluation.Period, error) {
	from, err := cli.Instant("from", f.from)
	if err != nil {
		return evaluation.Period{}, err
	}
	until, err := cli.Instant("until", f.until)
	if err != nil {
		return evaluation.Period{}, err
	}
	if from >= until {
		return evaluation.Period{}, segue.Errorf(segue.Invalid, "--until %s is not after --from %s", until, from)
	}
	return evaluation.Period{From: from, To: until}, nil
}

// unseen opens a model and refuses it if its training reaches into the period.
func unseen(open func(string) (*models.Model, error), name string, period evaluation.Period) (*learned.Model, *models.Model, error) {
	m, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	if until := m.Manifest.Window.Until.Time(); until > period.From {
		return nil, nil, segue.Errorf(segue.Invalid, "model %s was trained on the history up to %s, which is in the stretch from %s on",
			m.Manifest.ID, until, period.From)
	}
	model, err := learned.Read(m.File)
	if err != nil {
		return nil, nil, fmt.Errorf("model %s: %w", m.Manifest.ID, err)
	}
	return model, m, nil
}

// enter opens the challenger, copies it into the registry when it comes from
// elsewhere, and returns its ID.
func (f *promoteFlags) enter(registry *models.Registry, period evaluation.Period, cfg *trainer.ContestConfig) (string, error) {
	open := registry.Open
	if strings.Contains(f.challenger, "/") {
		open = models.Open
	}
	var m *models.Model
	var err error
	if cfg.Challenger, m, err = unseen(open, f.challenger, period); err != nil {
		return "", err
	}
	if !strings.Contains(f.challenger, "/") {
		return m.Manifest.ID, nil
	}
	files := map[string][]byte{}
	for _, file := range m.Manifest.Files {
		files[file.Name] = m.File(file.Name)
	}
	return m.Manifest.ID, registry.Write(m.Manifest, files)
}

// printVerdict says who decides from now on, and why.
func printVerdict(w io.Writer, id, champion string, v evaluation.Verdict) error {
	if v.Promote {
		fmt.Fprintf(w, "The champion is %s now.\n", id)
	} else {
		fmt.Fprintf(w, "Model %s was not promoted; ", id)
		if champion == "" {
			fmt.Fprintln(w, "there is no champion, and a planner decides.")
		} else {
			fmt.Fprintf(w, "the champion is still %s.\n", champion)
		}
	}
	for _, l := range v.Loads {
		fmt.Fprintf(w, "  %s load: %.2f h a start instead of %.2f h, on %d starts\n", l.Load, float64(l.Challenger), float64(l.Champion), l.Starts)
	}
	_, err := fmt.Fprintf(w, "Reason: %s.\n", v.Reason)
	return err
}
