package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/config"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer/nightly"
)

// champion is the name of the model that trainings have made the one that decides.
const champion = "champion"

// modelOf returns the model that is to decide, nil for a planner: with "champion"
// that of the folder of models, once there is one.
func modelOf(c config.Config) (*provisioner.Trained, error) {
	if c.Model != champion {
		return server.OpenModel(c.Model)
	}
	dir := modelsOf(c)
	id, err := models.NewRegistry(dir, func() segue.Time { return segue.TimeOf(time.Now()) }).Champion()
	if segue.KindOf(err) == segue.NotFound || err == nil && id == "" {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return server.OpenModel(filepath.Join(dir, id))
}

// modelAtStart returns the model that is to decide at the start. A champion that
// cannot be read keeps no server from starting: chains go on, a planner decides, and
// the champion does as soon as it is whole. A model that is named is meant.
func modelAtStart(c config.Config, log *slog.Logger) (*provisioner.Trained, error) {
	model, err := modelOf(c)
	if err != nil && c.Model == champion {
		log.Error("a planner decides until the champion can be read", "error", err, "models", modelsOf(c))
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return model, nil
}

// modelsOf returns the folder of the models.
func modelsOf(c config.Config) string { return cmp.Or(c.Models, filepath.Join(c.Data, "models")) }

// scheduledTraining trains on the schedule of a configuration.
type scheduledTraining struct {
	store  *store.Store
	server *server.Server
	about  *server.Training // what is told of it; nil where nothing is trained
	config config.Config
	log    *slog.Logger
}

// run trains until ctx ends. While something is missing it looks again each minute.
func (t *scheduledTraining) run(ctx context.Context) {
	if t.about == nil {
		return
	}
	unable, err := nightly.NewUnable(t.store, t.settings())
	if err != nil { // the schedule is checked
		t.log.Error("nothing is trained", "error", err)
		return
	}
	const patience = time.Minute
	said := ""
	for {
		n, err := t.ready(ctx)
		if err == nil {
			t.about.Lacks("")
			_ = n.Run(ctx) // which ends with ctx only
			return
		}
		t.about.Lacks(inAWord(err))
		if said != err.Error() {
			t.log.Error("no training can begin", "error", err)
		}
		said = err.Error()
		if err := unable.RunOnce(ctx, err); err != nil && ctx.Err() == nil {
			t.log.Warn("that no training could begin is not told to all", "error", err)
		}
		if schedulers.Sleep(ctx, patience) != nil {
			return
		}
	}
}

// missing is what keeps trainings from beginning, in a word or two that anybody may
// read, and why.
type missing struct {
	what string
	error
}

// Unwrap returns why.
func (m missing) Unwrap() error { return m.error }

func inAWord(err error) string {
	if m, ok := errors.AsType[missing](err); ok {
		return m.what
	}
	return "the log says why"
}

// ready returns what trains, once all is there that it needs.
func (t *scheduledTraining) ready(ctx context.Context) (*nightly.Nightly, error) {
	cfg := t.settings()
	driver, _, err := driverOf(t.config.Cluster)
	if err != nil {
		return nil, err
	}
	if cfg.Cluster == "" {
		if cfg.Cluster, err = clusterOf(ctx, t.store, driver); err != nil {
			return nil, err
		}
	}
	if _, err := exec.LookPath(cfg.Trainer[0]); err != nil {
		return nil, missing{
			"its program is not found",
			fmt.Errorf("training.command: %w: segue-trainer is a program of its own (`make trainer` builds it)", err),
		}
	}
	if historian, ok := driver.(schedulers.Historian); ok {
		cfg.Collect = func(ctx context.Context) error {
			return provisioner.CatchUp(ctx, t.store, historian, cfg.Cluster, cfg.Now(), provisioner.HistoryConfig{}, func(provisioner.Collected) {})
		}
	}
	return nightly.New(t.store, cfg)
}

// settings returns what the configuration says.
func (t *scheduledTraining) settings() nightly.Config {
	c := t.config.Training
	zone, err := time.LoadLocation(c.TimeZone)
	if err != nil { // it is checked
		zone = time.UTC
	}
	command := c.Command
	if len(command) == 0 {
		command = []string{"segue-trainer"}
	}
	return nightly.Config{
		Cluster: c.Cluster, Nodes: c.Nodes, Schedule: c.Schedule, Zone: zone, Jitter: c.Jitter.Std(), Back: c.Back.Std(), Judge: c.Judge.Std(),
		Trainer: command, Args: c.Arguments, TrainArgs: c.TrainArguments, Dir: filepath.Join(t.config.Data, "trainings"), Models: modelsOf(t.config),
		Keep: c.Keep, TimeLimit: c.TimeLimit.Std(), MinFree: int64(c.MinFree),
		Holder: holder(), Now: func() segue.Time { return segue.TimeOf(time.Now()) }, Log: t.log,
		Alert: nightly.Alerts{Webhook: c.Webhook, Relay: cmp.Or(c.Mail.Server, "localhost:25"), From: c.Mail.From, To: c.Mail.To}.Tell,
		Ended: t.ended,
	}
}

// ended takes note of a training.
func (t *scheduledTraining) ended(done store.Training) {
	t.about.Ended(done.State)
	if done.State != store.TrainingPromoted {
		return
	}
	if err := t.server.FollowChampion(); err != nil {
		t.log.Error("the model before it goes on deciding", "error", err)
	}
}

// clusterOf returns the name of the history that is trained on: the scheduler's, or
// the only one that the store holds.
func clusterOf(ctx context.Context, s *store.Store, driver schedulers.Driver) (string, error) {
	if driver == nil {
		name, err := onlyCluster(ctx, s, "training.cluster")
		switch segue.KindOf(err) {
		case segue.NotFound:
			err = missing{"there is no history", err}
		case segue.Invalid:
			err = missing{"training.cluster is not set", err}
		}
		return name, err
	}
	caps, err := driver.Capabilities(ctx)
	if err != nil {
		return "", missing{"the scheduler does not answer", err}
	}
	return caps.Cluster, nil
}
