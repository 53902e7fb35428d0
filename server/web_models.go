package server

import (
	"context"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/web"
)

// webModels are the models of a server's folder, for the pages.
type webModels struct{ *dashboard }

// Models implements web.Models.
func (m webModels) Models(context.Context) ([]web.Model, error) {
	entries, err := m.server.models.entries()
	if err != nil {
		return nil, err
	}
	used := m.server.models.inUse.Load()
	var all []web.Model
	found := false
	for _, e := range entries {
		shown := modelToShow(e, modelOf(e, used).State)
		shown.InUse = used != nil && used.ID == e.ID
		found = found || shown.InUse
		all = append(all, shown)
	}
	if used != nil && !found { // from elsewhere
		all = append(all, web.Model{ID: used.ID, State: "from elsewhere", Created: segue.NoTime, From: segue.NoTime, Until: segue.NoTime, InUse: true})
	}
	return all, nil
}

func modelToShow(e models.Entry, state string) web.Model {
	out := web.Model{ID: e.ID, State: state, Champion: e.Champion, Created: segue.NoTime, From: segue.NoTime, Until: segue.NoTime}
	if e.Last != nil {
		out.Reason = e.Last.Reason
	}
	if e.Err != nil {
		out.Error = e.Err.Error()
		return out
	}
	m := e.Manifest
	out.Created, out.From, out.Until = m.Created.Time(), m.Window.From.Time(), m.Window.Until.Time()
	out.Jobs, out.Nodes, out.Parent, out.Metrics = m.Trace.Jobs, m.Cluster.Nodes, m.Parent, m.Metrics
	for _, p := range m.Policies {
		out.Policies = append(out.Policies, p.Name)
	}
	return out
}

// Promote implements web.Models.
func (m webModels) Promote(ctx context.Context, by web.Viewer, id, reason string) error {
	return m.audited(ctx, by, "promote-model", id, func() error {
		_, err := m.server.promote(id, reason)
		return err
	})
}

// Rollback implements web.Models.
func (m webModels) Rollback(ctx context.Context, by web.Viewer, expected, reason string) (id string, err error) {
	err = m.audited(ctx, by, "roll-back-model", expected, func() error {
		done, err := m.server.rollBack(expected, reason)
		id = done.Champion
		return err
	})
	return id, err
}
