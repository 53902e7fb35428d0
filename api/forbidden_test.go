package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

const (
	aReason   = `{"reason":"it costs less"}`
	aRollback = `{"expected":"m-1","reason":"it costs more"}`
)

const anAdvice = `{"nodes":4,"time_limit":"48:00:00","remaining":"9h"}`

// The forbidden things, one by one, and the allowed ones beside them.
func TestNobodyDoesWhatIsNotTheirs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		call call
		want int
	}{
		"a stranger asks whether the process lives": {call{what: "GET /healthz"}, 200},
		"a stranger asks whether it is ready":       {call{what: "GET /readyz"}, 200},
		"a stranger asks for advice":                {call{what: "POST /v1/advice", body: anAdvice}, 401},
		"a stranger lists chains":                   {call{what: "GET /v1/chains"}, 401},
		"a stranger reads the description":          {call{what: "GET /v1/openapi.json"}, 401},
		"a stranger reads metrics":                  {call{what: "GET /metrics"}, 401},
		"a stranger follows events":                 {call{what: "GET /v1/events"}, 401},
		"a stranger looks for what is not there":    {call{what: "GET /admin"}, 401},
		"a stranger stops a chain":                  {call{what: "POST /v1/chains/ada1/stop"}, 401},
		"a stranger imports":                        {call{what: "POST /v1/histories/ls6/import"}, 401},

		"a stranger promotes a model": {call{what: "POST /v1/models/m-2/promote", body: aReason}, 401},
		"a stranger rolls back":       {call{what: "POST /v1/models/rollback", body: aRollback}, 401},

		"a token that nobody knows":     {call{secret: unheardOf, what: "GET /v1/chains"}, 401},
		"a token that has expired":      {call{secret: expired, what: "GET /v1/chains"}, 401},
		"a token that was revoked":      {call{secret: revoked, what: "GET /v1/chains"}, 401},
		"the hash instead of a secret":  {call{secret: HashOf(operates), what: "GET /v1/chains"}, 401},
		"a password instead of a token": {call{what: "GET /v1/chains", header: []string{"Authorization: Basic YWRhOmFkYQ=="}}, 401},
		"an empty token":                {call{what: "GET /v1/chains", header: []string{"Authorization: Bearer "}}, 401},
		"a token without a scope":       {call{secret: scopeless, what: "GET /v1/chains"}, 403},
		"metrics without a scope":       {call{secret: scopeless, what: "GET /metrics"}, 403},
		"events without a scope":        {call{secret: scopeless, what: "GET /v1/events"}, 403},
		"a user in the address":         {call{what: "GET /v1/chains?user=ada"}, 401},

		"a reader lists own chains":        {call{secret: adaReads, what: "GET /v1/chains"}, 200},
		"a reader asks for advice":         {call{secret: adaReads, what: "POST /v1/advice", body: anAdvice}, 200},
		"a reader pauses an own chain":     {call{secret: adaReads, what: "POST /v1/chains/ada1/pause"}, 403},
		"a reader stops an own chain":      {call{secret: adaReads, what: "POST /v1/chains/ada1/stop"}, 403},
		"a reader imports":                 {call{secret: adaReads, what: "POST /v1/histories/ls6/import"}, 403},
		"a reader reads the audit log":     {call{secret: adaReads, what: "GET /v1/audit"}, 403},
		"a user pauses an own chain":       {call{secret: adaWrites, what: "POST /v1/chains/ada1/pause"}, 200},
		"a user resumes a running chain":   {call{secret: adaWrites, what: "POST /v1/chains/ada1/resume"}, 409},
		"a user imports":                   {call{secret: adaWrites, what: "POST /v1/histories/ls6/import"}, 403},
		"a user reads the audit log":       {call{secret: adaWrites, what: "GET /v1/audit"}, 403},
		"a user lists others' chains":      {call{secret: adaReads, what: "GET /v1/chains?user=bob"}, 403},
		"a user sees another's chain":      {call{secret: adaWrites, what: "GET /v1/chains/bob1"}, 404},
		"a user sees another's decisions":  {call{secret: adaWrites, what: "GET /v1/chains/bob1/decisions"}, 404},
		"a user pauses another's chain":    {call{secret: adaWrites, what: "POST /v1/chains/bob1/pause"}, 404},
		"a user stops another's chain":     {call{secret: adaWrites, what: "POST /v1/chains/bob1/stop"}, 404},
		"a user resumes another's chain":   {call{secret: adaWrites, what: "POST /v1/chains/bob1/resume"}, 404},
		"the other user does":              {call{secret: bobWrites, what: "POST /v1/chains/bob1/pause"}, 200},
		"a user asks for another's advice": {call{secret: adaReads, what: "POST /v1/advice", body: `{"nodes":4,"time_limit":"48:00:00","remaining":"9h","user":"bob"}`}, 403},

		"a reader promotes a model":              {call{secret: adaReads, what: "POST /v1/models/m-2/promote", body: aReason}, 403},
		"a reader rolls back":                    {call{secret: adaReads, what: "POST /v1/models/rollback", body: aRollback}, 403},
		"a user promotes a model":                {call{secret: adaWrites, what: "POST /v1/models/m-2/promote", body: aReason}, 403},
		"a user rolls back":                      {call{secret: adaWrites, what: "POST /v1/models/rollback", body: aRollback}, 403},
		"one who submits promotes a model":       {call{secret: adaSubmits, what: "POST /v1/models/m-2/promote", body: aReason}, 403},
		"one who submits rolls back":             {call{secret: adaSubmits, what: "POST /v1/models/rollback", body: aRollback}, 403},
		"an expired operator promotes a model":   {call{secret: expired, what: "POST /v1/models/m-2/promote", body: aReason}, 401},
		"a revoked operator rolls back":          {call{secret: revoked, what: "POST /v1/models/rollback", body: aRollback}, 401},
		"one without a scope promotes a model":   {call{secret: scopeless, what: "POST /v1/models/m-2/promote", body: aReason}, 403},
		"a reader tries a promotion by the key":  {call{secret: adaReads, what: "POST /v1/models/m-2/promote", body: aReason, header: []string{"Idempotency-Key: k1"}}, 403},
		"a user promotes by another method":      {call{secret: adaWrites, what: "PUT /v1/models/m-2/promote", body: aReason}, 405},
		"an operator promotes a model":           {call{secret: operates, what: "POST /v1/models/m-2/promote", body: aReason}, 200},
		"an operator rolls back":                 {call{secret: operates, what: "POST /v1/models/rollback", body: aRollback}, 200},
		"an operator promotes what is not there": {call{secret: operates, what: "POST /v1/models/m-9/promote", body: aReason}, 404},

		"an operator lists everybody's chains":  {call{secret: operates, what: "GET /v1/chains"}, 200},
		"an operator sees another's chain":      {call{secret: operates, what: "GET /v1/chains/bob1"}, 200},
		"an operator stops another's chain":     {call{secret: operates, what: "POST /v1/chains/bob1/stop"}, 200},
		"an operator imports":                   {call{secret: operates, what: "POST /v1/histories/ls6/import"}, 200},
		"an operator reads the audit log":       {call{secret: operates, what: "GET /v1/audit"}, 200},
		"an operator asks for another's advice": {call{secret: operates, what: "POST /v1/advice", body: `{"nodes":4,"time_limit":"48:00:00","remaining":"9h","user":"bob"}`}, 200},

		"a larger request than allowed":    {call{secret: operates, what: "POST /v1/advice", body: `{"account":"` + strings.Repeat("a", 2<<20) + `"}`}, 413},
		"a larger history than allowed":    {call{secret: operates, what: "POST /v1/histories/ls6/import", body: strings.Repeat("a", 2000)}, 413},
		"a member that is not known":       {call{secret: adaReads, what: "POST /v1/advice", body: `{"nodes":4,"time_limit":"1h","remaining":"9h","shell":"rm"}`}, 422},
		"a parameter that is not known":    {call{secret: adaReads, what: "GET /v1/chains?owner=bob"}, 422},
		"more on a page than there may be": {call{secret: adaReads, what: "GET /v1/chains?limit=100000"}, 422},
		"a cursor that is none":            {call{secret: adaReads, what: "GET /v1/chains?cursor=bm9uZQ"}, 422},
		"a cursor with a byte 0":           {call{secret: adaReads, what: "GET /v1/chains?cursor=MSBhAGI"}, 422},
		"a state that is none":             {call{secret: adaReads, what: "GET /v1/chains?state=gone"}, 422},
		"what is not there":                {call{secret: operates, what: "GET /admin"}, 404},
		"another method":                   {call{secret: operates, what: "DELETE /v1/chains/ada1"}, 405},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			before := slices.Clone(h.chains)
			a := h.serve(t, Limits{Import: 1000})
			w := tt.call.answers(t, a)
			if w.Code != tt.want {
				t.Fatalf("status is %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if w.Code < 400 {
				return
			}
			if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("Content-Type is %q, want a problem", got)
			}
			p := read[Problem](t, w)
			if p.Status != tt.want || p.Title == "" || p.Detail == "" || p.Type == "" {
				t.Errorf("problem is %+v, want its type, title, status and detail", p)
			}
			for i, c := range h.chains {
				if c.State != before[i].State {
					t.Errorf("chain %s has become %s all the same", c.ID, c.State)
				}
			}
			if len(h.promotions) > 0 {
				t.Errorf("%q all the same", h.promotions)
			}
			if len(h.imports) > 0 {
				t.Errorf("%d histories came in all the same", len(h.imports))
			}
		})
	}
}

