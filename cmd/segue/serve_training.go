package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
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

// train trains on the schedule of the configuration, if there is one, until ctx
// ends.
func train(ctx context.Context, s *store.Store, srv *server.Server, c config.Config, log *slog.Logger) {
	if c.Training.Schedule == "" {
		return
	}
	const patience = time.Minute
	for {
		n, err := trainings(ctx, s, srv, c, log)
		if err == nil {
			_ = n.Run(ctx) // which ends with ctx only
			return
		}
		log.Warn("nothing is trained", "error", err)
		if schedulers.Sleep(ctx, patience) != nil {
			return
		}
	}
}

// trainings wires what trains.
func trainings(ctx context.Context, s *store.Store, srv *server.Server, c config.Config, log *slog.Logger) (*nightly.Nightly, error) {
	t := c.Training
	zone, err := time.LoadLocation(t.TimeZone)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "training.time_zone: %w", err)
	}
	driver, _, err := driverOf(c.Cluster)
	if err != nil {
		return nil, err
	}
	if t.Cluster == "" {
		if t.Cluster, err = clusterOf(ctx, s, driver); err != nil {
			return nil, err
		}
	}
	if t.Mail.Server == "" {
		t.Mail.Server = "localhost:25"
	}
	now := func() segue.Time { return segue.TimeOf(time.Now()) }
	cfg := nightly.Config{
		Cluster: t.Cluster, Nodes: t.Nodes, Schedule: t.Schedule, Zone: zone, Jitter: t.Jitter.Std(), Back: t.Back.Std(), Judge: t.Judge.Std(),
		Trainer: t.Command, Args: t.Arguments, TrainArgs: t.TrainArguments, Dir: filepath.Join(c.Data, "trainings"), Models: modelsOf(c),
		Keep: t.Keep, TimeLimit: t.TimeLimit.Std(), MinFree: int64(t.MinFree),
		Holder: holder(), Now: now, Log: log,
		Alert: nightly.Alerts{Webhook: t.Webhook, Relay: t.Mail.Server, From: t.Mail.From, To: t.Mail.To}.Tell,
		Ended: func(t store.Training) {
			if t.State != store.TrainingPromoted {
				return
			}
			if err := srv.FollowChampion(); err != nil {
				log.Error("the model before it goes on deciding", "error", err)
			}
		},
	}
	if historian, ok := driver.(schedulers.Historian); ok {
		cfg.Collect = func(ctx context.Context) error {
			return provisioner.CatchUp(ctx, s, historian, t.Cluster, now(), provisioner.HistoryConfig{}, func(provisioner.Collected) {})
		}
	}
	return nightly.New(s, cfg)
}

// clusterOf returns the name of the history that is trained on: the scheduler's, or
// the only one that the store holds.
func clusterOf(ctx context.Context, s *store.Store, driver schedulers.Driver) (string, error) {
	if driver == nil {
		return onlyCluster(ctx, s)
	}
	caps, err := driver.Capabilities(ctx)
	if err != nil {
		return "", err
	}
	return caps.Cluster, nil
}
