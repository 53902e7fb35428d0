package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/segue-project/segue"
)

// keyHeader names a write, so that it is done once however often it is asked for, and
// replayedHeader says that the answer is that of before.
const (
	keyHeader      = "Idempotency-Key"
	replayedHeader = "Idempotency-Replayed"
)

// maxKey is how long it may be.
const maxKey = 200

// maxAnswer is how much of an answer is kept: writes answer with little.
const maxAnswer = 64 << 10

// settling is how long noting what became of a write may take, after whoever
// asked has gone.
const settling = 5 * time.Second

// AuditLine is a line of the audit log.
type AuditLine struct {
	ID     string
	At     segue.Time
	User   string
	Via    string
	Action string
	Object string
	Status int // of HTTP; 0: begun, and nobody knows how it ended
	Detail string
}

// addWrite registers an operation that changes something: it leaves a line in the
// audit log, and with an Idempotency-Key it is done once.
func addWrite[I, O any](a *API, scope Scope, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	op.Description += "\n\nEvery call leaves a line in the audit log. With the header `" + keyHeader +
		"` it is done once: for a day the same key of the same user gets the same answer."
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: keyHeader, In: "header", Description: "A name of the caller's for this write, such as a UUID.",
		Schema: &huma.Schema{Type: "string", MinLength: new(1), MaxLength: new(maxKey)},
	})
	op.Errors = append(op.Errors, http.StatusConflict)
	op.Errors = append(op.Errors, ofBodies...) // a body counts under a key, whether it is asked for or not
	op.Middlewares = append(op.Middlewares, a.once, a.audited)
	add(a, scope, op, do)
}

// audited notes a write in the audit log before it is made, and afterwards how it
// ended. Without the first it is not made.
func (a *API) audited(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	caller, _ := callerOf(r.Context())
	line := AuditLine{
		ID: a.cfg.NewID(), At: a.cfg.Now(), User: caller.User, Via: caller.Via,
		Action: ctx.Operation().OperationID, Object: r.PathValue("id") + r.PathValue("cluster"),
	}
	if err := a.services.Auditor.Begin(r.Context(), line); err != nil {
		a.told(line.Action, err).write(w)
		return
	}
	rec := &recorder{ResponseWriter: w, keep: maxAnswer}
	next(humago.NewContext(ctx.Operation(), r, rec))
	end, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), settling)
	defer cancel()
	var p Problem
	if rec.code() >= http.StatusBadRequest {
		_ = json.Unmarshal(rec.body.Bytes(), &p) // one that is cut off has no detail
	}
	if err := a.services.Auditor.End(end, line.ID, rec.code(), p.Detail); err != nil {
		a.cfg.Log.Warn("audit log lacks how a write ended", "id", line.ID, "status", rec.code(), "error", err)
	}
}

type (
	auditInput struct {
		Page
	}
	auditOutput struct {
		Body struct {
			Lines []AuditAnswer `json:"lines"`
			Next  string        `json:"next,omitempty" doc:"Where the next page begins: its cursor. Missing on the last page."`
		}
	}
	// AuditAnswer is a line of the audit log.
	AuditAnswer struct {
		ID     string `json:"id"`
		At     string `json:"at" format:"date-time"`
		User   string `json:"user"`
		Via    string `json:"via" doc:"How the user was known: a token's ID, the socket, the command line."`
		Action string `json:"action" example:"pause-chain"`
		Object string `json:"object" example:"k3v9q2"`
		Status int    `json:"status" doc:"How it ended, as a status of HTTP; 0 where the server died meanwhile."`
		Detail string `json:"detail,omitempty"`
	}
)

func (a *API) listAudit(ctx context.Context, in *auditInput) (*auditOutput, error) {
	before, id, err := in.cursor()
	if err != nil {
		return nil, err
	}
	lines, err := a.services.Auditor.Lines(ctx, before, id, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &auditOutput{}
	out.Body.Lines = []AuditAnswer{}
	for _, l := range lines {
		out.Body.Lines = append(out.Body.Lines, AuditAnswer{l.ID, l.At.String(), l.User, l.Via, l.Action, l.Object, l.Status, l.Detail})
	}
	if n := len(lines); n == in.Limit {
		out.Body.Next = cursorOf(lines[n-1].At, lines[n-1].ID)
	}
	return out, nil
}
