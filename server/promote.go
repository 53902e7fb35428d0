package server

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/models"
)

// promote makes a model the champion, and the server follow. A model that is damaged, or
// that this program cannot ask, is a conflict: it is left as it is.
func (s *Server) promote(id, reason string) (api.Promotion, error) {
	r, err := s.models.registry()
	if err != nil {
		return api.Promotion{}, err
	}
	if err := askable(r, id); err != nil {
		return api.Promotion{}, fmt.Errorf("promote %w", err)
	}
	if err := r.Promote(id, reason); err != nil {
		return api.Promotion{}, err
	}
	return s.promoted(id)
}

// rollBack makes the champion before the expected one the champion again, and the server
// follow. Where the champion is another one by now it is a conflict.
func (s *Server) rollBack(expected, reason string) (api.Promotion, error) {
	r, err := s.models.registry()
	if err != nil {
		return api.Promotion{}, err
	}
	id, err := r.Former(expected)
	if err == nil {
		err = askable(r, id)
	}
	if err != nil {
		return api.Promotion{}, fmt.Errorf("roll back: %w", err)
	}
	if id, err = r.RollbackFrom(expected, reason); err != nil {
		return api.Promotion{}, err
	}
	return s.promoted(id)
}

// promoted follows the champion.
func (s *Server) promoted(id string) (api.Promotion, error) {
	if err := s.FollowChampion(); err != nil {
		return api.Promotion{}, fmt.Errorf("%s is the champion, and the model before it goes on deciding: %w", id, err)
	}
	return api.Promotion{Champion: id, Decides: s.models.decides()}, nil
}

// askable refuses a model that could not decide: of kind Conflict where it is there and
// of no use.
func askable(r *models.Registry, id string) error {
	m, err := r.Open(id)
	switch {
	case segue.KindOf(err) == segue.Corrupt:
		return segue.Errorf(segue.Conflict, "%w", err)
	case err != nil:
		return err
	}
	if _, err := trainedOf(m); err != nil {
		return segue.Errorf(segue.Conflict, "model %s cannot be asked: %w", id, err)
	}
	return nil
}

// servedModels are the models of a server, for the interface.
type servedModels struct{ *Server }

// Models implements api.Models.
func (m servedModels) Models(context.Context) ([]api.Model, error) { return m.models.list() }

// Promote implements api.Models.
func (m servedModels) Promote(_ context.Context, id, reason string) (api.Promotion, error) {
	return m.promote(id, reason)
}

// RollBack implements api.Models.
func (m servedModels) RollBack(_ context.Context, expected, reason string) (api.Promotion, error) {
	return m.rollBack(expected, reason)
}
