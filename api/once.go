package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
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
	switch {
	case err != nil:
		a.told(ctx.Operation().OperationID, err).write(w)
	case !mine:
		replay(w, known, claim.Fingerprint)
	default:
		rec := &recorder{ResponseWriter: w, keep: maxAnswer}
		next(humago.NewContext(ctx.Operation(), r, rec))
		a.settle(r.Context(), claim, rec)
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

// settle keeps the answer, unless the server failed: then the write may be tried
// again. What the store does not take now it gets when somebody asks again.
func (a *API) settle(ctx context.Context, claim Answer, rec *recorder) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settling)
	defer cancel()
	if rec.code() < http.StatusInternalServerError {
		claim.Status, claim.Kind, claim.Body = rec.code(), rec.Header().Get("Content-Type"), rec.body.Bytes()
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

func replay(w http.ResponseWriter, known Answer, fingerprint string) {
	switch {
	case known.Fingerprint != fingerprint:
		sorts[segue.Invalid].problem("this " + keyHeader + " was used for another request").write(w)
	case known.Status == 0:
		p := sorts[segue.Conflict].problem("a request with this " + keyHeader + " is being worked on")
		p.retryAfter = 5
		p.write(w)
	default:
		w.Header().Set("Content-Type", known.Kind)
		w.Header().Set("Idempotency-Replayed", "true")
		w.WriteHeader(known.Status)
		_, _ = w.Write(known.Body)
	}
}

// fingerprint tells requests apart by what they ask for. Of a body only its length
// counts: it may be a history of gigabytes.
func fingerprint(r *http.Request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", r.Method, r.URL.RequestURI(), r.ContentLength))
	return hex.EncodeToString(sum[:])
}
