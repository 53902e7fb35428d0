package api

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/segue-project/segue"
)

// once answers a write that was answered before with the same answer.
func (a *API) once(ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	key := r.Header.Get(keyHeader)
	if key == "" {
		next(ctx)
		return
	}
	caller, _ := callerOf(r.Context())
	claim := Answer{Owner: caller.User, Key: key, Fingerprint: fingerprint(r)}
	if len(key) > maxKey {
		sorts[segue.Invalid].problem(fmt.Sprintf("%s: want at most %d characters", keyHeader, maxKey)).write(w)
		return
	}
	if err := a.settleLate(r.Context(), claim); err != nil {
		a.told(ctx.Operation().OperationID, err).write(w)
		return
	}
	known, mine, err := a.services.Answers.Claim(r.Context(), claim, a.answeredWithin(r))
	body := readThrough(r)
	switch {
	case err != nil:
		a.told(ctx.Operation().OperationID, err).write(w)
	case !mine:
		a.replay(w, r, known, body)
	default:
		defer a.working.begin(claim)()
		rec := &recorder{ResponseWriter: w, keep: maxAnswer}
		next(humago.NewContext(ctx.Operation(), r, rec))
		a.settle(r.Context(), claim, rec, body)
	}
}

// answeredWithin is how long a request to write may be worked on: one that is not
// answered by then was to be answered by a server that is gone.
func (a *API) answeredWithin(r *http.Request) time.Duration {
	limits := a.limits.Load()
	most := limits.Time
	if isImport(r) {
		most = limits.ImportTime
	}
	return most + 2*settling // for the audit log, and for the answer
}

// settle keeps the answer, with what the whole request was, unless the server failed
// or the request did not come to its end: then the write may be tried again. What the
// store does not take now it gets when somebody asks again.
func (a *API) settle(ctx context.Context, claim Answer, rec *recorder, body *hashed) {
	sum, whole := body.sum()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settling)
	defer cancel()
	if done := rec.code() < http.StatusBadRequest; done || whole && rec.code() < http.StatusInternalServerError {
		claim.Fingerprint = withBody(claim.Fingerprint, sum)
		claim.Status, claim.Kind, claim.Body = rec.code(), rec.Header().Get("Content-Type"), rec.body.Bytes()
		if rec.cut {
			claim.Kind, claim.Body = "", nil // half of it is of no use: see tellAgain
		}
	}
	if err := a.keep(ctx, claim); err != nil {
		a.cfg.Log.Warn("answer is not kept", "error", err)
		a.late.put(claim)
	}
}

// keep keeps the answer to a claim, or gives the claim up where there is none.
func (a *API) keep(ctx context.Context, claim Answer) error {
	if claim.Status == 0 {
		return a.services.Answers.Drop(ctx, claim.Owner, claim.Key)
	}
	return a.services.Answers.Keep(ctx, claim)
}

// settleLate settles an earlier request with the same key, of which the store could
// not be told what became of it.
func (a *API) settleLate(ctx context.Context, claim Answer) error {
	late, ok := a.late.take(claim)
	if !ok {
		return nil
	}
	err := a.keep(ctx, late)
	if err != nil {
		a.late.put(late)
	}
	return err
}

// maxLate bounds how many answers wait for the store.
const maxLate = 1000

// lateAnswers are answers that the store does not know of yet. Those beyond maxLate
// are lost: the store gives up their claims in time.
type lateAnswers struct {
	mu  sync.Mutex
	all map[[2]string]Answer // by owner and key
}

func (l *lateAnswers) put(a Answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[[2]string]Answer{}
	}
	if len(l.all) < maxLate {
		l.all[[2]string{a.Owner, a.Key}] = a
	}
}

func (l *lateAnswers) take(a Answer) (Answer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := [2]string{a.Owner, a.Key}
	late, ok := l.all[key]
	delete(l.all, key)
	return late, ok
}

// replay answers a request that came before with the same key, if it is the same one
// to its last byte.
func (a *API) replay(w http.ResponseWriter, r *http.Request, known Answer, body *hashed) {
	asked := fingerprint(r)
	other := sorts[segue.Invalid].problem("this " + keyHeader + " was used for another request")
	if !strings.HasPrefix(known.Fingerprint, asked) {
		other.write(w)
		return
	}
	if known.Status == 0 { // the body of the other one is not known yet
		a.beingWorkedOn(w, r, known)
		return
	}
	sum, whole := body.sum()
	switch {
	case !whole:
		problemOf(unread(body.err)).write(w)
	case known.Fingerprint != withBody(asked, sum):
		other.write(w)
	case known.Kind == "" && len(known.Body) == 0:
		a.tellAgain(w, r, known)
	default:
		w.Header().Set("Content-Type", known.Kind)
		w.Header().Set(replayedHeader, "true")
		w.WriteHeader(known.Status)
		_, _ = w.Write(known.Body)
	}
}

// beingWorkedOn refuses a request whose answer nobody has given yet: for a few seconds
// where this server works on it, otherwise until it is given up.
func (a *API) beingWorkedOn(w http.ResponseWriter, r *http.Request, known Answer) {
	p := sorts[segue.Conflict].problem("a request with this " + keyHeader + " is being worked on")
	p.retryAfter = 5
	if !a.working.on(known) {
		until := known.At.Add(a.answeredWithin(r))
		p.Detail += " by another server, or by one that is gone: then it may be made again at " + until.String()
		p.retryAfter = max(1, int(math.Ceil(until.Sub(a.cfg.Now()).Seconds())))
	}
	p.write(w)
}

// tellAgain answers a write whose answer was too large to be kept: with its chain as it
// is now.
func (a *API) tellAgain(w http.ResponseWriter, r *http.Request, known Answer) {
	id := r.PathValue("id")
	if id == "" {
		sorts[segue.Conflict].problem(fmt.Sprintf("this was done, with status %d; the answer was too large to be kept", known.Status)).write(w)
		return
	}
	out, err := a.getChain(r.Context(), &ChainInput{ID: id})
	if err != nil {
		a.told("get-chain", err).write(w)
		return
	}
	w.Header().Set(replayedHeader, "true")
	answer(w, known.Status, out.Body)
}

// workedOn are the claims that this server works on.
type workedOn struct {
	mu  sync.Mutex
	all map[[2]string]bool // by owner and key
}

// begin notes a claim until end.
func (o *workedOn) begin(a Answer) (end func()) {
	key := [2]string{a.Owner, a.Key}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil {
		o.all = map[[2]string]bool{}
	}
	o.all[key] = true
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.all, key)
	}
}

func (o *workedOn) on(a Answer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all[[2]string{a.Owner, a.Key}]
}
