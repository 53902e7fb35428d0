package nightly_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer/nightly"
)

// A training that is due and cannot begin is a row that failed, and somebody is told:
// once for each reason, by one of several servers, and not before it is due.
func TestATrainingThatCannotBeginIsToldOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Cluster, r.cfg.Schedule = "", "0 2 * * *"
	several, none := errors.New("training.cluster is missing"), errors.New("there is no trainer")
	server := func() *nightly.Unable {
		t.Helper()
		u, err := nightly.NewUnable(r.store, r.cfg)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	one, two := server(), server()
	for _, step := range []struct {
		after time.Duration
		why   error
		want  int // told of by then
	}{
		{0, several, 0},
		{time.Hour, several, 0},
		{2 * time.Hour, several, 1},
		{2*time.Hour + time.Minute, several, 1},
		{day + 2*time.Hour, several, 1},
		{day + 3*time.Hour, none, 1},
		{2*day + 2*time.Hour, none, 2},
	} {
		r.now = midnight.Add(step.after)
		for _, u := range []*nightly.Unable{one, two} {
			if err := u.RunOnce(t.Context(), step.why); err != nil {
				t.Fatal(err)
			}
		}
		if len(r.told) != step.want {
			t.Errorf("after %s since %v they are told of %d, want %d", step.after, step.why, len(r.told), step.want)
		}
	}
	all, err := r.store.Trainings(t.Context(), "", 10)
	if err != nil {
		t.Fatal(err)
	}
	at := midnight.Add(2 * time.Hour)
	want := store.Training{
		ID: "20230301-020000", Cause: "schedule", Scheduled: segue.NoTime, Started: at, Ended: at, State: store.TrainingFailed, Step: "begin",
		Why: "It cannot begin: training.cluster is missing",
	}
	if diff := cmp.Diff(want, all[len(all)-1]); diff != "" || len(all) != 2 {
		t.Errorf("the first of %d (-want +got):\n%s", len(all), diff)
	}
}
