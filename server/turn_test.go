package server

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
)

// waiting returns once n wait for a turn.
func waiting(t *testing.T, of *turn, n int) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for {
		of.mu.Lock()
		now := len(of.urgent) + len(of.others)
		of.mu.Unlock()
		if now == n {
			return
		}
		select {
		case <-again.C:
		case <-t.Context().Done():
			t.Fatalf("%d wait, want %d", now, n)
		}
	}
}

func TestADecisionOfAChainComesBeforeQuestionsThatWait(t *testing.T) {
	t.Parallel()
	srv, _, cluster := newAsked(t, AdviceConfig{})
	a := srv.advisor
	if err := a.begin(t.Context(), false); err != nil { // somebody works
		t.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() {
		_, err := a.Advise(context.WithoutCancel(t.Context()), aQuestion())
		ended <- err
	}()
	waiting(t, &a.turn, 1)
	state, err := cluster.fileCluster.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		q := provisioner.Question{Request: aQuestion().Request, Remaining: time.Hour, Prefer: segue.Balanced}
		_, err := a.Decide(context.WithoutCancel(t.Context()), state, q)
		ended <- err
	}()
	waiting(t, &a.turn, 2)
	a.turn.mu.Lock()
	urgent, others := len(a.turn.urgent), len(a.turn.others)
	a.turn.mu.Unlock()
	if urgent != 1 || others != 1 {
		t.Errorf("%d wait as urgent and %d not, want the decision and the question", urgent, others)
	}
	a.turn.give()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestATurnComesInOrderAndPassesThoseWhoHaveLeft(t *testing.T) {
	t.Parallel()
	var turn turn
	if err := turn.take(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	order := make(chan string)
	wait := func(ctx context.Context, name string, urgent bool) {
		turn.mu.Lock()
		n := len(turn.urgent) + len(turn.others)
		turn.mu.Unlock()
		go func() {
			if err := turn.take(ctx, urgent); err != nil {
				order <- name + " left: " + segue.KindOf(err).String()
				return
			}
			order <- name
		}()
		waiting(t, &turn, n+1)
	}
	leaving, leave := context.WithCancel(t.Context())
	wait(t.Context(), "first", false)
	wait(leaving, "second", false)
	wait(t.Context(), "third", false)
	wait(t.Context(), "urgent", true)
	wait(t.Context(), "also urgent", true)
	leave()
	got := []string{<-order}
	for range 4 {
		turn.give()
		got = append(got, <-order)
	}
	turn.give()
	if err := turn.take(t.Context(), false); err != nil {
		t.Errorf("afterwards it is not free: %v", err)
	}
	want := []string{"second left: unavailable", "urgent", "also urgent", "first", "third"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
