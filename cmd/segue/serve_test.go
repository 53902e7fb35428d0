package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/config"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
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
	address, err := addressOf(bufio.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := processorsOf(t, address, dir), fmt.Sprint(runtime.GOMAXPROCS(0)+1); got != want {
		t.Errorf("%s goroutines run at once, want %s: one more than there are cores", got, want)
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

// processorsOf returns how many goroutines of a server run at once.
func processorsOf(t *testing.T, address, data string) string {
	t.Helper()
	secret, err := os.ReadFile(filepath.Join(data, "token"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(secret)))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "\ngo_sched_gomaxprocs_threads ")
	count, _, _ := strings.Cut(after, "\n")
	return count
}

// A promotion changes who decides where the configuration in force says so: not the
// one of the start.
func TestPromotionsAreFollowedAsTheConfigurationSaysNow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	registry := models.NewRegistry(filepath.Join(dir, "models"), func() segue.Time { return segue.TimeOf(time.Now()) })
	for _, id := range []string{"m1", "m2"} {
		if err := registry.Write(toymodel.Manifest(id), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "segue.yaml")
	configure := func(model string) config.Config {
		t.Helper()
		text := "data: " + dir + "\nmodels: " + filepath.Join(dir, "models") + "\ncluster: {scheduler: none}\n" + model
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := (&serveFlags{file: file}).settings()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const planner, follows = "", "model: champion\n"
	for name, tt := range map[string]struct{ start, then, want string }{
		"to a planner":     {follows, planner, ""},
		"to the champion":  {planner, follows, "m2"},
		"to another model": {follows, "model: " + filepath.Join(dir, "models", "m1") + "\n", "m1"},
	} {
		if err := registry.Promote("m1", "the first"); err != nil {
			t.Fatal(err)
		}
		c := configure(tt.start)
		srv, ask := serverOf(t, c)
		r := &reloading{flags: &serveFlags{file: file}, server: srv, level: new(slog.LevelVar), now: c, log: slog.New(slog.DiscardHandler)}
		configure(tt.then)
		if err := r.reload(); err != nil {
			t.Fatal(err)
		}
		if err := registry.Promote("m2", "a better one"); err != nil {
			t.Fatal(err)
		}
		if err := srv.FollowChampion(); err != nil {
			t.Fatal(err)
		}
		if got := ask(); got != tt.want {
			t.Errorf("%s: after a promotion %q decides, want %q", name, got, tt.want)
		}
	}
}

// serverOf returns a server on an empty store, and who decides there: the ID of a
// model, or nothing for a planner.
func serverOf(t *testing.T, c config.Config) (srv *server.Server, decides func() string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "segue.db"), store.Config{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	wired, err := serverConfig(c, log)
	if err != nil {
		t.Fatal(err)
	}
	if srv, err = server.New(s, wired); err != nil {
		t.Fatal(err)
	}
	return srv, func() string {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/models", http.NoBody)
		w := httptest.NewRecorder()
		srv.Handler().ServeHTTP(w, r.WithContext(api.WithCaller(r.Context(), api.Caller{User: "ada", Scopes: []api.Scope{api.ScopeRead}})))
		var all struct{ Models []api.Model }
		if err := json.Unmarshal(w.Body.Bytes(), &all); err != nil {
			t.Fatalf("%v in %s", err, w.Body)
		}
		for _, m := range all.Models {
			if m.InUse {
				return m.ID
			}
		}
		return ""
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

// Where Slurm's commands are not all there, there is no Slurm, and the server knows
// why; where one is asked for, it does not start.
func TestASlurmWithoutItsCommandsIsNone(t *testing.T) { //nolint:paralleltest // PATH is the process's
	for name, tt := range map[string]struct {
		commands []string
		want     string
	}{
		"none":         {nil, "no sbatch on PATH"},
		"only sbatch":  {[]string{"sbatch"}, "no squeue on PATH"},
		"all":          {[]string{"sbatch", "squeue"}, ""},
		"where squeue": {[]string{"squeue"}, "no sbatch on PATH"},
	} {
		dir := t.TempDir()
		for _, c := range tt.commands {
			if err := os.WriteFile(filepath.Join(dir, c), []byte("#!/bin/sh\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		t.Setenv("SEGUE_SBATCH", "")
		driver, missing, err := driverOf(config.Cluster{})
		if missing != tt.want || (driver == nil) != (tt.want != "") || err != nil {
			t.Errorf("%s: %v, %q, %v; want %q", name, driver, missing, err, tt.want)
		}
		if _, _, err := driverOf(config.Cluster{Scheduler: "slurm"}); (err == nil) != (tt.want == "") {
			t.Errorf("%s, where it is asked for: %v", name, err)
		}
	}
}

// The key of sessions is made of a file that not everybody may read, and that holds
// enough of a secret, without the end of its line; one of the environment counts
// before it.
func TestTheKeyOfSessionsIsOfAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := strings.Repeat("s", 32)
	for name, tt := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"good": {secret, 0o600, ""}, "with an end of line": {secret + "\n", 0o640, ""},
		"short": {secret[1:], 0o600, "want at least 32"}, "open": {secret, 0o644, "anybody may read"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.text), tt.mode); err != nil {
			t.Fatal(err)
		}
		key, err := sessionKey("", path)
		if tt.want == "" && (err != nil || len(key) != 32) {
			t.Errorf("%s: a key of %d bytes, %v; want 32", name, len(key), err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
	one, _ := sessionKey("", filepath.Join(dir, "good"))
	same, _ := sessionKey(secret, filepath.Join(dir, "short"))
	if diff := cmp.Diff(one, same); diff != "" {
		t.Errorf("keys of one secret (-want +got):\n%s", diff)
	}
	if key, err := sessionKey("", ""); key != nil || err != nil {
		t.Errorf("without a file %v, %v; want none", key, err)
	}
}
