//go:build native

package libtorch

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/segue-project/segue/policy/safetensors"
)

// checkpointVariable names the checkpoint of a process that trains until it is
// killed, at step 30: its last checkpoint is that of step 15.
const checkpointVariable = "SEGUE_TEST_CHECKPOINT"

func TestMain(m *testing.M) {
	path := os.Getenv(checkpointVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	_, err := trainings()["DQN"](context.Background(), path, false, func(p Progress) {
		if p.Step == 30 {
			fmt.Println("kill me")
			_, _ = io.ReadAll(os.Stdin) // which nobody closes
		}
	})
	fmt.Println("not killed", err)
}

func TestTrainingGoesOnAfterItsProcessWasKilled(t *testing.T) {
	t.Parallel()
	train := trainings()["DQN"]
	whole, err := train(t.Context(), "", false, nil)
	if err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(t.TempDir(), "checkpoint")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), checkpointVariable+"="+path)
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

	resumed, err := train(t.Context(), path, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(resumed.History) != len(whole.History) {
		t.Errorf("%d validations, want %d", len(resumed.History), len(whole.History))
	}
	if !bytes.Equal(safetensors.Encode(whole.Tensors, nil), safetensors.Encode(resumed.Tensors, nil)) {
		t.Error("the tensors differ from those of a training that was not killed")
	}
}
