package server

import (
	"fmt"
	"slices"
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
	by, err := trainedOf(m)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", name, err)
	}
	return by, nil
}

// trainedOf returns a model that was read as one that can be asked.
func trainedOf(m *models.Model) (*provisioner.Trained, error) {
	model, err := learned.Read(m.File)
	if err != nil {
		return nil, err
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

// registry returns the folder, of kind NotFound where there is none.
func (c *catalogue) registry() (*models.Registry, error) {
	if c.dir == "" {
		return nil, segue.Errorf(segue.NotFound, "this server has no folder of models")
	}
	return models.NewRegistry(c.dir, c.now), nil
}

// list returns the models of the folder, and those that are not there and should be: the
// champion, and the one that decides.
func (c *catalogue) list() ([]api.Model, error) {
	entries, err := c.entries()
	if err != nil {
		return nil, err
	}
	used := c.inUse.Load()
	var all []api.Model
	for _, e := range entries {
		all = append(all, modelOf(e, used))
	}
	if used == nil || slices.ContainsFunc(all, func(m api.Model) bool { return m.InUse }) {
		return all, nil
	}
	return append(all, api.Model{ID: used.ID, State: "in use", Policies: []string{}, InUse: true}), nil // from elsewhere
}

// entries returns the models of the folder, and the champion where it is gone.
func (c *catalogue) entries() ([]models.Entry, error) {
	if c.dir == "" {
		return nil, nil
	}
	r := models.NewRegistry(c.dir, c.now)
	all, err := r.List()
	if err != nil {
		return nil, err
	}
	champion, err := r.Champion()
	if err != nil && segue.KindOf(err) != segue.NotFound {
		return nil, err
	}
	if champion != "" && !slices.ContainsFunc(all, func(e models.Entry) bool { return e.ID == champion }) {
		all = append(all, models.Entry{ID: champion, Champion: true, Err: segue.Errorf(segue.NotFound, "its folder is gone")})
	}
	return all, nil
}

func modelOf(e models.Entry, used *provisioner.Trained) api.Model {
	out := api.Model{ID: e.ID, Policies: []string{}, Champion: e.Champion, InUse: used != nil && used.ID == e.ID}
	if e.Last != nil {
		out.Reason = e.Last.Reason
	}
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
