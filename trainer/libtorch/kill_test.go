//go:build native

package libtorch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// checkpointVariable names the checkpoint of a process that trains until it is
// killed, at the third validation of the training that trainingVariable names.
const (
	checkpointVariable = "SEGUE_TEST_CHECKPOINT"
	trainingVariable   = "SEGUE_TEST_TRAINING"
)

func TestMain(m *testing.M) {
	path := os.Getenv(checkpointVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	train := trainings()[os.Getenv(trainingVariable)]
	_, err := train.run(context.Background(), path, false, func(p Progress) {
		if p.Step == train.third {
			fmt.Println("kill me")
			_, _ = io.ReadAll(os.Stdin) // which nobody closes
		}
	})
	fmt.Println("not killed", err)
}

func TestTrainingGoesOnAfterItsProcessWasKilled(t *testing.T) {
	t.Parallel()
	for name, train := range trainings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, err := train.run(t.Context(), "", false, nil)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "checkpoint")
			trainUntilKilled(t, name, path)
			train.goesOn(t, path, train.saved, whole)
		})
	}
}

// trainUntilKilled runs a training in a process of its own, and kills it.
func trainUntilKilled(t *testing.T, name, checkpoint string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), checkpointVariable+"="+checkpoint, trainingVariable+"="+name)
	if _, err := cmd.StdinPipe(); err != nil { // Wait closes it
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "kill me\n" {
		t.Fatalf("the process says %q (%v)", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}
