package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// chunked hides from httptest how long a body is, as if it came in chunks.
type chunked struct{ io.Reader }

// importOf returns the answer to an import of a body under the key k1.
func importOf(t *testing.T, a *API, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/histories/ls6/import", body)
	r.Header.Set("Authorization", "Bearer "+operates)
	r.Header.Set(keyHeader, "k1")
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	wantDescribed(t, a, r, w.Code)
	return w
}

// January is imported, and February under the same key by mistake: it must not be said
// to be imported.
func TestAnotherBodyUnderTheSameKeyIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{Import: 100})
	for _, step := range []struct {
		why      string
		body     io.Reader
		want     int
		replayed string
	}{
		{"January in chunks", chunked{strings.NewReader("january")}, 200, ""},
		{"February in chunks", chunked{strings.NewReader("february")}, 422, ""},
		{"as long as January", strings.NewReader("januarx"), 422, ""},
		{"January again", chunked{strings.NewReader("january")}, 200, "true"},
		{"January again, of known length", strings.NewReader("january"), 200, "true"},
		{"a body that is too large", strings.NewReader(strings.Repeat("x", 101)), 413, ""},
		{"one that does not come to its end", io.MultiReader(strings.NewReader("jan"), failing{io.ErrUnexpectedEOF}), 400, ""},
	} {
		w := importOf(t, a, step.body)
		if got := w.Header().Get(replayedHeader); w.Code != step.want || got != step.replayed {
			t.Errorf("%s: %d, replayed %q; want %d and %q: %s", step.why, w.Code, got, step.want, step.replayed, w.Body)
		}
	}
	if diff := cmp.Diff([]string{"ls6 auto january"}, h.imports); diff != "" {
		t.Errorf("imports (-want +got):\n%s", diff)
	}
}

// failing is a body that breaks off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestABodyThatBrokeOffMayBeSentAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		broken error
		want   int
	}{
		"the client has gone":       {io.ErrUnexpectedEOF, 400},
		"the limit of time is over": {os.ErrDeadlineExceeded, 408},
		"something else":            {errors.New("connection reset"), 500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			a := h.serve(t, Limits{})
			if w := importOf(t, a, io.MultiReader(strings.NewReader("jan"), failing{tt.broken})); w.Code != tt.want {
				t.Errorf("at first %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			w := importOf(t, a, strings.NewReader("january"))
			if w.Code != 200 || w.Header().Get(replayedHeader) != "" {
				t.Errorf("then %d, want 200: %s", w.Code, w.Body)
			}
		})
	}
}

// The answer to a pause holds all links of the chain, of which there are thousands: it
// is not kept, and must not come back in half.
func TestAnAnswerThatIsTooLargeToKeepIsToldAnew(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.more = 2000
	a := h.serve(t, Limits{})
	pause := call{secret: adaWrites, what: "POST /v1/chains/ada1/pause", header: []string{"Idempotency-Key: k1"}}
	if first := pause.answers(t, a); first.Code != 200 || first.Body.Len() <= maxAnswer {
		t.Fatalf("%d with %d bytes, want 200 with more than are kept", first.Code, first.Body.Len())
	}
	again := pause.answers(t, a)
	var got ChainWithLinks
	if err := json.Unmarshal(again.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v in %d bytes", err, again.Body.Len())
	}
	if again.Code != 200 || again.Header().Get(replayedHeader) != "true" || got.State != "paused" || len(got.Links) != 2001 {
		t.Errorf("%d, replayed %q, %s with %d links; want 200, true, paused and 2001", again.Code, again.Header().Get(replayedHeader), got.State, len(got.Links))
	}
	if len(h.audit) != 1 {
		t.Errorf("%d lines of the audit log, want 1: it is done once", len(h.audit))
	}
	if kept := h.answers["adak1"]; len(kept.Body) > 0 {
		t.Errorf("%d bytes of the answer are kept, want none", len(kept.Body))
	}
}

// A server died in an import, which is given up after an hour and ten seconds.
func TestItIsSaidWhenADeadRequestMayBeMadeAgain(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{ImportTime: time.Hour})
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/histories/ls6/import", nil)
	h.answers["olgak1"] = Answer{Owner: "olga", Key: "k1", Fingerprint: fingerprint(r), At: t0.Add(-40 * time.Minute)}
	w := importOf(t, a, strings.NewReader("jobs"))
	if got := w.Header().Get("Retry-After"); w.Code != 409 || got != "1210" {
		t.Errorf("%d, again after %s s; want 409 and 1210", w.Code, got)
	}
	defer a.working.begin(h.answers["olgak1"])()
	w = importOf(t, a, strings.NewReader("jobs"))
	if got := w.Header().Get("Retry-After"); w.Code != 409 || got != "5" {
		t.Errorf("of one that this server works on: %d, again after %s s; want 409 and 5", w.Code, got)
	}
}

func TestErrorsOfReadingHaveTypes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   io.Reader
		header string
		status int
		want   string
		kind   segue.Kind
	}{
		"no JSON":                   {strings.NewReader("nodes=1"), "application/json", 400, "bad-request", segue.Invalid},
		"nothing":                   {strings.NewReader(""), "application/json", 400, "bad-request", segue.Invalid},
		"broken off":                {failing{io.ErrUnexpectedEOF}, "application/json", 400, "bad-request", segue.Invalid},
		"too slow":                  {failing{os.ErrDeadlineExceeded}, "application/json", 408, "timeout", segue.Unavailable},
		"a form":                    {strings.NewReader("nodes=1"), "application/x-www-form-urlencoded", 415, "unsupported-media-type", segue.Invalid},
		"what cannot be looked for": {failing{errors.New("reset")}, "application/json", 500, "internal", segue.Other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/advice", tt.body)
			r.Header.Set("Authorization", "Bearer "+adaReads)
			r.Header.Set("Content-Type", tt.header)
			w := httptest.NewRecorder()
			a := newHouse().serve(t, Limits{})
			a.ServeHTTP(w, r)
			wantDescribed(t, a, r, w.Code)
			p := read[Problem](t, w)
			if w.Code != tt.status || p.Type != "urn:segue:problem:"+tt.want || p.Kind() != tt.kind || p.Status != tt.status {
				t.Errorf("%d %+v of kind %s, want %d of type %s and kind %s", w.Code, p, p.Kind(), tt.status, tt.want, tt.kind)
			}
		})
	}
}

// A reload of the configuration changes how long a body may take, too.
func TestALimitOfTimeThatChangesCountsForBodies(t *testing.T) {
	t.Parallel()
	a := newHouse().serve(t, Limits{Time: time.Minute})
	if err := a.SetLimits(Limits{Time: 2 * time.Minute}); err != nil {
		t.Fatal(err)
	}
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/advice", strings.NewReader(anAdvice))
	r.Header.Set("Authorization", "Bearer "+adaReads)
	a.ServeHTTP(w, r)
	if diff := cmp.Diff([]time.Time{t0.Std().Add(2 * time.Minute), {}}, w.read); diff != "" {
		t.Errorf("deadlines of reading (-want +got):\n%s", diff)
	}
}