func TestAUserSeesOwnChainsAndAnOperatorAll(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		secret, query string
		want          []string
	}{
		"a user":                  {adaReads, "", []string{"ada1", "ada2"}},
		"another user":            {bobWrites, "", []string{"bob1"}},
		"a user, by name":         {adaReads, "?user=ada", []string{"ada1", "ada2"}},
		"an operator":             {operates, "", []string{"ada1", "ada2", "bob1"}},
		"an operator, for a user": {operates, "?user=bob", []string{"bob1"}},
		"by state":                {operates, "?state=paused", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := call{secret: tt.secret, what: "GET /v1/chains" + tt.query}.answers(t, newHouse().serve(t, Limits{}))
			var got []string
			for _, c := range read[struct{ Chains []ChainAnswer }](t, w).Chains {
				got = append(got, c.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("chains are %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAnEnvironmentIsNeverShown(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	for _, what := range []string{"GET /v1/chains", "GET /v1/chains/ada1", "GET /v1/chains/ada1/decisions"} {
		if w := (call{secret: operates, what: what}).answers(t, a); w.Code != 200 || strings.Contains(w.Body.String(), "PASSWORD") {
			t.Errorf("%s answers %d: %s", what, w.Code, w.Body)
		}
	}
}

// While the system cannot tell who is at the other end, nobody is sent away as unknown.
func TestASystemThatCannotTellWhoAsksIsUnavailable(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	for kind, want := range map[segue.Kind]int{segue.Unavailable: http.StatusServiceUnavailable, segue.NotFound: http.StatusUnauthorized} {
		peer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who := func() (Caller, error) { return Caller{}, segue.Errorf(kind, "getent") }
			a.ServeHTTP(w, r.WithContext(WithPeer(r.Context(), who)))
		})
		if got := (call{what: "GET /v1/chains"}).answers(t, peer); got.Code != want {
			t.Errorf("%s: status is %d, want %d: %s", kind, got.Code, want, got.Body)
		}
	}
}

func TestWhoIsKnownByTheSocketNeedsNoToken(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{})
	tests := map[string]struct {
		secret string
		want   []string
	}{
		"the peer":           {"", []string{"bob1"}},
		"a token goes first": {adaReads, []string{"ada1", "ada2"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				a.ServeHTTP(w, r.WithContext(WithCaller(r.Context(), Caller{User: "bob", Scopes: []Scope{ScopeChains}, Via: "socket"})))
			})
			var got []string
			for _, c := range read[struct{ Chains []ChainAnswer }](t, call{secret: tt.secret, what: "GET /v1/chains"}.answers(t, peer)).Chains {
				got = append(got, c.ID)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("chains are %q, want %q", got, tt.want)
			}
		})
	}
}

