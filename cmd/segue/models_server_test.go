package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
)

// operated is a server, a process of its own on a file and without a scheduler, which
// follows promotions; an operator asks it from elsewhere.
type operated struct {
	t                 *testing.T
	program, dir, url string
}

// operate starts a server that has models of the given names.
func operate(t *testing.T, ids ...string) operated {
	t.Helper()
	dir := t.TempDir()
	o := operated{t: t, program: filepath.Join(dir, "segue"), dir: dir}
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, o.program) // by that name it is segue: see TestMain
	}
	if err != nil {
		t.Fatal(err)
	}
	r := models.NewRegistry(filepath.Join(o.dir, "data", "models"), func() segue.Time { return segue.TimeOf(time.Now()) })
	for _, id := range ids {
		if err := r.Write(toymodel.Manifest(id), toymodel.Files(t, toymodel.New(t, time.Hour, time.Hour, "moe"))); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(o.dir, "segue.yaml")
	text := "data: " + filepath.Join(o.dir, "data") + "\nlisten: 127.0.0.1:0\nsocket: " + filepath.Join(o.dir, "s") + "\ncluster: {scheduler: none}\nmodel: champion\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(context.WithoutCancel(t.Context()), o.program, "serve", "--config", file)
	server.Env, server.Stderr = o.environment(), t.Output()
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(server.Process.Signal(syscall.SIGTERM), server.Wait()); err != nil {
			t.Errorf("the server ends: %v", err)
		}
	})
	if o.url, err = addressOf(bufio.NewReader(out)); err != nil {
		t.Fatal(err)
	}
	return o
}

// environment is one in which nothing of the server's is found: what an operator asks is
// asked of the server.
func (o operated) environment() []string {
	return []string{"HOME=" + filepath.Join(o.dir, "elsewhere"), "PATH=" + os.Getenv("PATH")}
}

// says runs a command as an operator and returns its exit code and what it prints.
func (o operated) says(stdin io.Reader, args ...string) (code int, out, errs string) {
	o.t.Helper()
	return o.saysTo(stdin, append(args, "--server", o.url, "--token-file", filepath.Join(o.dir, "data", "token"))...)
}

