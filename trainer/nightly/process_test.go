package nightly

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A trainer that leaves something behind, in a session of its own and with the output
// open, has ended all the same; all that it wrote is kept.
func TestATrainerIsNotWaitedForWhereSomethingOfItStays(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	var log bytes.Buffer
	err := execute(t.Context(), []string{"/bin/sh", "-c", fmt.Sprintf("setsid sh -c 'echo $$ >%s; exec sleep 600' & until [ -s %[1]s ]; do :; done; echo trained; exit 3", file)}, &log)
	if err == nil || !strings.Contains(err.Error(), "exit status 3: trained") || log.String() != "trained\n" {
		t.Errorf("it ends with %v, having written %q", err, log.String())
	}
	text, err := os.ReadFile(file)
	pid, numberErr := strconv.Atoi(strings.TrimSpace(string(text)))
	if err := errors.Join(err, numberErr); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Errorf("what stays is not there: %v: the test shows nothing", err)
	}
}
