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
)

// openModel reads the model that --model names, every byte of it: the folder, or
// for "default" the model that is part of the program.
func openModel(name string) (models.Manifest, *learned.Model, error) {
	m, err := openFiles(name)
	if err != nil {
		return models.Manifest{}, nil, err
	}
	model, err := learned.Read(m.File)
	if err != nil {
		return models.Manifest{}, nil, fmt.Errorf("--model %s: %w", name, err)
	}
	return m.Manifest, model, nil
}

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
	manifest, model, err := openModel(f.model)
	if err != nil {
		return nil, err
	}
	if _, err := model.Policy(f.policy); err != nil {
		return nil, fmt.Errorf("--policy: %w", err)
	}
	by := &provisioner.Trained{ID: manifest.ID, Model: model, Policy: f.policy}
	for _, pair := range manifest.Pairs {
		by.LongestLead = max(by.LongestLead, pair.Shape().Limit)
		by.Pairs = append(by.Pairs, pair.Shape())
	}
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
		return provisioner.Advise(now, cfg, monte, q)
	}
	network, err := by.Model.Policy(by.Policy)
	if err != nil {
		return segue.Decision{}, err
	}
	if network != nil && network.Spec.Kind == networks.Transformer {
		by.History = predictor.RecordedWindow(seen, now.Snapshot.At, f.scheduler.Nodes, f.user)
	}
	if by.Doubt, err = provisioner.Doubt(ctx, *by, seen, now.Snapshot.At, cfg, monte); err != nil {
		return segue.Decision{}, err
	}
	return provisioner.AdviseBy(*by, now, cfg, monte, q)
}

// decidedBy says who decided, for people.
func decidedBy(d segue.Decision) string {
	switch {
	case d.Model == "":
		return d.Policy
	case d.Forecast.Source == learned.Planner(d.Prefer).Forecaster:
		return fmt.Sprintf("%s, instead of model %s", d.Policy, d.Model)
	}
	return fmt.Sprintf("%s of model %s", d.Policy, d.Model)
}
