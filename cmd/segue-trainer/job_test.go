//go:build native

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/store"
)

// A training is a job of the cluster where its command begins with srun, and one that is
// stopped while its job waits leaves no job behind.
func TestATrainingIsAJobOfTheCluster(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	trainer := filepath.Join(dir, "segue-trainer") // by which name this program is it
	if err := os.Symlink(program, trainer); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(dir, "segue.db"), store.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	jobs, err := made(60)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.ImportJobs(t.Context(), "c", func(yield func(segue.Job, error) bool) {
		for j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slurm := slurmtest.Start(t, slurmtest.Config{Accounting: true})
	now := endOfHistory
	n, err := nightlyOf(s, filepath.Join(dir, "runs"), filepath.Join(dir, "models"), func() segue.Time { return now }, "env", "SLURM_CONF="+slurm.Conf, "srun", "--time=5", "--chdir="+dir, trainer)
	if err != nil {
		t.Fatal(err)
	}
	command := func(name string, args ...string) string {
		t.Helper()
		out, err := slurm.Command(t.Context(), name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		return string(out)
	}
	queue := func() string { return command("squeue", "--noheader", "--states=all", "--sort=i", "--format=%i %j %T") }

	done, err := n.Now(t.Context())
	if err != nil || done.State != store.TrainingPromoted && done.State != store.TrainingKept {
		log, _ := os.ReadFile(filepath.Join(dir, "runs", done.ID, "log"))
		t.Fatalf("the training is %s: %s, %v\n%s", done.State, done.Why, err, log)
	}
	if got, want := queue(), "1 segue-trainer COMPLETED\n2 segue-trainer COMPLETED\n"; got != want {
		t.Errorf("Slurm has run\n%swant the training and the judgement\n%s", got, want)
	}

	now = now.Add(time.Hour)
	command("scontrol", "update", "PartitionName=batch", "State=DOWN")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := n.Now(ctx)
		ended <- err
	}()
	for !strings.Contains(queue(), "3 segue-trainer PENDING") {
		select {
		case err := <-ended:
			t.Fatalf("the training does not wait: %v\n%s", err, queue())
		case <-time.After(100 * time.Millisecond):
		}
	}
	stop()
	if err := <-ended; err == nil {
		t.Error("the training that was stopped has ended well")
	}
	if got := queue(); !strings.Contains(got, "3 segue-trainer CANCELLED") {
		t.Errorf("the job of a training that was stopped is still there:\n%s", got)
	}
	runs, err := s.Trainings(t.Context(), "c", 1)
	if err != nil || len(runs) != 1 || runs[0].State != store.TrainingInterrupted {
		t.Errorf("the store tells of %+v, %v; want an interrupted training", runs, err)
	}
}
