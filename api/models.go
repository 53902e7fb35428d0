package api

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/segue-project/segue"
)

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
	Champion    bool               `json:"champion" doc:"Whether promotions have chosen it, also where its state is damaged."`
	Reason      string             `json:"reason,omitempty" doc:"Why it was last promoted, rolled back to or kept."`
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

// Promotion is what came of promoting a model or rolling back.
type Promotion struct {
	Champion string `json:"champion" doc:"The model that promotions have chosen by now."`
	Decides  string `json:"decides,omitempty" doc:"The model that this server asks by now. It is another one than the champion where the configuration names it, and missing where a planner decides."`
}

// maxID is how long the name of a model may be that is asked for.
const maxID = 200

type (
	promoteInput struct {
		ID   string `path:"id" maxLength:"200" example:"20261130-023000"`
		Body PromoteRequest
	}
	rollbackInput struct {
		Body RollbackRequest
	}
	promotionOutput struct{ Body Promotion }
)

// PromoteRequest says why a model is to be promoted.
type PromoteRequest struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500" doc:"Why, in one line. The log of the models keeps it, with the name of the caller." example:"it costs 0.4 h a start less in February"`
}

// RollbackRequest says from which model one rolls back, and why.
type RollbackRequest struct {
	Expected string `json:"expected" minLength:"1" maxLength:"200" doc:"The champion that is rolled back from: where it is another one by now, nothing is done." example:"20261130-023000"`
	Reason   string `json:"reason" minLength:"1" maxLength:"500" doc:"Why, in one line. The log of the models keeps it, with the name of the caller." example:"it submits too late since Monday"`
}

// reasonOf returns a reason with whose it is, or what is wrong with it.
func reasonOf(ctx context.Context, reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if reason == "" || strings.ContainsFunc(reason, func(r rune) bool { return !unicode.IsPrint(r) }) {
		p := sorts[segue.Invalid].problem("the reason is no line of text: say why, in one line")
		p.Errors = []Detail{{Location: "body.reason", Message: "want one line of printable text"}}
		return "", p
	}
	caller, _ := callerOf(ctx)
	return reason + " (" + caller.User + ", over REST)", nil
}

func promoteOperation() huma.Operation {
	op := operation("promote-model", "POST", "/v1/models/{id}/promote", "models", "Make a model the champion, the one that decides")
	op.Description = "Every byte of the model is compared with its checksum before. This server follows at once, others within seconds; one whose " +
		"configuration names a model follows nobody, and goes on asking that. Of a model that is damaged, or the champion already, 409 is answered."
	return op
}

func (a *API) promoteModel(ctx context.Context, in *promoteInput) (*promotionOutput, error) {
	reason, err := reasonOf(ctx, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	done, err := a.services.Models.Promote(ctx, in.ID, reason)
	if err != nil {
		return nil, err
	}
	return &promotionOutput{done}, nil
}

// RollbackPath is where somebody rolls back: it names no model.
const RollbackPath = "/v1/models/rollback"

func rollbackOperation() huma.Operation {
	op := operation("roll-back-model", "POST", RollbackPath, "models", "Make the champion before the present one the champion again")
	op.Description = "Twice goes back two promotions: so the champion is named that is rolled back from. Where it is another one by now, or the one " +
		"before it is damaged, 409 is answered."
	op.Errors = []int{http.StatusNotFound}
	op.Middlewares = huma.Middlewares{aboutExpected}
	return op
}

func (a *API) rollBackModel(ctx context.Context, in *rollbackInput) (*promotionOutput, error) {
	reason, err := reasonOf(ctx, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	done, err := a.services.Models.RollBack(ctx, in.Body.Expected, reason)
	if err != nil {
		return nil, err
	}
	return &promotionOutput{done}, nil
}

// aboutExpected makes the champion that a rollback names what the request is about, as
// the ID in a path is: the audit log has it before the body is looked at.
func aboutExpected(ctx huma.Context, next func(huma.Context)) {
	r, _ := humago.Unwrap(ctx)
	text, err := io.ReadAll(r.Body)
	var body struct {
		Expected string `json:"expected"`
	}
	if json.Unmarshal(text, &body) == nil && len(body.Expected) <= maxID {
		r.SetPathValue("id", body.Expected)
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text), brokenOff{err}))
	next(ctx)
}

// brokenOff is the end of a body that was read: the error that ended it, or none.
type brokenOff struct{ err error }

// Read implements io.Reader.
func (b brokenOff) Read([]byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	return 0, io.EOF
}
