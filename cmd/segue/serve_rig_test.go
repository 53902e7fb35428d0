package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/store"
)

// service is a server as operators run it: the real program, on a PostgreSQL that
// survives what a disk survives, and a Slurm that is a folder.
type service struct {
	t        testing.TB
	program  string
	dir      string
	database *pgtest.Server
	slurm    fakeSlurm
	store    *store.Store // for the test to look into
	client   http.Client
	// variables are the environment where there is neither database nor Slurm.
	variables []string
}

// newService prepares one, of which the jobs run for life.
func newService(t testing.TB, program string, life time.Duration) *service {
	t.Helper()
	s := &service{
		t: t, program: program, dir: t.TempDir(), slurm: newFakeSlurm(t, life), database: &pgtest.Server{Keep: true, Durable: true},
		client: http.Client{Timeout: 20 * time.Second},
	}
	if err := errors.Join(s.database.Init(), s.database.Run()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.database.Stop(), os.RemoveAll(s.database.Dir())); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.database.Admin().ExecContext(t.Context(), `CREATE DATABASE segue`); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.store, err = store.Open(t.Context(), s.database.URL("segue"), store.Config{Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.store.Close() }) // its connections may be broken
	return s
}

// environment is that of the programs of a service.
func (s *service) environment() []string {
	if s.variables != nil {
		return s.variables
	}
	return []string{
		"HOME=" + s.dir, "XDG_STATE_HOME=" + s.dir, "DATABASE_URL=" + s.database.URL("segue"), "PATH=" + s.slurm.bin() + ":" + os.Getenv("PATH"),
	}
}

// running is a process of a service.
type running struct {
	*service
	process *exec.Cmd
	address string
	secret  string

	mu  sync.Mutex
	log bytes.Buffer
}

// Write implements io.Writer: it keeps the log.
func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

// freeAddress is one on which nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // it is only to find a number
	return l.Addr().String()
}

// start starts a server with a folder of its own and further flags, and returns
// once it is ready.
func (s *service) start(name, address string, flags ...string) *running {
	s.t.Helper()
	data := filepath.Join(s.dir, name)
	r := &running{service: s, address: "http://" + address}
	r.process = exec.CommandContext(context.WithoutCancel(s.t.Context()), s.program, append([]string{"serve", "--listen", address, "--data", data}, flags...)...)
	r.process.Env, r.process.Stderr = s.environment(), r
	if err := r.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		r.kill()
		if s.t.Failed() {
			s.t.Logf("the end of the log of %s:\n%s", name, r.log.String()[max(0, r.log.Len()-6000):])
		}
	})
	s.until("the server is ready", func() bool { return r.status("/readyz") == http.StatusOK })
	secret, err := os.ReadFile(filepath.Join(data, "token"))
	if err != nil {
		s.t.Fatal(err)
	}
	r.secret = strings.TrimSpace(string(secret))
	return r
}

// kill ends the process as a machine that fails would.
func (r *running) kill() {
	_ = r.process.Process.Kill() // it may have ended
	_ = r.process.Wait()
}

// ask sends a request and returns the status and the body of the answer, 0 where
// there is none.
func (r *running) ask(method, path, key, body string) (status int, text string, replayed bool) {
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.address+path, strings.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return 0, "", false
	}
	req.Header.Set("Authorization", "Bearer "+r.secret)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	answer, err := r.client.Do(req)
	if err != nil {
		return 0, err.Error(), false
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error(), false
	}
	return answer.StatusCode, string(said), answer.Header.Get("Idempotency-Replayed") == "true"
}

func (r *running) status(path string) int {
	status, _, _ := r.ask(http.MethodGet, path, "", "")
	return status
}

// leads reports whether the server says that it submits.
func (r *running) leads() bool {
	_, metrics, _ := r.ask(http.MethodGet, "/metrics", "", "")
	return strings.Contains(metrics, "\nsegue_lease_held 1\n")
}

// check returns what the server says of one of the things that it stands on.
func (r *running) check(name string) string {
	_, text, _ := r.ask(http.MethodGet, "/readyz", "", "")
	var ready struct {
		Checks []struct{ Name, State string }
	}
	if err := json.Unmarshal([]byte(text), &ready); err != nil {
		return ""
	}
	for _, c := range ready.Checks {
		if c.Name == name {
			return c.State
		}
	}
	return ""
}

// until waits until something is so.
func (s *service) until(what string, so func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			s.t.Fatalf("it does not come to this: %s", what)
		case <-again.C:
		}
	}
}

// submit submits a chain as a user does, and returns its ID.
func (s *service) submit(name string, links int) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), s.program, "sbatch", "-J", name, "--time=1", "--segue-chain", fmt.Sprintf("--segue-links=%d", links), "--wrap=true")
	cmd.Env, cmd.Dir = s.environment(), s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("segue sbatch: %v: %s", err, out)
	}
	var id string
	s.until("chain "+name+" is taken over", func() bool {
		chains, err := s.store.Chains(s.t.Context(), store.ChainQuery{})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, c := range chains {
			if c.Name == name {
				id = c.ID
			}
		}
		return id != ""
	})
	return id
}

// bystander is a chain of a single link that runs, for tests to pause.
func (s *service) bystander(id string, job segue.JobID) {
	s.t.Helper()
	now := segue.TimeOf(time.Now())
	chain := segue.Chain{
		ID: id, Name: id, User: userName(), Created: now, Terms: segue.Terms{MaxLinks: 1}.WithDefaults(),
		Request: segue.Request{Shape: segue.Shape{Nodes: 1, Limit: time.Hour}, User: userName()},
	}
	link := segue.Link{
		Chain: id, Number: 1, Attempt: 1, Planned: now, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	if err := s.store.CreateChain(s.t.Context(), chain, link); err != nil {
		s.t.Fatal(err)
	}
	s.slurm.lasting(s.t, job, link.Token())
	link.State, link.Job, link.Submitted = segue.LinkQueued, job, now
	if err := s.store.UpdateLink(s.t.Context(), segue.LinkSubmitting, link); err != nil {
		s.t.Fatal(err)
	}
}
