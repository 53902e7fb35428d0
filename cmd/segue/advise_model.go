package main

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/server"
)

// openFiles opens the model that --model names: the folder, or for "default" the
// model that is part of the program.
func openFiles(name string) (*models.Model, error) {
	if name == models.DefaultName {
		return models.Default()
	}
	return models.Open(name)
}

// trained reads the model that was asked for, nil when none was.
func (f *adviseFlags) trained() (*provisioner.Trained, error) {
	if f.model == "" {
		if f.policy != "" {
			return nil, segue.Errorf(segue.Invalid, "--policy %q is one of a model: name that with --model", f.policy)
		}
		return nil, nil
	}
	by, err := server.OpenModel(f.model)
	if err != nil {
		return nil, err
	}
	if _, err := by.Model.Policy(f.policy); err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	by.Policy = f.policy
	return by, nil
}

// advise asks the model, or the planner when there is none.
func (f *adviseFlags) advise(ctx context.Context, by *provisioner.Trained, seen []segue.Job, now predictor.Present, q provisioner.Question) (segue.Decision, error) {
	cfg, err := f.scheduler.Config()
	if err != nil {
		return segue.Decision{}, err
	}
	monte := predictor.MonteCarloConfig{Replicas: f.replicas, Seed: f.seed}
	if by == nil {
		planner := provisioner.Trained{Pairs: []segue.Shape{q.Request.Shape}}
		past, err := provisioner.LookBack(ctx, planner, seen, now.Snapshot.At, cfg, monte)
		if err != nil {
			return segue.Decision{}, err
		}
		return provisioner.Advise(past, now, cfg, monte, q)
	}
	network, err := by.Model.Policy(by.Policy)
	if err != nil {
		return segue.Decision{}, err
	}
	if network != nil && network.Spec.Kind == networks.Transformer {
		by.History = predictor.RecordedWindow(seen, now.Snapshot.At, f.scheduler.Nodes, f.user)
	}
	if by.Hindsight, err = provisioner.LookBack(ctx, *by, seen, now.Snapshot.At, cfg, monte); err != nil {
		return segue.Decision{}, err
	}
	return provisioner.AdviseBy(*by, now, cfg, monte, q)
}

// decidedBy says who decided, for people.
func decidedBy(d segue.Decision) string {
	switch {
	case d.Model == "":
		return d.Policy
	case d.Policy == learned.Planner(d.Prefer).Name:
		return fmt.Sprintf("%s, instead of model %s", d.Policy, d.Model)
	}
	return fmt.Sprintf("%s of model %s", d.Policy, d.Model)
}
