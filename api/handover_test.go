package api

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

const newChain = "PUT /v1/chains/new123"

// aChain is a chain of ada's as segue sbatch captures it.
func aChain() (segue.Chain, segue.Link) {
	chain := segue.Chain{
		ID: "new123", Name: "train", User: "ada", Created: t0, Request: segue.Request{
			Shape: segue.Shape{Nodes: 4, GPUsPerNode: 3, Limit: 48 * time.Hour}, User: "ada", Account: "ml", Partition: "gpu", QOS: "normal",
		},
		Terms: segue.Terms{MaxLinks: 5, DoneFile: "/home/ada/done", ReadyDir: "/home/ada/ready"}.WithDefaults(),
		Submission: segue.Submission{
			Args: []string{"-J", "\xff", "job.sh"}, ScriptAt: 2, Script: []byte("#!/bin/sh\n\xfe"), Env: []string{"A=\xff"}, Dir: "/home/ada", Umask: 0o27,
			Limits: []segue.ResourceLimit{{Name: "NOFILE", Soft: 1024, Hard: math.MaxUint64}},
		},
	}
	first := segue.Link{
		Chain: chain.ID, Number: 1, Attempt: 1, State: segue.LinkQueued, Job: segue.JobID{Number: 4711},
		Planned: t0, Submitted: t0, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	return chain, first
}

// asBody returns the body that hands a chain over, after a change.
func asBody(t testing.TB, change func(*HandOver)) string {
	t.Helper()
	h, err := HandOverOf(aChain())
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&h)
	}
	body, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestAChainIsHandedOverWholeAndOnce(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	for i, want := range []int{201, 200} { // who did not hear the first answer asks again
		w := call{secret: adaSubmits, what: newChain, body: asBody(t, nil)}.answers(t, a)
		if w.Code != want {
			t.Fatalf("time %d: status %d, want %d: %s", i+1, w.Code, want, w.Body)
		}
		if strings.Contains(w.Body.String(), "submission") {
			t.Errorf("the answer tells what was captured: %s", w.Body)
		}
	}
	chain, first := aChain()
	if diff := cmp.Diff(chain, h.chains[len(h.chains)-1]); diff != "" {
		t.Errorf("chain (-handed over +kept):\n%s", diff)
	}
	if diff := cmp.Diff([]segue.Link{first}, h.first); diff != "" {
		t.Errorf("first link (-handed over +kept):\n%s", diff)
	}
	if l := h.audit[0]; l.Action != "hand-over-chain" || l.Object != "new123" || l.User != "ada" || l.Status != 201 {
		t.Errorf("the audit log has %+v", l)
	}
}

// A token that may stop chains was not made to run programs.
func TestAChainIsHandedOverByWhoMaySubmit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		secret string
		want   int
		user   string
	}{
		"a stranger":                       {"", 401, ""},
		"a reader":                         {adaReads, 403, ""},
		"who may pause, resume and stop":   {adaWrites, 403, ""},
		"who may submit":                   {adaSubmits, 201, "ada"},
		"an operator, in the own name too": {operates, 201, "olga"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			before := len(h.chains)
			w := call{secret: tt.secret, what: newChain, body: asBody(t, nil)}.answers(t, h.serve(t, Limits{}))
			if w.Code != tt.want {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.want, w.Body)
			}
			if tt.user == "" && len(h.chains) != before {
				t.Error("it was taken all the same")
			}
			if tt.user != "" && (h.chains[before].User != tt.user || h.chains[before].Request.User != tt.user) {
				t.Errorf("it is %s's, for %s; want %s", h.chains[before].User, h.chains[before].Request.User, tt.user)
			}
		})
	}
}

func TestAChainOfAnotherIsNotReplacedNorShown(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.chains = append(h.chains, segue.Chain{ID: "new123", User: "bob", Created: t0, Name: "secret"})
	w := call{secret: adaSubmits, what: newChain, body: asBody(t, nil)}.answers(t, h.serve(t, Limits{}))
	if w.Code != 409 || strings.Contains(w.Body.String(), "secret") || strings.Contains(w.Body.String(), "bob") {
		t.Errorf("status %d: %s; want 409 and nothing of bob's", w.Code, w.Body)
	}
}

// Of two that hand one chain over at once neither hears that it is not taken: it would
// have another one keep it going.
func TestAChainThatTwoHandOverAtOnceIsTakenForBoth(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]error{"the store has it by now": nil, "nothing more is taken by now": segue.Errorf(segue.Invalid, "too many")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			h.meanwhile = func(c segue.Chain) { h.chains, h.refuse = append(h.chains, c), broken }
			w := call{secret: adaSubmits, what: newChain, body: asBody(t, nil)}.answers(t, h.serve(t, Limits{}))
			if w.Code != 200 || len(h.first) != 0 {
				t.Errorf("status %d, taken %d times more; want 200: %s", w.Code, len(h.first), w.Body)
			}
		})
	}
}

