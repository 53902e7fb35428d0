package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func aTraining(id string, started segue.Time) Training {
	return Training{
		ID: id, Cluster: "c", Cause: "schedule", Scheduled: started, Started: started, Ended: segue.NoTime, State: TrainingRunning, Step: "collect",
		Folder: "/runs/" + id,
	}
}

// Of a cluster one training runs at a time, and what has ended stays as it ended.
func TestTrainingsRunOneAtATime(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			if last, err := s.LastScheduled(t.Context(), "c"); err != nil || last.Known() {
				t.Errorf("at first the latest was at %s, %v; want none", last, err)
			}
			one := aTraining("1", t0)
			if err := s.BeginTraining(t.Context(), one); err != nil {
				t.Fatal(err)
			}
			wantKind(t, s.BeginTraining(t.Context(), aTraining("2", t0.Add(time.Hour))), segue.Conflict)
			elsewhere := aTraining("3", t0.Add(time.Hour))
			elsewhere.Cluster = "other"
			if err := s.BeginTraining(t.Context(), elsewhere); err != nil {
				t.Errorf("of another cluster: %v", err)
			}
			skipped := aTraining("4", t0.Add(2*time.Hour))
			skipped.State, skipped.Ended, skipped.Why = TrainingSkipped, skipped.Started, "Another one runs."
			if err := s.BeginTraining(t.Context(), skipped); err != nil {
				t.Errorf("one that is skipped: %v", err)
			}
			one.Step, one.State, one.Ended, one.Model, one.Why = "promote", TrainingKept, t0.Add(3*time.Hour), "m1", "It costs no less."
			if err := s.UpdateTraining(t.Context(), one); err != nil {
				t.Fatal(err)
			}
			one.State = TrainingPromoted
			wantKind(t, s.UpdateTraining(t.Context(), one), segue.Conflict)
			one.State = TrainingKept
			got, err := s.Trainings(t.Context(), "c", 10)
			if diff := cmp.Diff([]Training{skipped, one}, got); diff != "" || err != nil {
				t.Errorf("trainings, %v (-want +got):\n%s", err, diff)
			}
			if all, err := s.Trainings(t.Context(), "", 2); err != nil || len(all) != 2 || all[1].ID != "3" {
				t.Errorf("of all clusters %+v, %v; want the latest two", all, err)
			}
			if last, err := s.LastScheduled(t.Context(), "c"); err != nil || last != skipped.Scheduled {
				t.Errorf("the latest was scheduled at %s, %v; want %s", last, err, skipped.Scheduled)
			}
		})
	}
}

// A training whose process is gone is told by whoever comes next.
func TestAnInterruptedTrainingIsTold(t *testing.T) {
	t.Parallel()
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			if err := s.BeginTraining(t.Context(), aTraining("1", t0)); err != nil {
				t.Fatal(err)
			}
			if n, err := s.InterruptTrainings(t.Context(), "c", t0.Add(time.Hour)); err != nil || n != 1 {
				t.Errorf("%d interrupted, %v; want 1", n, err)
			}
			if err := s.BeginTraining(t.Context(), aTraining("2", t0.Add(time.Hour))); err != nil {
				t.Errorf("the next one: %v", err)
			}
			all, err := s.Trainings(t.Context(), "c", 1000)
			if err != nil || len(all) != 2 || all[1].State != TrainingInterrupted || all[1].Ended != t0.Add(time.Hour) {
				t.Errorf("trainings %+v, %v", all, err)
			}
		})
	}
}