// saysTo runs a command.
func (o operated) saysTo(stdin io.Reader, args ...string) (code int, out, errs string) {
	o.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(o.t.Context(), o.program, args...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = o.environment(), o.dir, stdin, &stdout, &stderr
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		o.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// write writes a file that a command is about.
func (o operated) write(name string, content []byte) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), content, 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// step is a command, and what it is to say.
type step struct {
	do      string
	want    int
	wantOut string // a pattern
	wantErr string // another
}

func (o operated) take(steps []step) {
	o.t.Helper()
	for _, s := range steps {
		code, out, errs := o.says(nil, words(s.do)...)
		if code != s.want || !regexp.MustCompile(s.wantOut).MatchString(out) || !regexp.MustCompile(s.wantErr).MatchString(errs) {
			o.t.Errorf("segue %s: %d\n%s%swant %d, %q and %q", s.do, code, out, errs, s.want, s.wantOut, s.wantErr)
		}
		if s.want != 0 && out != "" || s.wantErr == "" && errs != "" {
			o.t.Errorf("segue %s: want nothing in the place of\n%s%s", s.do, out, errs)
		}
	}
}

// words splits a command at its spaces, but for those between quotes.
func words(line string) []string {
	var all []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// An operator promotes and rolls back from the command line, elsewhere than the server
// is, and its advice is the model's.
func TestModelsOfAServerArePromotedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	o := operate(t, "m1", "m2", "m3")
	if code, out, errs := o.says(strings.NewReader(hourly(50)), "history", "import", "-", "--cluster", "c"); code != 0 {
		t.Fatalf("import: %d\n%s%s", code, out, errs)
	}
	o.write("bad.json", []byte("x"))
	if err := os.Rename(filepath.Join(o.dir, "bad.json"), filepath.Join(o.dir, "data", "models", "m3", models.IndexFile)); err != nil {
		t.Fatal(err)
	}
	advice := "advise --nodes 2 --time 12h --remaining 9h --json"
	o.take([]step{
		{"models list", 0, `(?s)│ m1 +│ new .*│ m3 +│ damaged .*\nm3 cannot be used: learned.json has 1 bytes, want \d+\.\nA planner decides at this server\.\n$`, ""},
		{"models rollback", 1, "", `^segue: roll back: no model was promoted at this server yet\n$`},
		{"models promote m1", 2, "", `^segue: --reason is missing`},
		{"models promote m1 --reason 'the first'", 0, `^The champion is m1\.\n$`, ""},
		{advice, 0, `"model":"m1"`, ""},
		{"models promote m1 --reason again", 1, "", `^segue: the server answers: .*: promote model m1: it is the champion already\n$`},
		{"models promote m2 --reason 'costs 0.4 h less'", 0, `^The champion is m2\.\n$`, ""},
		{advice, 0, `"model":"m2"`, ""},
		{"models list", 0, `(?s)│ m1 +│ former champion │ 2023-01-01 to 2023-01-31 │ +4 │ - +│ the first \(\w+, over REST\) +│.*│ m2 +│ champion .*\nm2 decides at this server\.\n$`, ""},
		{"models promote m3 --reason why", 1, "", `^segue: the server answers: .*: promote model m3: learned.json has 1 bytes`},
		{"models promote m4 --reason why", 1, "", `^segue: the server answers: .*: promote model m4: there is none in `},
		{"models promote ../m1 --reason why", 2, "", `^segue: promote: model ID "../m1": want`},
		{"models rollback --expected m1", 1, "", `^segue: the server answers: .*: roll back: the champion is m2 by now, not m1\n$`},
		{"models rollback --reason 'two\nlines'", 2, "", `^segue: the server answers: .*\nbody.reason: want one line`},
		{"models rollback --reason ''", 2, "", `^segue: --reason is missing`},
		{"models rollback --expected m2", 0, `^The champion is m1 again\.\n$`, ""},
		{advice, 0, `"model":"m1"`, ""},
		{"models rollback --expected m2", 1, "", `the champion is m1 by now`},
		{"models rollback", 1, "", `there was no champion before model m1`},
		{"models list --dir x", 2, "", `^segue: --dir is about this machine: a server knows its own\n$`},
		{"models promote m2 --reason x --dir x", 2, "", `^segue: --dir is about this machine`},
		{"models promote m2 --reason x --store x", 2, "", `^segue: --store is about this machine`},
		{"models rollback --store x", 2, "", `^segue: --store is about this machine`},
	})
	_, out, _ := o.says(nil, "models", "list", "--json")
	if answer := o.get("/v1/models"); answer != out {
		t.Errorf("as JSON (-of the interface +of the command):\n%s", cmp.Diff(answer, out))
	}
	socket := "unix://" + filepath.Join(o.dir, "s")
	for _, s := range []struct {
		args []string
		want int
		says string
	}{
		{[]string{"models", "promote", "m2", "--reason", "by the socket", "--server", socket}, 0, "The champion is m2."},
		{[]string{"models", "rollback", "--server", o.url}, 1, "--token-file names the file of one"},
		{[]string{"models", "list", "--token-file", "data/token"}, 2, "--token-file is for a server: name one by --server"},
		{[]string{"models", "rollback", "--server", ""}, 2, `--server: server ""`},
		{[]string{"models", "list", "--server", "http://127.0.0.1:1"}, 1, "connection refused"},
		{[]string{"models", "list"}, 0, "There are no models."}, // of this user's
	} {
		if code, out, errs := o.saysTo(nil, s.args...); code != s.want || !strings.Contains(out+errs, s.says) {
			t.Errorf("segue %q: %d\n%s%swant %d and %q", s.args, code, out, errs, s.want, s.says)
		}
	}
	_, out, _ = o.saysTo(nil, "__complete", "models", "promote", "--server", socket, "")
	if want := "m1\tformer champion\n:4\n"; out != want {
		t.Errorf("completions are %q, want %q", out, want)
	}
}

// get returns an answer of the interface to the operator.
func (o operated) get(path string) string {
	o.t.Helper()
	token, err := os.ReadFile(filepath.Join(o.dir, "data", "token"))
	if err != nil {
		o.t.Fatal(err)
	}
	r := &running{service: &service{t: o.t}, address: o.url, secret: strings.TrimSpace(string(token))}
	_, text, _ := r.ask("GET", path, "", "")
	return text
}

// Nobody but an operator promotes, rolls back or imports from the command line.
func TestOnlyAnOperatorChangesAServerFromTheCommandLine(t *testing.T) {
	t.Parallel()
	o := operate(t, "m1")
	o.write("jobs.swf", []byte(hourly(50)))
	for _, scope := range []api.Scope{api.ScopeRead, api.ScopeChains, api.ScopeSubmit} {
		code, out, errs := o.saysTo(nil, "token", "create", "--user", "ada", "--scope", string(scope), "--for", "1h", "--store", "data/segue.db")
		if code != 0 {
			t.Fatal(errs)
		}
		o.write("ada.token", []byte(out))
		for _, do := range []string{"models promote m1 --reason mine", "models rollback --expected m1", "history import jobs.swf --cluster c"} {
			code, out, errs := o.saysTo(nil, append(words(do), "--server", o.url, "--token-file", "ada.token")...)
			if code != 1 || out != "" || !strings.Contains(errs, "this takes the scope operator") {
				t.Errorf("with the scope %s, segue %s: %d\n%s%s", scope, do, code, out, errs)
			}
		}
		if code, _, errs := o.saysTo(nil, "models", "list", "--server", o.url, "--token-file", "ada.token"); code != 0 {
			t.Errorf("with the scope %s, a list: %s", scope, errs)
		}
	}
	if got := o.get("/v1/histories"); got != "{\"histories\":[]}\n" {
		t.Errorf("histories %s, want none", got)
	}
}

// A real history comes to a server from the command line, once however often it is sent,
// and the table is that of a store.
func TestAHistoryIsSentToAServer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(shared.Path(t, "traces/ls6-a100-to-2023-02.log"))
	if err != nil {
		t.Fatal(err)
	}
	log := bytes.Join(bytes.SplitAfterN(text, []byte("\n"), 2002)[:2001], nil)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(log); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := operate(t)
	o.write("jobs.log", log)
	o.write("jobs.log.gz", zipped.Bytes())
	o.write("cut.log.gz", zipped.Bytes()[:zipped.Len()/2])
	o.write("letter", []byte("Dear operator,\n"))
	o.write("odd.sacct", []byte("JobID|User|Submit|Start|End|Timelimit|NNodes|State\n"+
		"1|ada|2024-03-01T10:00:00|2024-03-01T12:00:00|2024-03-01T16:00:00|04:00:00|2|COMPLETED\n"+
		"2|ada|never|2024-03-01T12:00:00|2024-03-01T16:00:00|04:00:00|2|COMPLETED\n"))
	o.take([]step{
		{"history list", 0, "^The server holds no history", ""},
		{"history import jobs.log --cluster ls6", 0, `^Cluster ls6: 1,999 jobs read, 1,999 of them new or changed\.\n$`, ""},
		{"history import jobs.log --cluster ls6", 0, `^Cluster ls6: 1,999 jobs read, 0 of them new or changed\.\n$`, ""},
		{"history import jobs.log.gz --cluster ls6 --trace-format ls6", 0, `1,999 jobs read, 0 of them new`, ""},
		{"history import cut.log.gz --cluster cut", 2, "", `^segue: cut.log.gz: the server answers: .*: the compressed data end early, after line \d+; (\d+) jobs before it were read`},
		{"history import jobs.log.gz --cluster cut", 0, `^Cluster cut: 1,999 jobs read, [1-9][\d,]* of them new or changed\.\n$`, ""},
		{"history import letter --cluster c", 2, "", `^segue: letter: the server answers: (?s).*no job history that is known here`},
		{"history import jobs.log --cluster c --trace-format swf", 2, "", `^segue: jobs.log: the server answers: .*not one of its records can be used`},
		{"history import jobs.log --cluster c --trace-format csw", 2, "", `^segue: --trace-format: format "csw": want auto`},
		{"history import missing --cluster c", 1, "", `^segue: missing: no such file\n$`},
		{"history import . --cluster c", 2, "", `^segue: . is a folder, want a file\n$`},
		{"history import jobs.log --cluster ''", 2, "", `^segue: --cluster is empty\n$`},
		{"history import jobs.log", 2, "", `"cluster" not set`},
		{"history import jobs.log --cluster c --store x", 2, "", `^segue: --store is about this machine`},
		{"history import jobs.log --cluster c --timezone UTC", 2, "", `^segue: --timezone is about this machine`},
		{"history list --store x", 2, "", `^segue: --store is about this machine`},
	})
	if code, out, errs := o.says(bytes.NewReader(zipped.Bytes()), "history", "import", "-", "--cluster", "piped"); code != 0 || !strings.Contains(out, "1,999 of them new") {
		t.Errorf("from standard input: %d\n%s%s", code, out, errs)
	}
	if code, out, errs := o.says(nil, "history", "import", "odd.sacct", "--cluster", "odd"); code != 0 || out != "Cluster odd: 1 jobs read, 1 of them new or changed.\n" ||
		!strings.Contains(errs, "odd.sacct: 1 of 2 records cannot be used and are left out, the first as time not readable: line 3") {
		t.Errorf("a history of which one record cannot be used: %d\n%s%s", code, out, errs)
	}
	if code, _, errs := o.says(nil, "history", "import", "jobs.log", "--cluster", "ls6", "--progress"); code != 0 || !strings.Contains(errs, "bytes sent [########################] 100%") {
		t.Errorf("with progress: %d\n%s", code, errs)
	}
	for _, form := range [][]string{{"history", "list"}, {"history", "list", "--json"}} {
		_, there, _ := o.says(nil, form...)
		_, here, errs := o.saysTo(nil, append(form, "--store", "data/segue.db")...)
		if diff := cmp.Diff(here, there); diff != "" || !strings.Contains(there, "ls6") {
			t.Errorf("%q (-of the store +of the server):\n%s%s", form, diff, errs)
		}
	}
}

// hourly is a history of so many jobs, one an hour.
func hourly(jobs int) string {
	var b strings.Builder
	b.WriteString("; MaxNodes: 4\n; UnixStartTime: 1767225600\n")
	for i := range jobs {
		fmt.Fprintf(&b, "%d %d 600 7200 2 -1 -1 2 14400 -1 1 1 1 -1 1 1 -1 -1\n", i+1, i*3600)
	}
	return b.String()
}
