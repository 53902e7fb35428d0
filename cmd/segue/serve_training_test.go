package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/config"
	"github.com/segue-project/segue/store"
)

// A server that is told to end during a training waits for its trainer to end, says
// that the training is interrupted, and leaves neither the lease nor the exported
// history behind.
func TestAServerThatEndsEndsItsTraining(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	trainer := filepath.Join(dir, "trainer")
	script := "#!/bin/sh\ntrap 'exit 1' TERM\necho $$ > " + pipe + "\nsleep 600 & wait\n"
	file := filepath.Join(dir, "segue.yaml")
	text := "data: " + dir + "\nlisten: 127.0.0.1:0\ncluster: {scheduler: none}\n" +
		"training: {schedule: '@every 1s', jitter: 1ms, nodes: 8, command: [" + trainer + "], back: 60d, judge: 7d, min_free: 1B}\n"
	err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(trainer, []byte(script), 0o700), os.WriteFile(file, []byte(text), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(dir, "segue.db"), store.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	importHours(t, s, "c", 60)
	server := exec.CommandContext(context.WithoutCancel(t.Context()), buildSegue(t), "serve", "--config", file)
	server.Env, server.Stderr = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}, t.Output()
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() }) // it has ended unless the test failed
	if _, err := addressOf(bufio.NewReader(out)); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(pipe) // once the trainer works
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.Process.Signal(syscall.SIGTERM), server.Wait()); err != nil {
		t.Errorf("the server ends: %v", err)
	}
	var number int
	if _, err := fmt.Sscan(string(said), &number); err != nil || syscall.Kill(number, 0) == nil {
		t.Errorf("%v; the trainer, process %d, lives", err, number)
	}
	all, err := s.Trainings(t.Context(), "c", 1)
	if err != nil || len(all) != 1 {
		t.Fatalf("trainings %v, %v", all, err)
	}
	if got := all[0]; got.State != store.TrainingInterrupted || got.Step != "train" || got.Why != "It was told to end. The next server to be there repeats it, once." {
		t.Errorf("its row is %+v", got)
	}
	if left, err := os.ReadDir(all[0].Folder); err != nil || len(left) != 1 {
		t.Errorf("its folder has %v, %v; want the log alone", left, err)
	}
	held, err := s.Leases(t.Context(), segue.TimeOf(time.Now()))
	for _, l := range held {
		if l.Name == "training of c" {
			t.Errorf("the lease is held: %+v", l)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// importHours fills the store with a job an hour for so many days up to now.
func importHours(t *testing.T, s *store.Store, cluster string, days int) {
	t.Helper()
	now := segue.TimeOf(time.Now())
	_, err := s.ImportJobs(t.Context(), cluster, func(yield func(segue.Job, error) bool) {
		for i := range days * 24 {
			at := now.Add(time.Duration(i-days*24) * time.Hour)
			j := segue.Job{
				ID: segue.JobID{Number: int64(i + 1)}, User: "ada", Submit: at, Eligible: at, Start: at.Add(time.Minute), End: at.Add(time.Hour),
				Limit: 2 * time.Hour, Nodes: 1, State: segue.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What keeps trainings from beginning is named by the setting that mends it, and in a
// word or two for whoever asks for the server's health.
func TestWhatKeepsTrainingsFromBeginningIsNamed(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "segue-trainer")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		histories         []string
		command           string
		wantWord, wantWhy string
	}{
		"all is there":      {[]string{"c"}, program, "", ""},
		"no history":        {nil, program, "there is no history", "segue history collect"},
		"several histories": {[]string{"c", "d"}, program, "training.cluster is not set", "training.cluster is missing: the store holds the histories of c, d"},
		"no trainer":        {[]string{"c"}, program + ".gone", "its program is not found", "training.command: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "segue.db"), store.Config{Volatile: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			for _, cluster := range tt.histories {
				importHours(t, s, cluster, 1)
			}
			c := config.Config{
				Data: t.TempDir(), Cluster: config.Cluster{Scheduler: "none"}, Training: config.Training{Schedule: "@daily", Command: []string{tt.command}},
			}
			_, err = (&scheduledTraining{store: s, config: c, log: slog.New(slog.DiscardHandler)}).ready(t.Context())
			if tt.wantWhy == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil || inAWord(err) != tt.wantWord || !strings.Contains(err.Error(), tt.wantWhy) {
				t.Errorf("error %v, want %q in %q", err, tt.wantWord, tt.wantWhy)
			}
		})
	}
}
