package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/segue-project/segue"
)

// t0 is when the tests begin.
var t0 = segue.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

// house is a house in memory.
type house struct {
	mu     sync.Mutex
	now    segue.Time
	chains []segue.Chain
	first  []segue.Link // of the chains that were handed over
	// meanwhile is called before a chain is handed over.
	meanwhile func(segue.Chain)
	refuse    error // of chains that are handed over
	more      int   // links that a chain has beside its first one
	asked     []Question
	advise    func(context.Context, Question) (Advice, error)
	imports   []string // what came in
	// promotions are what was promoted and rolled back.
	promotions []string
	tokens     map[string]Token
	audit      []AuditLine
	answers    map[string]Answer
	checks     []Check
	broken     error // of every service but the tokens
	deaf       error // of who keeps answers
	away       error // of the tokens
	feed       *Feed
	ids        int
}

// Secrets of the tests.
const (
	adaReads   = "segue_ada_reads"
	adaWrites  = "segue_ada_writes"
	bobWrites  = "segue_bob_writes"
	adaSubmits = "segue_ada_submits"
	operates   = "segue_op"
	expired    = "segue_expired"
	revoked    = "segue_revoked"
	scopeless  = "segue_scopeless"
	unheardOf  = "segue_unheard_of"
	theirChain = "bob1"
	ownChain   = "ada1"
)

func newHouse() *house {
	h := &house{now: t0, answers: map[string]Answer{}, feed: NewFeed(), tokens: map[string]Token{}}
	for secret, token := range map[string]Token{
		adaReads:   {ID: "t1", User: "ada", Scopes: []Scope{ScopeRead}},
		adaWrites:  {ID: "t2", User: "ada", Scopes: []Scope{ScopeChains}},
		bobWrites:  {ID: "t3", User: "bob", Scopes: []Scope{ScopeChains}},
		adaSubmits: {ID: "t8", User: "ada", Scopes: []Scope{ScopeSubmit}},
		operates:   {ID: "t4", User: "olga", Scopes: []Scope{ScopeOperator}},
		expired:    {ID: "t5", User: "ada", Scopes: []Scope{ScopeOperator}, Expires: t0},
		revoked:    {ID: "t6", User: "ada", Scopes: []Scope{ScopeOperator}, Revoked: true},
		scopeless:  {ID: "t7", User: "ada"},
	} {
		if token.Expires == 0 {
			token.Expires = segue.NoTime
		}
		h.tokens[HashOf(secret)] = token
	}
	for i, id := range []string{ownChain, "ada2", theirChain} {
		h.chains = append(h.chains, segue.Chain{
			ID: id, Name: "train", User: id[:3], Created: t0.Add(-time.Duration(i) * time.Hour), State: segue.ChainActive,
			Request:    segue.Request{Shape: segue.Shape{Nodes: 4, Limit: 48 * time.Hour}, User: id[:3]},
			Submission: segue.Submission{Env: []string{"PASSWORD=secret"}},
		})
	}
	h.checks = []Check{{Name: "store", OK: true, State: "answers", Needed: true}}
	return h
}

