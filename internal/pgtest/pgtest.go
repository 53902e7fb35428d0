package pgtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// postgresBin is the folder of initdb and postgres, "" where there is none.
var postgresBin = sync.OnceValue(func() string {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path)
		}
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
})

// Have reports whether there is a PostgreSQL to test with. Under CI there
// must be.
func Have(tb testing.TB) bool {
	tb.Helper()
	if postgresBin() != "" {
		return true
	}
	const advice = "PostgreSQL is not installed, so that half of this test did not run: apt-get install postgresql"
	if os.Getenv("CI") == "true" {
		tb.Fatal(advice)
	}
	tb.Log(advice)
	return false
}

// Server is a private PostgreSQL on a Unix socket in a folder of its own. It ends
// with the test process, however that ends: its shell waits for the end of a pipe.
type Server struct {
	// Prepare, when not nil, is called once it answers for the first time.
	Prepare func(*Server) error
	// Keep leaves the folder when it stops, so that Run starts it again.
	Keep bool
	// Durable runs it as users do: a change survives the power. It is slower.
	Durable bool

	once    sync.Once
	failed  error
	mu      sync.Mutex // CREATE DATABASE wants its template for itself
	dir     string
	process *exec.Cmd
	pipe    io.Closer
	admin   *sql.DB
	clones  int
}

// Start starts the server, if it has not been.
func (p *Server) Start() error {
	p.once.Do(func() {
		p.failed = errors.Join(p.Init(), p.Run())
		if p.failed == nil && p.Prepare != nil {
			p.failed = p.Prepare(p)
		}
	})
	return p.failed
}

// Init makes the folder of the server.
func (p *Server) Init() error {
	dir, err := os.MkdirTemp("", "segue-pg-")
	if err != nil {
		return err
	}
	p.dir = dir
	attributes, err := p.otherThanRoot()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.Background(), filepath.Join(postgresBin(), "initdb"), "-D", filepath.Join(dir, "data"), "-U", "segue", "-A", "trust", "-E", "UTF8", "--no-sync")
	cmd.SysProcAttr, cmd.Dir = attributes, dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// otherThanRoot returns how to start a program as a user that PostgreSQL accepts,
// who gets the folder.
func (p *Server) otherThanRoot() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		if account, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, _ := strconv.Atoi(account.Uid)
	gid, _ := strconv.Atoi(account.Gid)
	if err := os.Chown(p.dir, uid, gid); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// Run starts the server on its folder, and returns when it answers.
func (p *Server) Run() error {
	if p.dir == "" {
		return errors.New("there is no folder")
	}
	attributes, err := p.otherThanRoot()
	if err != nil {
		return err
	}
	args := []string{
		"-c", `"$@" & server=$!; read -r end; kill -QUIT $server; wait $server; rm -rf "$REMOVE"`, "sh",
		filepath.Join(postgresBin(), "postgres"), "-D", filepath.Join(p.dir, "data"), "-k", p.dir,
		"-c", "listen_addresses=", "-c", "max_connections=300",
	}
	if !p.Durable {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	p.process = exec.CommandContext(context.Background(), "sh", args...)
	p.process.SysProcAttr, p.process.Dir = attributes, p.dir
	p.process.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	if !p.Keep {
		p.process.Env = append(p.process.Env, "REMOVE="+p.dir)
	}
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p.process.Stdout, p.process.Stderr = log, log
	if p.pipe, err = p.process.StdinPipe(); err != nil {
		return err
	}
	if err := p.process.Start(); err != nil {
		return err
	}
	return p.answers(log.Name())
}

func (p *Server) answers(log string) error {
	admin, err := sql.Open("pgx", p.URL("postgres"))
	if err != nil {
		return err
	}
	p.admin = admin
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := admin.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log)
			return fmt.Errorf("PostgreSQL does not answer: %w\n%s", err, said)
		case <-again.C:
		}
	}
}

// Stop stops the server at once, as a crash would.
func (p *Server) Stop() error {
	if p.process == nil {
		return nil
	}
	err := errors.Join(p.admin.Close(), p.pipe.Close())
	_ = p.process.Wait() // the shell's exit code is of no interest
	p.process = nil
	return err
}

// Kill ends every process of the server by SIGKILL, as a machine that loses its
// power would: none of them writes another byte. Run starts it again where Keep is
// set.
func (p *Server) Kill() error {
	if p.process == nil {
		return errors.New("there is no server")
	}
	text, err := os.ReadFile(filepath.Join(p.dir, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return fmt.Errorf("postmaster.pid: %w", err)
	}
	// Stopped first, so that it starts none while the others are killed.
	if err := syscall.Kill(postmaster, syscall.SIGSTOP); err != nil {
		return err
	}
	all := []int{postmaster}
	for _, pid := range processes() {
		if parent, _ := stateOf(pid); parent == postmaster {
			all = append(all, pid)
		}
	}
	for _, pid := range all {
		err = errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
	}
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for _, pid := range all {
		for _, state := stateOf(pid); state != "" && state != "Z"; _, state = stateOf(pid) {
			<-again.C // it holds the shared memory until it is gone
		}
	}
	return errors.Join(err, p.Stop())
}

// processes are the numbers of all processes of the machine.
func processes() []int {
	entries, _ := os.ReadDir("/proc")
	var all []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// stateOf returns the parent of a process and its state: "Z" for one that has ended
// and that nobody has asked about yet, "" for none.
func stateOf(pid int) (parent int, state string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, ""
	}
	name := strings.LastIndexByte(string(text), ')') // of the program, which may hold spaces
	fields := strings.Fields(string(text[name+1:]))
	parent, _ = strconv.Atoi(fields[1])
	return parent, fields[0]
}

// Admin is a connection of its administrator.
func (p *Server) Admin() *sql.DB { return p.admin }

// Dir is the folder of the server.
func (p *Server) Dir() string { return p.dir }

// Clone makes a database, which is dropped with the test, and returns its name.
func (p *Server) Clone(tb testing.TB, how string) string {
	tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clones++
	name := fmt.Sprintf("test%d", p.clones)
	if _, err := p.admin.ExecContext(tb.Context(), `CREATE DATABASE `+name+` `+how); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if _, err := p.admin.ExecContext(context.Background(), `DROP DATABASE `+name+` WITH (FORCE)`); err != nil {
			tb.Error(err)
		}
	})
	return name
}

// URL returns the URL of a database.
func (p *Server) URL(database string) string {
	return "postgres://segue@/" + database + "?host=" + strings.ReplaceAll(p.dir, "/", "%2F")
}
