package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer/nightly"
)

func newTrainCommand() *cobra.Command {
	var where chainStore
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train a model on the history in the store, and look at trainings",
		Long: `Train makes a model from the history that the store holds of a cluster, lets it
compete with the one that decides on the end of that history, which neither has
seen, and makes it the champion if it is better. The work is segue-trainer's, a
program of its own. 'segue serve' trains by itself, on a schedule.`,
	}
	where.add(cmd.PersistentFlags())
	cmd.AddCommand(newTrainNowCommand(&where), newTrainStatusCommand(&where), newTrainLogsCommand(&where))
	return cmd
}

// trainNowFlags are the flags of segue train now.
type trainNowFlags struct {
	where   *chainStore
	models  modelsFlags
	cfg     nightly.Config
	trainer string
	collect bool
}

func newTrainNowCommand(where *chainStore) *cobra.Command {
	f := trainNowFlags{where: where}
	cmd := &cobra.Command{
		Use:         "now [-- TRAINING FLAGS]",
		Annotations: map[string]string{cli.Patience: "30s"}, // its trainer may take ten to end
		Short:       "Train a model now",
		Long: `Now trains a model and says what came of it. Of a cluster one training runs at a
time, whoever starts it. Flags of 'segue-trainer train' come after --.`,
		Example: `  segue train now --cluster lonestar6 --nodes 76 -- --policies moe-dqn
  segue train now --trainer "srun --partition=gpu segue-trainer"   # as a job`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.cfg.TrainArgs = args
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.cfg.Cluster, "cluster", "", "the cluster, by its name in the store (default the only one there)")
	flags.IntVar(&f.cfg.Nodes, "nodes", 0, "nodes of the cluster (default the most that a snapshot of the last 30 days has seen in service)")
	flags.StringVar(&f.models.dir, "models", "", "folder of the models (default as for 'segue models')")
	flags.StringVar(&f.cfg.Dir, "runs", "", "folder for the logs and reports of trainings (default one of one's own)")
	flags.StringVar(&f.trainer, "trainer", "segue-trainer", "the command that trains, with what comes before it")
	flags.StringSliceVar(&f.cfg.Args, "common", nil, "flags of both 'segue-trainer train' and 'promote', as in --common=--pairs=1,--backfill=easy")
	spanVar(flags, &f.cfg.Back, "back", 180*24*time.Hour, "how much of the history is used")
	spanVar(flags, &f.cfg.Judge, "judge", 21*24*time.Hour, "its end, on which models compete and which training does not see; less than 16 days promote no model")
	spanVar(flags, &f.cfg.TimeLimit, "time-limit", 8*time.Hour, "end the training when it takes longer")
	flags.BoolVar(&f.collect, "collect", true, "ask Slurm's accounting for what is new first, where there is one")
	return cmd
}

func (f *trainNowFlags) run(cmd *cobra.Command) error {
	return f.where.with(cmd.Context(), func(s *store.Store) error {
		if err := f.complete(cmd, s); err != nil {
			return err
		}
		n, err := nightly.New(s, f.cfg)
		if err != nil {
			return err
		}
		var t store.Training
		err = audited(cmd.Context(), s, "train-model", f.cfg.Cluster, func() (err error) {
			t, err = n.Now(cmd.Context())
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), sentence(t))
		return nil
	})
}

// complete fills in what was not said.
func (f *trainNowFlags) complete(cmd *cobra.Command, s *store.Store) (err error) {
	if f.cfg.Cluster == "" {
		if f.cfg.Cluster, err = onlyCluster(cmd.Context(), s, "--cluster"); err != nil {
			return err
		}
	}
	if f.cfg.Models, err = f.models.folder(); err != nil {
		return err
	}
	if f.cfg.Dir == "" {
		f.cfg.Dir = filepath.Join(stateDir(), "trainings")
	}
	if f.cfg.Trainer = strings.Fields(f.trainer); len(f.cfg.Trainer) == 0 {
		return segue.Errorf(segue.Invalid, "--trainer is empty")
	}
	f.cfg.Holder = holder()
	f.cfg.Now = func() segue.Time { return segue.TimeOf(time.Now()) }
	f.cfg.Log = slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	if f.collect {
		f.cfg.Collect = func(ctx context.Context) error {
			return provisioner.CatchUp(ctx, s, slurm.New(slurm.Config{}), f.cfg.Cluster, f.cfg.Now(), provisioner.HistoryConfig{}, func(provisioner.Collected) {})
		}
	}
	return nil
}

