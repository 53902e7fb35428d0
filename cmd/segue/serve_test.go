package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A server reads its configuration again when it is told to: it says what wants a
// restart, and a file that is wrong changes nothing.
func TestAServerReadsItsConfigurationAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "bin", "segue")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build segue: %v\n%s", err, out)
	}
	file := filepath.Join(dir, "segue.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("data: "+dir+"\nlisten: 127.0.0.1:0\ncluster: {scheduler: none}\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	server := exec.CommandContext(context.WithoutCancel(t.Context()), program, "serve", "--config", file)
	server.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := server.StderrPipe()
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
	lines := bufio.NewReader(log)
	for _, step := range []struct {
		text, wantMessage string
		wantRestart       []string
		wantError         string
	}{
		{"every: 5\n", "configuration is as it was", nil, "segue.yaml:4:8: "},
		{"every: 5s\noperators: [ada]\nlimits: {concurrent: 9}\n", "configuration is read again", []string{"every"}, ""},
		{"operators: [ada]\nlog_level: debug\n", "configuration is read again", nil, ""},
	} {
		write(step.text)
		if err := server.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		said := saidNext(t, lines)
		if said.Message != step.wantMessage || !strings.Contains(said.Error, step.wantError) {
			t.Errorf("after %q it says %+v, want %q", step.text, said, step.wantMessage)
		}
		if diff := cmp.Diff(step.wantRestart, said.Restart); diff != "" {
			t.Errorf("after %q what wants a restart (-want +got):\n%s", step.text, diff)
		}
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, lines); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server ends: %v", err)
	}
}

// logLine is a line of a server's log.
type logLine struct {
	Message string   `json:"msg"`
	Error   string   `json:"error"`
	Restart []string `json:"wants_a_restart"`
}

func saidNext(t *testing.T, lines *bufio.Reader) logLine {
	t.Helper()
	line, err := lines.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var said logLine
	if err := json.Unmarshal(line, &said); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return said
}