// Also where the clock is set back meanwhile.
func TestARevokedTokenWorksForSecondsAtMost(t *testing.T) {
	t.Parallel()
	for name, passes := range map[string]time.Duration{"the clock goes on": tokenFresh, "the clock is set back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			a := h.serve(t, Limits{})
			ask := call{secret: adaReads, what: "GET /v1/chains"}
			if w := ask.answers(t, a); w.Code != 200 {
				t.Fatalf("status is %d, want 200", w.Code)
			}
			h.mu.Lock()
			token := h.tokens[HashOf(adaReads)]
			token.Revoked = true
			h.tokens[HashOf(adaReads)] = token
			h.now = h.now.Add(passes)
			h.mu.Unlock()
			if w := ask.answers(t, a); w.Code != 401 {
				t.Errorf("status is %d, want 401", w.Code)
			}
		})
	}
}

// Who follows events is looked at again at each heartbeat.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change   func(h *house, token *Token)
		wantEnds bool
	}{
		"revoked":           {func(_ *house, token *Token) { token.Revoked = true }, true},
		"expired":           {func(_ *house, token *Token) { token.Expires = t0.Add(time.Second) }, true},
		"without scopes":    {func(_ *house, token *Token) { token.Scopes = nil }, true},
		"as it was":         {func(*house, *Token) {}, false},
		"the store is away": {func(h *house, _ *Token) { h.away = segue.Errorf(segue.Unavailable, "no answer") }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHouse()
				a := h.serve(t, Limits{})
				ctx, leave := context.WithCancel(t.Context())
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, eventsPath, http.NoBody)
				r.Header.Set("Authorization", "Bearer "+adaReads)
				ended := make(chan struct{})
				go func() {
					a.ServeHTTP(&deadlines{ResponseRecorder: httptest.NewRecorder()}, r)
					close(ended)
				}()
				synctest.Wait()
				h.mu.Lock()
				token := h.tokens[HashOf(adaReads)]
				tt.change(h, &token)
				h.tokens[HashOf(adaReads)] = token
				h.now = t0.Add(heartbeat)
				h.mu.Unlock()
				ends := false
				select {
				case <-ended:
					ends = true
				case <-time.After(heartbeat + time.Second): // of a clock that does not wait
				}
				if ends != tt.wantEnds {
					t.Errorf("the stream ends: %t, want %t", ends, tt.wantEnds)
				}
				leave()
				<-ended
			})
		})
	}
}

