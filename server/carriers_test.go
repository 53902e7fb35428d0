package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// aQueue is a scheduler that shows jobs, and says of some how they were submitted.
type aQueue struct {
	fileCluster
	accounting bool
	recorded   map[int64]schedulers.Status
	takes      time.Duration // to show them
	during     func()        // called meanwhile; nil for nothing

	mu    sync.Mutex
	jobs  []schedulers.Job
	err   error
	looks int
}

func (q *aQueue) State(ctx context.Context) (schedulers.State, error) {
	if q.takes > 0 { // in a bubble of synctest
		_ = schedulers.Sleep(ctx, q.takes)
	}
	if q.during != nil {
		q.during()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looks++
	return schedulers.State{At: realNow(), Jobs: q.jobs}, q.err
}

func (q *aQueue) shows(jobs ...schedulers.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = jobs
}

func (q *aQueue) Capabilities(context.Context) (schedulers.Capabilities, error) {
	return schedulers.Capabilities{Accounting: q.accounting, TokenSearch: q.accounting}, nil
}

func (q *aQueue) Status(_ context.Context, ids []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	known := map[segue.JobID]schedulers.Status{}
	for _, id := range ids {
		if s, ok := q.recorded[id.Number]; ok {
			known[id] = s
		}
	}
	return known, nil
}

// job is one of a user's that carries the token of a chain's first link.
func job(number int64, user, chain string) schedulers.Job {
	return schedulers.Job{
		QueuedJob: segue.QueuedJob{ID: segue.JobID{Number: number}, Request: segue.Request{User: user}},
		Comment:   "mine segue:" + chain + "/1.1",
	}
}

func onRecord(user, token string) schedulers.Status {
	return schedulers.Status{User: user, Token: token}
}

func TestAChainIsTheirsWhoseJobCarriesItsToken(t *testing.T) {
	t.Parallel()
	const token = "segue:abc123/1.1"
	for name, tt := range map[string]struct {
		jobs     []schedulers.Job
		recorded map[int64]schedulers.Status // nil without accounting
		away     error
		want     segue.Kind
		taken    bool
	}{
		"nobody's job has it: it is adopted":       {jobs: []schedulers.Job{job(7, "nobody", "other1")}, taken: true},
		"the user's own has it":                    {jobs: []schedulers.Job{job(7, "nobody", "abc123")}, taken: true},
		"another user's has it":                    {jobs: []schedulers.Job{job(7, "daemon", "abc123")}, want: segue.Conflict},
		"another user has copied it":               {jobs: []schedulers.Job{job(8, "daemon", "abc123"), job(7, "nobody", "abc123")}, taken: true},
		"the user has copied it":                   {jobs: []schedulers.Job{job(8, "nobody", "abc123"), job(7, "daemon", "abc123")}, want: segue.Conflict},
		"nobody says whose job has it":             {jobs: []schedulers.Job{job(7, "", "abc123")}, want: segue.Unavailable},
		"a copy of which nobody says whose":        {jobs: []schedulers.Job{job(7, "nobody", "abc123"), job(8, "", "abc123")}, taken: true},
		"the scheduler does not answer":            {away: errors.New("no route to host"), want: segue.Unavailable},
		"an older job was given the comment":       {jobs: []schedulers.Job{job(6, "daemon", "abc123"), job(7, "nobody", "abc123")}, recorded: map[int64]schedulers.Status{6: onRecord("daemon", ""), 7: onRecord("nobody", token)}, taken: true},
		"and the link is not on record yet":        {jobs: []schedulers.Job{job(6, "daemon", "abc123"), job(7, "nobody", "abc123")}, recorded: map[int64]schedulers.Status{6: onRecord("daemon", "")}, taken: true},
		"the user's older one was given it":        {jobs: []schedulers.Job{job(6, "nobody", "abc123"), job(7, "daemon", "abc123")}, recorded: map[int64]schedulers.Status{6: onRecord("nobody", ""), 7: onRecord("daemon", token)}, want: segue.Conflict},
		"the link is forgotten, and a copy is not": {jobs: []schedulers.Job{job(8, "daemon", "abc123")}, recorded: map[int64]schedulers.Status{7: onRecord("nobody", token), 8: onRecord("daemon", token)}, taken: true},
		"the link is another's on record too":      {jobs: []schedulers.Job{job(8, "daemon", "abc123")}, recorded: map[int64]schedulers.Status{7: onRecord("daemon", token), 8: onRecord("daemon", token)}, want: segue.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			in := newTestIntake(t, s, Config{Driver: &aQueue{jobs: tt.jobs, err: tt.away, accounting: tt.recorded != nil, recorded: tt.recorded}, Root: true, User: "root"})
			chain, first := handedOver("abc123", "nobody", 7)
			err := in.Create(t.Context(), chain, first)
			if segue.KindOf(err) != tt.want || (err == nil) != tt.taken {
				t.Errorf("error %v (%s), want kind %s, taken %t", err, segue.KindOf(err), tt.want, tt.taken)
			}
			if _, err := s.Chain(t.Context(), "abc123"); (err == nil) != tt.taken {
				t.Errorf("then the store says: %v", err)
			}
		})
	}
}

