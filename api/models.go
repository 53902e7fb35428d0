package api

import "context"

// Model is a trained model.
type Model struct {
	ID          string             `json:"id"`
	State       string             `json:"state" doc:"champion, former champion, kept, new or damaged; in use for the one that this server asks."`
	Error       string             `json:"error,omitempty" doc:"Why it cannot be used."`
	Created     string             `json:"created,omitempty" format:"date-time"`
	TrainedFrom string             `json:"trained_from,omitempty" format:"date-time"`
	TrainedTo   string             `json:"trained_until,omitempty" format:"date-time"`
	Nodes       int                `json:"nodes,omitempty" doc:"Of the cluster that it was trained for."`
	Policies    []string           `json:"policies"`
	Metrics     map[string]float64 `json:"metrics,omitempty"`
	Parent      string             `json:"parent,omitempty"`
	InUse       bool               `json:"in_use" doc:"Whether this server asks it."`
}

type modelsOutput struct {
	Body struct {
		Models []Model `json:"models"`
	}
}

func (a *API) listModels(ctx context.Context, _ *noInput) (*modelsOutput, error) {
	all, err := a.services.Models.Models(ctx)
	if err != nil {
		return nil, err
	}
	out := &modelsOutput{}
	out.Body.Models = append([]Model{}, all...)
	return out, nil
}
