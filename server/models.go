package server

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/provisioner"
)

// OpenModel reads a trained model, every byte of it: the folder of that name, or
// for "default" the model that is part of the program. An empty name is no model.
func OpenModel(name string) (*provisioner.Trained, error) {
	if name == "" {
		return nil, nil
	}
	open := models.Open
	if name == models.DefaultName {
		open = func(string) (*models.Model, error) { return models.Default() }
	}
	m, err := open(name)
	if err != nil {
		return nil, err
	}
	model, err := learned.Read(m.File)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	by := &provisioner.Trained{ID: m.Manifest.ID, Model: model}
	for _, pair := range m.Manifest.Pairs {
		by.LongestLead = max(by.LongestLead, pair.Shape().Limit)
		by.Pairs = append(by.Pairs, pair.Shape())
	}
	return by, nil
}

// catalogue are the models of a folder.
type catalogue struct {
	dir   string // empty for none
	now   func() segue.Time
	inUse atomic.Pointer[provisioner.Trained]
}

func (c *catalogue) use(m *provisioner.Trained) { c.inUse.Store(m) }

// decides returns the ID of the model that decides, empty for a planner.
func (c *catalogue) decides() string {
	if m := c.inUse.Load(); m != nil {
		return m.ID
	}
	return ""
}

// Models implements api.Models.
func (c *catalogue) Models(context.Context) ([]api.Model, error) {
	used := c.inUse.Load()
	var all []api.Model
	if c.dir != "" {
		entries, err := models.NewRegistry(c.dir, c.now).List()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			all = append(all, modelOf(e, used))
		}
	}
	for _, m := range all {
		if m.InUse {
			return all, nil
		}
	}
	if used != nil { // from elsewhere
		all = append(all, api.Model{ID: used.ID, State: "in use", Policies: []string{}, InUse: true})
	}
	return all, nil
}

func modelOf(e models.Entry, used *provisioner.Trained) api.Model {
	out := api.Model{ID: e.ID, Policies: []string{}, InUse: used != nil && used.ID == e.ID}
	switch {
	case e.Err != nil:
		out.State, out.Error = "damaged", e.Err.Error()
		return out
	case e.Champion:
		out.State = "champion"
	case e.Last == nil:
		out.State = "new"
	case e.Last.Action == models.Kept:
		out.State = "kept"
	default:
		out.State = "former champion"
	}
	m := e.Manifest
	out.Created, out.TrainedFrom, out.TrainedTo = m.Created.String(), m.Window.From.String(), m.Window.Until.String()
	out.Nodes, out.Metrics, out.Parent = m.Cluster.Nodes, m.Metrics, m.Parent
	for _, p := range m.Policies {
		out.Policies = append(out.Policies, p.Name)
	}
	return out
}