// A server may have looked before either job was there.
func TestAYoungJobIsLookedForAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		jobs []schedulers.Job
		want segue.Kind
	}{
		"the user's own":               {[]schedulers.Job{job(7, "nobody", "abc123")}, segue.Other},
		"another user's":               {[]schedulers.Job{job(7, "daemon", "abc123")}, segue.Conflict},
		"the user's, which was copied": {[]schedulers.Job{job(7, "nobody", "abc123"), job(8, "daemon", "abc123")}, segue.Other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := &aQueue{jobs: []schedulers.Job{job(8, "daemon", "abc123")}}
			in := newTestIntake(t, openStore(t), Config{Driver: queue, Root: true, User: "root"})
			if _, err := in.carriers.cluster.State(t.Context()); err != nil {
				t.Fatal(err)
			}
			queue.shows(tt.jobs...)
			chain, first := handedOver("abc123", "nobody", 7)
			if err := in.Create(t.Context(), chain, first); segue.KindOf(err) != tt.want || (err == nil) != (tt.want == segue.Other) {
				t.Error(err)
			}
		})
	}
}

// A thousand hand-overs within a minute cost no more than the scheduler can bear.
func TestManyHandOversKeepTheSchedulerBusyHalfOfTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const takes = 2 * time.Second
		queue := &aQueue{takes: takes}
		cluster, err := schedulers.New(queue, schedulers.Config{Now: realNow})
		if err != nil {
			t.Fatal(err)
		}
		c := newCarriers(cluster, Config{Now: realNow})
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				_ = schedulers.Sleep(t.Context(), time.Duration(i)*60*time.Millisecond)
				arrived := realNow()
				look, err := c.lookedSince(t.Context(), arrived)
				if err != nil || look.began < arrived {
					t.Errorf("hand-over %d is told %v, of a look that began %s before it came", i, err, arrived.Sub(look.began))
				}
				if waited := realNow().Sub(arrived); waited > 3*takes {
					t.Errorf("hand-over %d waits for %s", i, waited)
				}
			})
		}
		all.Wait()
		if most := int(time.Minute/(2*takes)) + 2; queue.looks > most {
			t.Errorf("%d looks, want at most %d", queue.looks, most)
		}
	})
}

// Whoever asks may go while the scheduler is asked: that is nobody else's failure.
func TestALookServesOthersWhenWhoAskedHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := &aQueue{takes: time.Minute / 2}
		cluster, err := schedulers.New(queue, schedulers.Config{Now: realNow})
		if err != nil {
			t.Fatal(err)
		}
		c := newCarriers(cluster, Config{Now: realNow})
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		came := realNow()
		_, first := c.lookedSince(gone, came)
		_, second := c.lookedSince(t.Context(), came)
		if first != nil || second != nil || queue.looks != 1 {
			t.Errorf("%v, %v after %d looks; want one that serves both", first, second, queue.looks)
		}
	})
}

// A queue that takes longer to show than a request may take is told to who comes again.
func TestASluggishQueueServesWhoComesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := &aQueue{takes: 11 * time.Second, jobs: []schedulers.Job{job(7, "nobody", "abc123")}}
		cluster, err := schedulers.New(queue, schedulers.Config{Now: realNow})
		if err != nil {
			t.Fatal(err)
		}
		c := newCarriers(cluster, Config{Now: realNow})
		chain, first := handedOver("abc123", "nobody", 7)
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			came := realNow()
			err = c.refuse(ctx, chain, first)
			if err == nil && ctx.Err() == nil && realNow().Sub(came) < time.Second {
				return
			}
		}
		t.Errorf("the second time: %v", err)
	})
}

// A clock that is set, between two looks or during one, neither has an old look serve nor
// lets who asks wait until it is as late again.
func TestLooksGoOnWhenTheClockIsSet(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ fast, then time.Duration }{
		"back":    {time.Hour, 0},
		"forward": {0, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				queue := &aQueue{takes: time.Second}
				fast := tt.fast
				now := func() segue.Time { return realNow().Add(fast) }
				cluster, err := schedulers.New(queue, schedulers.Config{Now: now})
				if err != nil {
					t.Fatal(err)
				}
				c := newCarriers(cluster, Config{Now: now})
				queue.during = func() { fast = tt.then }
				if _, err := c.lookedSince(t.Context(), now()); err != nil {
					t.Fatal(err)
				}
				queue.during = nil
				came := realNow()
				if _, err := c.lookedSince(t.Context(), now()); err != nil || queue.looks != 2 || realNow().Sub(came) > 2*longestLook {
					t.Errorf("%d looks after %s: %v; want a second one at once", queue.looks, realNow().Sub(came), err)
				}
			})
		})
	}
}

// A scheduler that did not answer is asked again for who comes again.
func TestAFailedLookServesNobodyWhoComesAgain(t *testing.T) {
	t.Parallel()
	queue := &aQueue{err: errors.New("no route to host"), jobs: []schedulers.Job{job(7, "nobody", "abc123")}}
	in := newTestIntake(t, openStore(t), Config{Driver: queue, Root: true, User: "root"})
	chain, first := handedOver("abc123", "nobody", 7)
	if err := in.Create(t.Context(), chain, first); segue.KindOf(err) != segue.Unavailable {
		t.Fatalf("while the scheduler is away: %v, want an error of kind unavailable", err)
	}
	queue.mu.Lock()
	queue.err = nil
	queue.mu.Unlock()
	if err := in.Create(t.Context(), chain, first); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

func TestARefusalNamesNobody(t *testing.T) {
	t.Parallel()
	in := newTestIntake(t, openStore(t), Config{Driver: &aQueue{jobs: []schedulers.Job{job(7, "daemon", "abc123")}}, Root: true, User: "root"})
	chain, first := handedOver("abc123", "nobody", 999)
	err := in.Create(t.Context(), chain, first)
	if want := "job 7, another user's, carries the token of chain abc123"; err == nil || !strings.Contains(fmt.Sprint(err), want) || strings.Contains(err.Error(), "daemon") {
		t.Errorf("error is %v, want %q", err, want)
	}
}
