package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

const (
	mostPauses = 200 // chains that there are to be paused
	broughtBy  = 10  // jobs of an import
)

// writers are clients of a server that write until judge, each thing under a key of
// its own, and ask again until they have an answer.
type writers struct {
	*service
	to   atomic.Pointer[running]
	stop context.CancelFunc
	work sync.WaitGroup
	todo chan string // chains to be paused

	mu      sync.Mutex
	paused  map[string]bool // chains of which it was answered that they are
	open    []string        // chains of which nobody has heard yet what became of them
	imports []int           // that were answered
}

func bystanderID(i int) string { return fmt.Sprintf("b%05d", i) }

// bystanders makes the chains that writers pause, before a server looks after them.
func (s *service) bystanders() {
	s.t.Helper()
	for i := range mostPauses {
		s.bystander(bystanderID(i), segue.JobID{Number: int64(1_000_000 + i)})
	}
}

// newWriters begins to write. There are bystanders.
func newWriters(s *service, r *running) *writers {
	s.t.Helper()
	w := &writers{service: s, todo: make(chan string, mostPauses), paused: map[string]bool{}}
	w.to.Store(r)
	for i := range mostPauses {
		w.todo <- bystanderID(i)
	}
	ctx, stop := context.WithCancel(s.t.Context())
	w.stop = stop
	for range 3 {
		w.work.Go(func() { w.pauses(ctx) })
	}
	w.work.Go(func() { w.brings(ctx) })
	s.t.Cleanup(func() {
		stop()
		w.work.Wait()
	})
	return w
}

// pauses pauses chain after chain.
func (w *writers) pauses(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case id := <-w.todo:
			if !w.pauseOne(ctx, id) {
				w.mu.Lock()
				w.open = append(w.open, id)
				w.mu.Unlock()
			}
		default: // all are paused
		}
		pause(ctx, 40*time.Millisecond)
	}
}

// pauseOne asks that a chain be paused until it is told that it is, or that somebody
// works on it.
func (w *writers) pauseOne(ctx context.Context, id string) (heard bool) {
	for {
		status, text, _ := w.to.Load().ask(http.MethodPost, "/v1/chains/"+id+"/pause", id, "")
		switch {
		case status == http.StatusOK, status == http.StatusConflict && strings.Contains(text, "paused already"):
			w.mu.Lock()
			w.paused[id] = true
			w.mu.Unlock()
			return true
		case status == http.StatusConflict && strings.Contains(text, "is being worked on"):
			return false
		case status != 0 && status < http.StatusInternalServerError:
			w.t.Errorf("pause %s: %d %s", id, status, text)
			return true
		}
		if pause(ctx, 40*time.Millisecond); ctx.Err() != nil {
			return false
		}
	}
}

// brings imports history after history.
func (w *writers) brings(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		var swf strings.Builder
		swf.WriteString("; MaxNodes: 8\n; UnixStartTime: 1767225600\n")
		for n := range broughtBy { // job, submit, wait, run, nodes, ...
			fmt.Fprintf(&swf, "%d %d 60 7200 2 -1 -1 2 14400 -1 1 1 1 -1 1 1 -1 -1\n", i*broughtBy+n+1, (i*broughtBy+n)*600)
		}
		for {
			status, text, _ := w.to.Load().ask(http.MethodPost, "/v1/histories/brought/import", fmt.Sprint("import-", i), swf.String())
			if status == http.StatusOK {
				w.mu.Lock()
				w.imports = append(w.imports, i)
				w.mu.Unlock()
			} else if status != 0 && status < http.StatusInternalServerError && status != http.StatusConflict {
				w.t.Errorf("import %d: %d %s", i, status, text)
			}
			if status != 0 && status < http.StatusInternalServerError {
				break // a conflict is for a later day: somebody may work on it
			}
			if pause(ctx, 40*time.Millisecond); ctx.Err() != nil {
				return
			}
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// judge ends the writing, and wants all that was answered to be there, once.
func (w *writers) judge() {
	w.t.Helper()
	pause(w.t.Context(), time.Second)
	w.stop()
	w.work.Wait()
	open := w.open
	w.until("what nobody had heard of is answered", func() bool {
		var still []string
		for _, id := range open {
			if !w.pauseOne(w.t.Context(), id) {
				still = append(still, id)
			}
		}
		open = still
		return len(open) == 0
	})
	chains, err := w.store.Chains(w.t.Context(), store.ChainQuery{})
	if err != nil {
		w.t.Fatal(err)
	}
	states := map[string]segue.ChainState{}
	for _, c := range chains {
		states[c.ID] = c.State
	}
	for i := range mostPauses {
		id := bystanderID(i)
		if want := map[bool]segue.ChainState{true: segue.ChainPaused, false: segue.ChainActive}[w.paused[id]]; states[id] != want {
			w.t.Errorf("chain %s is %s, want %s", id, states[id], want)
		}
	}
	w.judgeOnce()
	w.judgeImports()
	w.t.Logf("%d chains paused, of which nobody had heard at first of %d; %d imports", len(w.paused), len(w.open), len(w.imports))
	if len(w.paused) < mostPauses/10 || len(w.imports) < 5 {
		w.t.Error("hardly anything was written")
	}
}

// judgeOnce wants each chain to have been paused once: by the audit log, and by what
// is answered to whoever asks again.
func (w *writers) judgeOnce() {
	w.t.Helper()
	done, begun := map[string]int{}, map[string]int{}
	lines, err := w.store.AuditLog(w.t.Context(), store.AuditQuery{Limit: 100_000})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, l := range lines {
		if l.Action == "pause-chain" {
			begun[l.Object]++
			if l.Status == http.StatusOK {
				done[l.Object]++
			}
		}
	}
	for id := range w.paused {
		if begun[id] < 1 || done[id] > 1 {
			w.t.Errorf("chain %s: the audit log has %d lines, of which %d tell that it was paused; want some, and at most one", id, begun[id], done[id])
		}
		if status, text, replayed := w.to.Load().ask(http.MethodPost, "/v1/chains/"+id+"/pause", id, ""); !replayed {
			w.t.Errorf("asked again to pause %s: %d %s, want the same answer once more", id, status, text)
		}
	}
}

// judgeImports wants the jobs of every import that was answered to be there.
func (w *writers) judgeImports() {
	w.t.Helper()
	there := map[int64]int{}
	for j, err := range w.store.Jobs(w.t.Context(), store.JobQuery{Cluster: "brought"}) {
		if err != nil {
			w.t.Fatal(err)
		}
		there[j.ID.Number]++
	}
	for _, i := range w.imports {
		for n := range broughtBy {
			if number := int64(i*broughtBy + n + 1); there[number] != 1 {
				w.t.Errorf("job %d of import %d is there %d times, want once", number, i, there[number])
			}
		}
	}
}