// serve returns an interface on the house.
func (h *house) serve(t *testing.T, limits Limits) *API {
	t.Helper()
	a, err := New(Services{h, h, h, h, tokenBook{h}, auditBook{h}, answerBook{h}, h, h.feed}, Config{
		Now: h.clock, NewID: h.newID, Limits: limits, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (h *house) clock() segue.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) newID() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	return fmt.Sprintf("id%03d", h.ids)
}

func (h *house) Advise(ctx context.Context, q Question) (Advice, error) {
	h.mu.Lock()
	h.asked = append(h.asked, q)
	advise := h.advise
	h.mu.Unlock()
	if advise != nil {
		return advise(ctx, q)
	}
	f := segue.NewForecast(t0, "recent", []time.Duration{time.Hour, 2 * time.Hour, 5 * time.Hour})
	return Advice{
		Outlook: Outlook{Cluster: "ls6", Source: "scheduler", Data: t0.Add(-4 * time.Second), Now: t0, Running: 3, Pending: 7},
		Decision: segue.Decision{
			At: t0, Policy: "planner", Request: q.Request, Remaining: q.Remaining, Prefer: q.Prefer, SubmitAt: t0.Add(time.Hour), Forecast: f,
			Alternatives: []segue.Alternative{{SubmitAt: t0, Overlap: time.Hour, StartsBeforeEnd: 1, Cost: 0.25, Forecaster: "recent"}},
			Reason:       "Wait 1 h.",
		},
	}, h.broken
}

func (h *house) Forecast(context.Context, string, segue.Request) (Outlook, error) {
	return Outlook{Cluster: "ls6", Source: "history", Data: t0, Now: t0, Forecast: segue.NewForecast(t0, "recent", []time.Duration{time.Hour})}, h.broken
}

func (h *house) Chains(_ context.Context, q ChainQuery) ([]segue.Chain, error) {
	var found []segue.Chain
	for _, c := range h.chains {
		after := q.BeforeID == "" || c.Created < q.Before || c.Created == q.Before && c.ID > q.BeforeID
		if after && (q.User == "" || c.User == q.User) && (len(q.States) == 0 || slices.Contains(q.States, c.State)) && len(found) < q.Limit {
			found = append(found, c)
		}
	}
	return found, h.broken
}

func (h *house) Chain(_ context.Context, id string) (segue.Chain, error) {
	for _, c := range h.chains {
		if c.ID == id {
			return c, h.broken
		}
	}
	return segue.Chain{}, segue.Errorf(segue.NotFound, "there is no such chain")
}

func (h *house) Links(_ context.Context, id string) ([]segue.Link, error) {
	var all []segue.Link
	for n := range 1 + h.more {
		all = append(all, segue.Link{
			Chain: id, Number: n + 1, Attempt: 1, State: segue.LinkRunning, Job: segue.JobID{Number: int64(7 + n)}, Planned: t0, Submitted: t0, Start: t0,
			End: t0.Add(48 * time.Hour), Ready: segue.NoTime,
		})
	}
	return all, h.broken
}

// Decisions are three, the latest first, of which two are of one instant.
func (h *house) Decisions(_ context.Context, q DecisionQuery) ([]Recorded, error) {
	var found []Recorded
	for i := range 3 {
		at := t0.Add(-time.Duration(i/2) * time.Hour)
		r := Recorded{Number: 2, Attempt: 3 - i, Known: true, Overlap: time.Hour, Decision: segue.Decision{
			At: at, SubmitAt: at, Submit: true, Reason: "Submit now.", Forecast: segue.NewForecast(at, "recent", []time.Duration{time.Hour}),
		}}
		before := at < q.Before || at == q.Before && (r.Number < q.BeforeLink || r.Number == q.BeforeLink && r.Attempt < q.BeforeTry)
		if before && len(found) < q.Limit {
			found = append(found, r)
		}
	}
	return found, h.broken
}

func (h *house) Create(_ context.Context, chain segue.Chain, first segue.Link) error {
	if h.meanwhile != nil {
		h.meanwhile(chain)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse == nil && slices.ContainsFunc(h.chains, func(c segue.Chain) bool { return c.ID == chain.ID }) {
		return segue.Errorf(segue.Conflict, "there is a chain of this ID")
	}
	if h.refuse != nil {
		return h.refuse
	}
	if h.broken == nil {
		h.chains = append(h.chains, chain)
		h.first = append(h.first, first)
	}
	return h.broken
}

func (h *house) SetState(_ context.Context, id string, from, to segue.ChainState, why string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, c := range h.chains {
		if c.ID == id && c.State == from {
			h.chains[i].State, h.chains[i].Why = to, why
			return h.broken
		}
	}
	return segue.Errorf(segue.Conflict, "it is another by now")
}

func (h *house) Histories(context.Context) ([]History, error) {
	return []History{{Cluster: "ls6", Jobs: 9, First: t0, Last: t0, Seen: segue.NoTime, Accounted: segue.NoTime}}, h.broken
}

func (h *house) Import(_ context.Context, cluster, format string, body io.Reader) (Imported, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return Imported{}, fmt.Errorf("read: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.imports = append(h.imports, cluster+" "+format+" "+string(text))
	return Imported{Read: 1, Changed: 1, Problems: []string{}, Format: "sacct"}, h.broken
}

func (h *house) Statistics(_ context.Context, cluster string) (Statistics, error) {
	return Statistics{Cluster: cluster, Jobs: 9, Shapes: []ShapeCount{}, Months: []Month{}}, h.broken
}

func (h *house) Models(context.Context) ([]Model, error) {
	return []Model{{ID: "m-1", State: "champion", Policies: []string{"dqn"}}}, h.broken
}

func (h *house) Promote(_ context.Context, id, reason string) (Promotion, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if id != "m-2" {
		return Promotion{}, segue.Errorf(segue.NotFound, "there is no model %s", id)
	}
	h.promotions = append(h.promotions, "promote "+id+": "+reason)
	return Promotion{Champion: id, Decides: id}, h.broken
}

func (h *house) RollBack(_ context.Context, expected, reason string) (Promotion, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if expected != "m-1" {
		return Promotion{}, segue.Errorf(segue.Conflict, "the champion is m-1 by now")
	}
	h.promotions = append(h.promotions, "roll back from "+expected+": "+reason)
	return Promotion{Champion: "m-0"}, h.broken
}

func (h *house) Checks(context.Context) []Check { return h.checks }

type tokenBook struct{ h *house }

func (b tokenBook) Token(_ context.Context, hash string) (Token, error) {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	if b.h.away != nil {
		return Token{}, b.h.away
	}
	t, ok := b.h.tokens[hash]
	if !ok {
		return Token{}, segue.Errorf(segue.NotFound, "there is no such token")
	}
	return t, nil
}

type auditBook struct{ h *house }

func (b auditBook) Begin(_ context.Context, l AuditLine) error {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	b.h.audit = append(b.h.audit, l)
	return b.h.broken
}

func (b auditBook) End(_ context.Context, id string, status int, detail string) error {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	for i := range b.h.audit {
		if b.h.audit[i].ID == id {
			b.h.audit[i].Status, b.h.audit[i].Detail = status, detail
		}
	}
	return nil
}

func (b auditBook) Lines(_ context.Context, _ segue.Time, _ string, limit int) ([]AuditLine, error) {
	return b.h.audit[:min(limit, len(b.h.audit))], b.h.broken
}

type answerBook struct{ h *house }

func (b answerBook) Claim(_ context.Context, a Answer, _ time.Duration) (Answer, bool, error) {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	known, ok := b.h.answers[a.Owner+a.Key]
	if !ok {
		a.At = b.h.now
		b.h.answers[a.Owner+a.Key] = a
	}
	return known, !ok, nil
}

func (b answerBook) Keep(_ context.Context, a Answer) error {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	if b.h.deaf == nil {
		a.At = b.h.answers[a.Owner+a.Key].At
		b.h.answers[a.Owner+a.Key] = a
	}
	return b.h.deaf
}

func (b answerBook) Drop(_ context.Context, owner, key string) error {
	b.h.mu.Lock()
	defer b.h.mu.Unlock()
	if b.h.deaf != nil {
		return b.h.deaf
	}
	delete(b.h.answers, owner+key)
	return nil
}

// call is a request of a test: "POST /v1/chains/ada1/pause".
type call struct {
	secret string
	what   string
	body   string
	header []string // "Name: value"
}

// answers returns what the interface answers to a call.
func (c call) answers(t *testing.T, a http.Handler) *httptest.ResponseRecorder {
	t.Helper()
	method, path, _ := strings.Cut(c.what, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(c.body))
	if c.secret != "" {
		r.Header.Set("Authorization", "Bearer "+c.secret)
	}
	for _, h := range c.header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if a, ok := a.(*API); ok {
		wantDescribed(t, a, r, w.Code)
	}
	return w
}

// wantDescribed fails where the description of an operation lacks a status that it was
// answered with.
func wantDescribed(t *testing.T, a *API, r *http.Request, status int) {
	t.Helper()
	for path, item := range a.huma.OpenAPI().Paths {
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "[^/]+") + "$")
		op := map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put}[r.Method]
		if op == nil || !pattern.MatchString(r.URL.Path) {
			continue
		}
		if op.Responses[strconv.Itoa(status)] == nil {
			t.Errorf("%s answers %d, which its description lacks", op.OperationID, status)
		}
	}
}

// read returns the JSON of an answer.
func read[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}