// onlyCluster returns the cluster of which the store holds a history. setting is what
// names one otherwise.
func onlyCluster(ctx context.Context, s *store.Store, setting string) (string, error) {
	all, err := s.Histories(ctx)
	if err != nil {
		return "", err
	}
	var names []string
	for _, h := range all {
		names = append(names, h.Cluster)
	}
	switch len(names) {
	case 0:
		return "", segue.Errorf(segue.NotFound, "the store holds no history; `segue history collect` or `import` brings one")
	case 1:
		return names[0], nil
	}
	return "", segue.Errorf(segue.Invalid, "%s is missing: the store holds the histories of %s", setting, strings.Join(names, ", "))
}

func sentence(t store.Training) string {
	switch t.State {
	case store.TrainingPromoted:
		return fmt.Sprintf("Model %s decides now. %s", t.Model, t.Why)
	case store.TrainingKept:
		return fmt.Sprintf("Model %s is trained, and does not decide. %s", t.Model, t.Why)
	}
	return fmt.Sprintf("Training %s: %s. %s", t.ID, t.State, t.Why)
}

func newTrainStatusCommand(where *chainStore) *cobra.Command {
	var cluster string
	var most int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the latest trainings and what came of them",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 1 {
				return segue.Errorf(segue.Invalid, "--last %d: want at least 1", most)
			}
			return where.with(cmd.Context(), func(s *store.Store) error {
				all, err := s.Trainings(cmd.Context(), cluster, most)
				if err != nil {
					return err
				}
				return printTrainings(cmd.OutOrStdout(), all, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "only of this cluster")
	cmd.Flags().IntVar(&most, "last", 10, "how many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

func printTrainings(out io.Writer, all []store.Training, asJSON bool) error {
	if asJSON {
		for _, t := range all {
			if err := json.NewEncoder(out).Encode(trainingObjectOf(t)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(out, "There was no training.")
		return nil
	}
	t := newTraceTable(out, "Trainings, the latest first")
	t.AppendHeader(table.Row{"training", "cluster", "cause", "state", "step", "took", "why"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 7, WidthMax: 60, WidthMaxEnforcer: text.WrapSoft}})
	for _, x := range all {
		took := "-"
		if x.Ended.Known() {
			took = inWords(x.Ended.Sub(x.Started))
		}
		t.AppendRow(table.Row{x.ID, x.Cluster, x.Cause, x.State, x.Step, took, safe(x.Why)})
	}
	t.Render()
	return nil
}

// trainingObject is the JSON of a training.
type trainingObject struct {
	ID        string  `json:"id"`
	Cluster   string  `json:"cluster"`
	Cause     string  `json:"cause"`
	Scheduled *string `json:"scheduled"`
	Started   *string `json:"started"`
	Ended     *string `json:"ended"`
	State     string  `json:"state"`
	Step      string  `json:"step"`
	Why       string  `json:"why"`
	Model     string  `json:"model"`
	Folder    string  `json:"folder"`
}

func trainingObjectOf(t store.Training) trainingObject {
	return trainingObject{
		t.ID, t.Cluster, t.Cause, known(t.Scheduled), known(t.Started), known(t.Ended), string(t.State), t.Step, t.Why, t.Model, t.Folder,
	}
}

func newTrainLogsCommand(where *chainStore) *cobra.Command {
	return &cobra.Command{
		Use:   "logs [TRAINING]",
		Short: "Print the log of a training, by default the latest",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return where.with(cmd.Context(), func(s *store.Store) error {
				const all = 1000
				trainings, err := s.Trainings(cmd.Context(), "", all)
				if err != nil {
					return err
				}
				for _, t := range trainings {
					if len(args) == 1 && t.ID != args[0] || len(args) == 0 && t.State == store.TrainingSkipped {
						continue
					}
					return printLog(cmd.OutOrStdout(), t)
				}
				return segue.Errorf(segue.NotFound, "there is no such training; `segue train status` lists them")
			})
		},
	}
}

func printLog(out io.Writer, t store.Training) error {
	log, err := os.Open(filepath.Join(t.Folder, "log"))
	if err != nil {
		return segue.Errorf(segue.NotFound, "the log of training %s: %w", t.ID, err)
	}
	defer log.Close()
	_, err = io.Copy(out, log)
	return err
}