// While the store is away its metrics are told to who was known before, for a while
// and nothing else is.
func TestWhoWasKnownMayReadMetricsWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	h := newHouse()
	ending := h.tokens[HashOf(adaWrites)]
	ending.Expires = t0.Add(time.Minute)
	h.tokens[HashOf(adaWrites)] = ending
	a := h.serve(t, Limits{})
	answers := func(after time.Duration, away error) map[string]int {
		h.mu.Lock()
		h.now, h.away = t0.Add(after), away
		h.mu.Unlock()
		got := map[string]int{}
		for name, secret := range map[string]string{"known": adaReads, "revoked": revoked, "ends": adaWrites, "unheard of": unheardOf} {
			got[name] = call{secret: secret, what: "GET /metrics"}.answers(t, a).Code
		}
		got["chains"] = call{secret: adaReads, what: "GET /v1/chains"}.answers(t, a).Code
		if away != nil {
			got["not seen before"] = call{secret: operates, what: "GET /metrics"}.answers(t, a).Code
		}
		return got
	}
	gone := segue.Errorf(segue.Unavailable, "no answer")
	for _, step := range []struct {
		after time.Duration
		away  error
		want  map[string]int
	}{
		{0, nil, map[string]int{"known": 200, "revoked": 401, "ends": 200, "unheard of": 401, "chains": 200}},
		{
			tokenFresh, gone,
			map[string]int{"known": 200, "revoked": 401, "ends": 200, "unheard of": 503, "chains": 503, "not seen before": 503},
		},
		{
			scrapeRemembered - 1, gone,
			map[string]int{"known": 200, "revoked": 401, "ends": 401, "unheard of": 503, "chains": 503, "not seen before": 503},
		},
		{
			scrapeRemembered, gone,
			map[string]int{"known": 503, "revoked": 503, "ends": 503, "unheard of": 503, "chains": 503, "not seen before": 503},
		},
	} {
		if diff := cmp.Diff(step.want, answers(step.after, step.away)); diff != "" {
			t.Errorf("after %v (-want +got):\n%s", step.after, diff)
		}
	}
}

func TestErrorsAreProblemsByTheirKind(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err        error
		want       int
		wantDetail string
		wantRetry  string
	}{
		"invalid":        {segue.Errorf(segue.Invalid, "4 nodes of 2"), 422, "4 nodes of 2", ""},
		"not found":      {segue.Errorf(segue.NotFound, "no job 7"), 404, "no job 7", ""},
		"conflict":       {segue.Errorf(segue.Conflict, "it is paused"), 409, "it is paused", ""},
		"unavailable":    {segue.Errorf(segue.Unavailable, "no answer"), 503, "no answer", "5"},
		"corrupt":        {segue.Errorf(segue.Corrupt, "page 7"), 500, "page 7", ""},
		"out of time":    {fmt.Errorf("read chain: %w", context.DeadlineExceeded), 503, "it was not done within the limit of time", "5"},
		"of no kind":     {http.ErrAbortHandler, 500, "see the server's log", ""},
		"one of its own": {forbidden("no"), 403, "no", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			h.broken = tt.err
			w := call{secret: adaWrites, what: "POST /v1/chains/ada1/pause"}.answers(t, h.serve(t, Limits{}))
			p := read[Problem](t, w)
			if w.Code != tt.want || p.Detail != tt.wantDetail || w.Header().Get("Retry-After") != tt.wantRetry {
				t.Errorf("%d %q, again after %q; want %d %q %q", w.Code, p.Detail, w.Header().Get("Retry-After"), tt.want, tt.wantDetail, tt.wantRetry)
			}
		})
	}
}