func TestAnotherChainOfTheSameIDIsNotTheSame(t *testing.T) {
	t.Parallel()
	h := newHouse()
	a := h.serve(t, Limits{})
	for i, want := range []int{201, 409} {
		body := asBody(t, func(o *HandOver) { o.Created = t0.Add(-time.Duration(i) * time.Second).String() })
		if w := (call{secret: adaSubmits, what: newChain, body: body}).answers(t, a); w.Code != want {
			t.Errorf("chain %d: status %d, want %d: %s", i+1, w.Code, want, w.Body)
		}
	}
}

func TestAChainThatMakesNoSenseIsNotTaken(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*HandOver){
		"no node":                     func(h *HandOver) { h.Nodes = 0 },
		"a limit of nothing":          func(h *HandOver) { h.TimeLimit = "0s" },
		"a limit below nothing":       func(h *HandOver) { h.TimeLimit = "-3h" },
		"made long ago":               func(h *HandOver) { h.Created = "1970-01-01T00:00:00Z" },
		"planned long ago":            func(h *HandOver) { h.Link.Planned = "1970-01-01T00:00:00Z" },
		"planned tomorrow":            func(h *HandOver) { h.Link.Planned = t0.Add(24 * time.Hour).String() },
		"a time that is none":         func(h *HandOver) { h.Created = "yesterday" },
		"a queued link without a job": func(h *HandOver) { h.Link.Job = "" },
		"a link on its way with one":  func(h *HandOver) { h.Link.State = "submitting" },
		"a link that runs":            func(h *HandOver) { h.Link.State = "running" },
		"one on its way since long ago": func(h *HandOver) {
			h.Link.State, h.Link.Job, h.Link.Submitted, h.Link.Planned = "submitting", "", "", t0.Add(-25*time.Hour).String()
		},
		"a job that is none":          func(h *HandOver) { h.Link.Job = "4711; rm" },
		"no folder":                   func(h *HandOver) { h.Submission.Dir = nil },
		"a folder from somewhere":     func(h *HandOver) { h.Submission.Dir = []byte("run") },
		"a byte 0 in an argument":     func(h *HandOver) { h.Submission.Args[0] = []byte("a\x00b") },
		"a byte 0 in the environment": func(h *HandOver) { h.Submission.Env[0] = []byte("A=\x00") },
		"a script beyond the end":     func(h *HandOver) { h.Submission.ScriptAt = 3 },
		"a script before the start":   func(h *HandOver) { h.Submission.ScriptAt = -2 },
		"a script named ..":           func(h *HandOver) { h.Submission.Args[2] = []byte("/home/ada/..") },
		"a script without a name":     func(h *HandOver) { h.Submission.Args[2] = nil },
		"an option as a limit":        func(h *HandOver) { h.Submission.Limits[0].Name = "PID=1 --CORE" },
		"a done file from somewhere":  func(h *HandOver) { h.Terms.DoneFile = "done" },
		"a ready folder of nowhere":   func(h *HandOver) { h.Terms.ReadyDir = "../root" },
		"terms that contradict":       func(h *HandOver) { h.Terms.MinLead, h.Terms.MaxLead = "2h", "1h" },
		"a preference that is none":   func(h *HandOver) { h.Terms.Prefer = "-1" },
		"a umask that is none":        func(h *HandOver) { h.Submission.Umask = 0o1000 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse()
			before := len(h.chains)
			w := call{secret: adaSubmits, what: newChain, body: asBody(t, change)}.answers(t, h.serve(t, Limits{}))
			if w.Code != 422 || len(h.chains) != before {
				t.Errorf("status %d, %d new chains, want 422 and none: %s", w.Code, len(h.chains)-before, w.Body)
			}
		})
	}
	for _, id := range []string{"x", "UPPER1", "a-b-c-d", "%2e%2e%2fetc", strings.Repeat("a", 40)} {
		if w := (call{secret: adaSubmits, what: "PUT /v1/chains/" + id, body: asBody(t, nil)}).answers(t, newHouse().serve(t, Limits{})); w.Code/100 != 4 {
			t.Errorf("ID %q: status %d: %s", id, w.Code, w.Body)
		}
	}
}

func TestAChainMayHaveTheSchedulersLimit(t *testing.T) {
	t.Parallel()
	h := newHouse()
	w := call{secret: adaSubmits, what: newChain, body: asBody(t, func(h *HandOver) { h.TimeLimit = "" })}.answers(t, h.serve(t, Limits{}))
	if w.Code != 201 || h.chains[len(h.chains)-1].Request.Limit != 0 {
		t.Errorf("status %d, a limit of %s; want 201 and none: %s", w.Code, h.chains[len(h.chains)-1].Request.Limit, w.Body)
	}
}

func TestALinkMayBeOnItsWaySinceYesterday(t *testing.T) {
	t.Parallel()
	body := asBody(t, func(h *HandOver) {
		h.Link.State, h.Link.Job, h.Link.Submitted, h.Link.Planned = "submitting", "", "", t0.Add(-23*time.Hour).String()
	})
	if w := (call{secret: adaSubmits, what: newChain, body: body}).answers(t, newHouse().serve(t, Limits{})); w.Code != 201 {
		t.Errorf("status %d, want 201: %s", w.Code, w.Body)
	}
}

