package store

import (
	"context"

	"github.com/segue-project/segue"
)

// Training is a training of a model for a cluster, and what came of it.
type Training struct {
	ID        string // sorts by the instant at which it began
	Cluster   string
	Cause     string     // "schedule", "catch-up" or "hand"
	Scheduled segue.Time // NoTime for one by hand
	Started   segue.Time
	Ended     segue.Time // NoTime while it runs
	State     TrainingState
	Step      string // the latest that began
	Why       string // of the verdict, or of the failure
	Model     string // its ID, "" while there is none
	Folder    string // with the log, the history and the report
}

// TrainingState says how far a training is.
type TrainingState string

// The states of a training. All but the first are final.
const (
	TrainingRunning     TrainingState = "running"
	TrainingPromoted    TrainingState = "promoted"    // its model decides now
	TrainingKept        TrainingState = "kept"        // the model before it goes on deciding
	TrainingFailed      TrainingState = "failed"      // Why says why
	TrainingInterrupted TrainingState = "interrupted" // the process that ran it is gone
	TrainingSkipped     TrainingState = "skipped"     // another one ran
)

const trainingColumns = `id, cluster, cause, scheduled, started, ended, state, step, why, model, folder`

// BeginTraining records a training that begins, or one that is skipped. Conflict
// says that one of the same cluster runs.
func (s *Store) BeginTraining(ctx context.Context, t Training) (err error) {
	defer s.wrap(&err, "begin training %s", t.ID)
	return s.change(ctx, func(x tx) error {
		_, err := x.exec(`INSERT INTO trainings (`+trainingColumns+`) VALUES (`+placeholders(11)+`)`, t.ID, text(t.Cluster), t.Cause,
			instant(t.Scheduled), int64(t.Started), instant(t.Ended), string(t.State), text(t.Step), text(t.Why), text(t.Model), text(t.Folder))
		return err
	})
}

// UpdateTraining records how far a training that runs is, or how it ended.
// Conflict says that it does not run any more.
func (s *Store) UpdateTraining(ctx context.Context, t Training) (err error) {
	defer s.wrap(&err, "update training %s", t.ID)
	return s.change(ctx, func(x tx) error {
		n, err := x.exec(`UPDATE trainings SET ended = $2, state = $3, step = $4, why = $5, model = $6 WHERE id = $1 AND state = 'running'`,
			t.ID, instant(t.Ended), string(t.State), text(t.Step), text(t.Why), text(t.Model))
		if err == nil && n == 0 {
			err = segue.Errorf(segue.Conflict, "it does not run")
		}
		return err
	})
}

// InterruptTrainings records that the trainings of a cluster that seem to run are
// gone with the process that ran them: for whoever holds the lease on them now.
func (s *Store) InterruptTrainings(ctx context.Context, cluster string, now segue.Time) (n int64, err error) {
	defer s.wrap(&err, "look for trainings that were interrupted")
	err = s.change(ctx, func(x tx) (err error) {
		n, err = x.exec(`UPDATE trainings SET ended = $2, state = 'interrupted', why = 'The process that ran it is gone.' WHERE cluster = $1 AND state = 'running'`,
			text(cluster), int64(now))
		return err
	})
	return n, err
}

// Trainings returns the latest n trainings of a cluster, of all clusters when it is
// "", the latest first.
func (s *Store) Trainings(ctx context.Context, cluster string, n int) (all []Training, err error) {
	defer s.wrap(&err, "list trainings")
	return collect(ctx, s.read, func(row scanner) (t Training, err error) {
		err = row.Scan(&t.ID, &t.Cluster, &t.Cause, toInstant{&t.Scheduled}, toInstant{&t.Started}, toInstant{&t.Ended}, &t.State, &t.Step, &t.Why, &t.Model, &t.Folder)
		return t, err
	}, `SELECT `+trainingColumns+` FROM trainings WHERE $1 IN ('', cluster) ORDER BY started DESC, id DESC LIMIT $2`, text(cluster), n)
}

// LastScheduled returns the instant of the latest scheduled training of a cluster
// that began or was skipped, NoTime if there was none.
func (s *Store) LastScheduled(ctx context.Context, cluster string) (last segue.Time, err error) {
	defer s.wrap(&err, "look for the latest scheduled training")
	err = s.read.QueryRowContext(ctx, `SELECT max(scheduled) FROM trainings WHERE cluster = $1`, text(cluster)).Scan(toInstant{&last})
	return last, err
}
