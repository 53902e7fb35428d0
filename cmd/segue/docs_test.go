package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/store"
)

// Every shell example of docs/api.md works on a server, from top to bottom.
func TestTheExamplesOfTheInterfaceWork(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := fenced(string(page), "sh")
	if len(examples) < 8 {
		t.Fatalf("%d examples, want more", len(examples))
	}
	dir := t.TempDir()
	prepareExamples(t, dir)
	server := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(dir, "bin", "segue"), "serve", "--listen", "127.0.0.1:0", "--no-scheduler")
	env := []string{
		"HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_DATA_HOME=" + dir, "PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"),
		"SOCKET=" + filepath.Join(dir, "segue", "segue.sock"),
	}
	server.Env, server.Stderr = env, t.Output()
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() }) // it has ended unless the test failed
	address, err := addressOf(bufio.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(dir, "segue", "token"))
	if err != nil {
		t.Fatal(err)
	}
	env = append(env, "SERVER="+address, "TOKEN="+strings.TrimSpace(string(token)))
	importFirst(t, dir, env)
	for _, example := range examples {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", example)
		cmd.Dir, cmd.Env = dir, env
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, example, said)
		}
	}
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Errorf("the server ends: %v", err)
	}
}

// fenced returns the fenced blocks of a language in a page.
func fenced(page, language string) []string {
	var blocks []string
	for i, part := range strings.Split(page, "\n```") {
		if text, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			blocks = append(blocks, text)
		}
	}
	return blocks
}

// prepareExamples builds segue and keeps what the examples are about: a chain, a history
// and models.
func prepareExamples(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin", "segue"), ".").CombinedOutput(); err != nil {
		t.Fatalf("build segue: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(dir, "segue"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), filepath.Join(dir, "segue", "segue.db"), store.Config{NetworkDisk: true})
	if err != nil {
		t.Fatal(err)
	}
	now := segue.TimeOf(time.Now())
	chain := segue.Chain{
		ID: "k3v9q2", Name: "train", User: userName(), Created: now, Terms: segue.Terms{}.WithDefaults(),
		Request: segue.Request{Shape: segue.Shape{Nodes: 4, Limit: 48 * time.Hour}, User: userName()},
	}
	link := segue.Link{Chain: "k3v9q2", Number: 1, Attempt: 1, Planned: now, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime}
	if err := s.CreateChain(t.Context(), chain, link); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := models.NewRegistry(filepath.Join(dir, "segue", "models"), func() segue.Time { return segue.TimeOf(time.Now()) })
	for _, id := range []string{"20261129-023000", "20261130-023000"} {
		if err := r.Write(toymodel.Manifest(id), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Promote("20261129-023000", "the first"); err != nil {
		t.Fatal(err)
	}
	var swf strings.Builder
	swf.WriteString("; MaxNodes: 8\n; UnixStartTime: 1767225600\n")
	for i := range 300 { // job, submit, wait, run, nodes, ...
		fmt.Fprintf(&swf, "%d %d %d 7200 2 -1 -1 2 14400 -1 1 %d 1 -1 1 1 -1 -1\n", i+1, i*1800, 600*(i%7), 1+i%5)
	}
	if err := os.WriteFile(filepath.Join(dir, "jobs.swf"), []byte(swf.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// addressOf returns where a server says that it answers.
func addressOf(out *bufio.Reader) (string, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the server does not say where it answers: %w", err)
	}
	for word := range strings.FieldsSeq(line) {
		if strings.HasPrefix(word, "http://") {
			return strings.Trim(word, ",."), nil
		}
	}
	return "", fmt.Errorf("the server says %q, and no address", line)
}

// importFirst imports the history of which the page speaks before it imports it.
func importFirst(t *testing.T, dir string, env []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-euc",
		`curl --fail-with-body -H "Authorization: Bearer $TOKEN" --data-binary @jobs.swf "$SERVER/v1/histories/mycluster/import"`)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("import: %v\n%s", err, out)
	}
}