func TestAScriptAsLargeAsSbatchTakesIsHandedOver(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]int{4 << 20: 201, 7 << 20: 413} {
		body := asBody(t, func(h *HandOver) { h.Submission.Script = make([]byte, size) })
		if w := (call{secret: adaSubmits, what: newChain, body: body}).answers(t, newHouse().serve(t, Limits{})); w.Code != want {
			t.Errorf("a script of %d bytes: status %d, want %d: %.200s", size, w.Code, want, w.Body)
		}
	}
}

// Names are told as text. A path is not told as another one.
func TestAHandOverIsText(t *testing.T) {
	t.Parallel()
	latin := "/home/j\xfcrgen"
	chain, first := aChain()
	chain.Name, chain.Request.QOS = "caf\xe9", "\xff"
	h, err := HandOverOf(chain, first)
	if err != nil || h.Name != "caf\uFFFD" || h.QOS != "\uFFFD" {
		t.Errorf("%v, the name %q and the QOS %q; want U+FFFD in both", err, h.Name, h.QOS)
	}
	chain.Submission.Dir, chain.Submission.Args[2] = latin, latin+"/job.sh"
	if h, err = HandOverOf(chain, first); err != nil || string(h.Submission.Dir) != latin || string(h.Submission.Args[2]) != latin+"/job.sh" {
		t.Errorf("%v, submitted in %q with %q; want every byte", err, h.Submission.Dir, h.Submission.Args)
	}
	for name, change := range map[string]func(*segue.Terms){
		"done file":    func(t *segue.Terms) { t.DoneFile = latin + "/done" },
		"ready folder": func(t *segue.Terms) { t.ReadyDir = latin + "/ready" },
	} {
		other := chain
		change(&other.Terms)
		if _, err := HandOverOf(other, first); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("a %s in Latin 1: %v, want an error of kind invalid", name, err)
		}
	}
}

// What is handed over is what was captured, whatever bytes it has.
func TestHandOverKeepsAChain(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.Map(rapid.SliceOf(rapid.ByteRange(1, 255)), func(b []byte) string { return string(b) })
		span := rapid.Map(rapid.Int64Range(0, 1e15), func(n int64) time.Duration { return time.Duration(n) })
		at := rapid.Map(rapid.Int64Range(-20*86400, 0), func(s int64) segue.Time { return t0.Add(time.Duration(s) * time.Second) })
		chain, first := aChain()
		chain.Name = rapid.StringN(0, 100, 1000).Draw(r, "name")
		chain.Created, first.Planned, first.Submitted = at.Draw(r, "created"), at.Draw(r, "planned"), at.Draw(r, "submitted")
		chain.Request.Limit = rapid.OneOf(rapid.Map(rapid.Int64Range(1, 1e6), func(s int64) time.Duration { return time.Duration(s) * time.Second }), rapid.SampledFrom([]time.Duration{segue.Unlimited, 0})).Draw(r, "limit")
		chain.Terms = segue.Terms{
			Prefer: segue.Preference(rapid.Float64Range(0.001, 1000).Draw(r, "prefer")), MaxLinks: rapid.IntRange(0, 1e6).Draw(r, "links"),
			MaxTime: span.Draw(r, "time"), DoneFile: "/" + text.Draw(r, "done"), DoneCodes: rapid.SliceOfN(rapid.IntRange(0, 255), 1, 9).Draw(r, "codes"),
			Startup: span.Draw(r, "startup"), MinLead: span.Draw(r, "least"), FastFail: span.Draw(r, "fast"), MaxFastFails: rapid.IntRange(0, 99).Draw(r, "fails"),
			MaxGPUHours: rapid.Float64Range(0, 1e9).Draw(r, "hours"), StopPredecessor: rapid.Bool().Draw(r, "stop"), ReadyDir: "/ready",
		}
		chain.Submission.Env = rapid.SliceOfN(text, 1, 9).Draw(r, "env")
		chain.Submission.Limits = []segue.ResourceLimit{{Name: "AS", Soft: rapid.Uint64().Draw(r, "soft"), Hard: rapid.Uint64().Draw(r, "hard")}}
		chain.Terms.DoneFile = strings.ToValidUTF8(chain.Terms.DoneFile, "?") // JSON's text
		told, err := HandOverOf(chain, first)
		if err != nil {
			r.Fatal(err)
		}
		content, err := json.Marshal(told)
		if err != nil {
			r.Fatal(err)
		}
		var h HandOver
		if err := json.Unmarshal(content, &h); err != nil {
			r.Fatal(err)
		}
		got, link, err := h.read(chain.ID, chain.User, t0)
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(chain, got) + cmp.Diff(first, link); diff != "" {
			r.Errorf("(-captured +handed over):\n%s", diff)
		}
	})
}
