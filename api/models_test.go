package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What an operator promotes is promoted for the reason that is given, with whose it is;
// what lacks one is refused, and the place is named.
func TestModelsArePromotedForAReason(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		what, body string
		want       int
		wantDone   []string
		wantPlace  string
	}{
		"promote":   {"m-2/promote", aReason, 200, []string{"promote m-2: it costs less (olga, over REST)"}, ""},
		"roll back": {"rollback", aRollback, 200, []string{"roll back from m-1: it costs more (olga, over REST)"}, ""},
		"a reason with blanks around": {
			"m-2/promote", `{"reason":"  it costs less "}`, 200, []string{"promote m-2: it costs less (olga, over REST)"}, "",
		},
		"no body":                     {"m-2/promote", "", 400, nil, ""},
		"no JSON":                     {"m-2/promote", "reason=x", 400, nil, ""},
		"no reason":                   {"m-2/promote", `{}`, 422, nil, "body"},
		"an empty reason":             {"m-2/promote", `{"reason":""}`, 422, nil, "body.reason"},
		"a blank reason":              {"m-2/promote", `{"reason":"  "}`, 422, nil, "body.reason"},
		"two lines":                   {"m-2/promote", `{"reason":"two\nlines"}`, 422, nil, "body.reason"},
		"a colour":                    {"m-2/promote", `{"reason":"\u001b[31mred"}`, 422, nil, "body.reason"},
		"a long reason":               {"m-2/promote", `{"reason":"` + strings.Repeat("x", 501) + `"}`, 422, nil, "body.reason"},
		"a number":                    {"m-2/promote", `{"reason":7}`, 422, nil, "body.reason"},
		"a member that is not known":  {"m-2/promote", `{"reason":"x","force":true}`, 422, nil, "body.force"},
		"a rollback from anything":    {"rollback", `{"reason":"x"}`, 422, nil, "body"},
		"a rollback from no name":     {"rollback", `{"reason":"x","expected":""}`, 422, nil, "body.expected"},
		"a rollback without a reason": {"rollback", `{"expected":"m-1"}`, 422, nil, "body"},
		"a rollback of no JSON":       {"rollback", `{"expected":"m-1"`, 400, nil, ""},
		"a rollback without a body":   {"rollback", "", 400, nil, ""},
		"a rollback too late":         {"rollback", `{"expected":"m-7","reason":"x"}`, 409, nil, ""},
		"a rollback that is too large": {
			"rollback", `{"expected":"m-1","reason":"` + strings.Repeat("x", 2<<20) + `"}`, 413, nil, "",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			w := call{secret: operates, what: "POST /v1/models/" + tt.what, body: tt.body, header: []string{"Content-Type: application/json"}}.answers(t, h.serve(t, Limits{}))
			if w.Code != tt.want {
				t.Fatalf("status is %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if diff := cmp.Diff(tt.wantDone, h.promotions); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
			p := read[Problem](t, w)
			if tt.wantPlace != "" && !slices.ContainsFunc(p.Errors, func(d Detail) bool { return d.Location == tt.wantPlace }) {
				t.Errorf("places %+v, want %s", p.Errors, tt.wantPlace)
			}
		})
	}
}

// A promotion that is asked for again under its key is made once, and what was asked for
// is in the audit log once, under the name of the model.
func TestAPromotionIsMadeOnceUnderItsKey(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	for _, step := range []struct {
		what, body, key string
		want            int
		replayed        string
	}{
		{"m-2/promote", aReason, "k1", 200, ""},
		{"m-2/promote", aReason, "k1", 200, "true"},
		{"m-2/promote", `{"reason":"another"}`, "k1", 422, ""},
		{"rollback", aRollback, "k2", 200, ""},
		{"rollback", aRollback, "k2", 200, "true"},
		{"rollback", aRollback, "k1", 422, ""},
		{"rollback", `{"expected":"m-7","reason":"x"}`, "k3", 409, ""},
		{"rollback", `{"expected":["m-1"],"reason":"x"}`, "", 422, ""},
	} {
		c := call{secret: operates, what: "POST /v1/models/" + step.what, body: step.body}
		if step.key != "" {
			c.header = []string{"Idempotency-Key: " + step.key}
		}
		w := c.answers(t, a)
		if got := w.Header().Get(replayedHeader); w.Code != step.want || got != step.replayed {
			t.Errorf("%s under %s: %d, replayed %q; want %d and %q: %s", step.what, step.key, w.Code, got, step.want, step.replayed, w.Body)
		}
	}
	if len(h.promotions) != 2 {
		t.Errorf("%q was done, want two things", h.promotions)
	}
	var got []string
	for _, l := range h.audit {
		got = append(got, strings.Join([]string{l.User, l.Action, l.Object}, " "))
	}
	want := []string{"olga promote-model m-2", "olga roll-back-model m-1", "olga roll-back-model m-7", "olga roll-back-model "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
}
