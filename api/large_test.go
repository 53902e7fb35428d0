package api

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// manyChains is how many one user hands over at once.
const manyChains = 80

// heldUp is a house where whoever hands over a large chain is held up until goOn is
// closed, and refused (422) then; each says so to begun.
func heldUp(t *testing.T) (h *house, large string, begun chan bool, goOn chan bool) {
	t.Helper()
	h, begun, goOn = newHouse(), make(chan bool, manyChains), make(chan bool)
	h.refuse = segue.Errorf(segue.Invalid, "no")
	h.meanwhile = func(chain segue.Chain) {
		if len(chain.Submission.Script) > largeHandOver/2 {
			begun <- true
			<-goOn
		}
	}
	h.tokens[HashOf("segue_ben_submits")] = Token{ID: "t9", User: "ben", Scopes: []Scope{ScopeSubmit}, Expires: segue.NoTime}
	large = asBody(t, func(o *HandOver) { o.Submission.Script = []byte("#!/bin/sh\n" + strings.Repeat("#", 6_000_000)) })
	return h, large, begun, goOn
}

func TestLargeHandOversAreFewAtOnceAndFewerOfAUser(t *testing.T) {
	t.Parallel()
	h, large, begun, goOn := heldUp(t)
	a := h.serve(t, Limits{})
	var all sync.WaitGroup
	for _, secret := range []string{adaSubmits, adaSubmits, operates} {
		all.Go(func() { call{secret: secret, what: newChain, body: large}.answers(t, a) })
		<-begun
	}
	w := call{secret: adaSubmits, what: newChain, body: large}.answers(t, a)
	if p := read[Problem](t, w); w.Code != 503 || p.Type != "urn:segue:problem:overloaded" || w.Header().Get("Retry-After") != "1" {
		t.Errorf("ada's third: %d %+v, again after %q; want 503, overloaded and 1", w.Code, p, w.Header().Get("Retry-After"))
	}
	all.Go(func() { call{secret: "segue_ben_submits", what: newChain, body: large}.answers(t, a) })
	<-begun
	got := map[string]int{}
	for what, c := range map[string]call{
		"a fifth":    {secret: operates, what: newChain, body: large},
		"a small":    {secret: adaSubmits, what: newChain, body: asBody(t, nil)},
		"a question": {secret: adaSubmits, what: "GET /v1/chains"},
	} {
		got[what] = c.answers(t, a).Code
	}
	close(goOn)
	all.Wait()
	got["afterwards"] = call{secret: adaSubmits, what: newChain, body: large}.answers(t, a).Code
	if diff := cmp.Diff(map[string]int{"a fifth": 503, "a small": 422, "a question": 200, "afterwards": 422}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// Whose hand-overs all wait, as while the scheduler is slow, has others ask all the same.
func TestHandOversOfAUserThatWaitAreFew(t *testing.T) {
	t.Parallel()
	h, begun, goOn := newHouse(), make(chan bool, manyChains), make(chan bool)
	h.refuse = segue.Errorf(segue.Invalid, "no")
	h.meanwhile = func(segue.Chain) { begun <- true; <-goOn }
	a := h.serve(t, Limits{})
	codes := make(chan int, manyChains)
	for range manyChains {
		go func() { codes <- call{secret: adaSubmits, what: newChain, body: asBody(t, nil)}.answers(t, a).Code }()
	}
	got := map[int]int{}
	for range mostHandedOf {
		<-begun
	}
	for range manyChains - mostHandedOf {
		got[<-codes]++
	}
	got[-1] = call{secret: adaSubmits, what: "GET /v1/chains"}.answers(t, a).Code
	close(goOn)
	for range mostHandedOf {
		got[<-codes]++
	}
	if diff := cmp.Diff(map[int]int{503: manyChains - mostHandedOf, 422: mostHandedOf, -1: 200}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// One user's 80 chains of 8 MB at once: what all of them take is what two do. It counts
// what is allocated, so no other test goes on beside it.
func TestOneUsersLargeChainsTakeLittleMemory(t *testing.T) { //nolint:paralleltest // see above
	const most = 150 << 20
	h, large, begun, goOn := heldUp(t)
	a := h.serve(t, Limits{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	codes := make(chan int, manyChains)
	for range manyChains {
		go func() { codes <- call{secret: adaSubmits, what: newChain, body: large}.answers(t, a).Code }()
	}
	got, held := map[int]int{}, 0
	for range manyChains {
		select {
		case code := <-codes:
			got[code]++
		case <-begun:
			held++
		}
	}
	runtime.ReadMemStats(&after)
	close(goOn)
	for range held {
		got[<-codes]++
	}
	if diff := cmp.Diff(map[int]int{503: manyChains - mostLargeOf, 422: mostLargeOf}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("%d chains took %d MiB, want at most %d", manyChains, took>>20, most>>20)
	} else {
		t.Logf("%d chains took %d MiB", manyChains, took>>20)
	}
}
