package slurmtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Config says what Slurm to start. Its zero value is a cluster of 8 nodes with 4
// GPUs each and without accounting.
type Config struct {
	Nodes       int  // default 8
	GPUsPerNode int  // default 4
	Accounting  bool // slurmdbd with MariaDB
	REST        bool // slurmrestd, on a Unix socket and on a port with tokens
	// Parameters are SchedulerParameters beyond those that make tests quick:
	// "bf_window=2880".
	Parameters string
	// Extra are further lines of slurm.conf. Partitions replaces the one partition
	// "batch" of all nodes.
	Extra      []string
	Partitions []string
}

// Slurm is a running cluster.
type Slurm struct {
	Dir  string   // of everything
	Env  []string // K=V that its commands need: SLURM_CONF and no other SLURM_* variables
	Conf string   // slurm.conf
	// REST are the addresses of slurmrestd: one by a Unix socket, which takes who
	// connects for who they are, and one by a port, which wants a token.
	REST struct{ Socket, Port string }

	cfg     Config
	daemons []*daemon // in the order in which they were started
}

// daemon is one process of the cluster.
type daemon struct {
	name string
	argv []string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// Programs are what the harness runs, with the Debian packages that hold them.
// Those of slurmrestd are looked for when they are wanted.
var Programs = map[string]string{
	"munged": "munge", "mungekey": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "scontrol": "slurm-client",
	"slurmdbd": "slurmdbd", "mariadbd": "mariadb-server", "mariadb-install-db": "mariadb-server",
}

// Start starts a cluster that ends with the test. Without the programs the test
// fails and says what to install.
func Start(t testing.TB, cfg Config) *Slurm {
	t.Helper()
	dir, err := os.MkdirTemp("", "slurm") //nolint:usetesting // short: sockets have at most 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), dir, cfg)
	if s != nil {
		t.Cleanup(func() {
			s.Stop()
			if t.Failed() {
				t.Logf("the end of slurmctld.log:\n%s", s.Tail("slurmctld", 40))
			}
			_ = os.RemoveAll(dir)
		})
	}
	if err != nil {
		t.Fatalf("start Slurm: %v", err)
	}
	return s
}

// New starts a cluster in a folder and waits until its nodes are idle. What it
// started is stopped by Stop, also after an error.
func New(ctx context.Context, dir string, cfg Config) (*Slurm, error) {
	if cfg.Nodes == 0 {
		cfg.Nodes = 8
	}
	if cfg.GPUsPerNode == 0 {
		cfg.GPUsPerNode = 4
	}
	for program, pkg := range Programs {
		if _, err := exec.LookPath(program); err != nil {
			return nil, fmt.Errorf("%s is not installed: apt-get install %s", program, pkg)
		}
	}
	if _, err := exec.LookPath("slurmrestd"); cfg.REST && err != nil {
		return nil, errors.New("slurmrestd is not installed: apt-get install slurmrestd slurm-wlm-jwt-plugin")
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("slurmd runs jobs as their users: the tests on a real Slurm need root")
	}
	s := &Slurm{Dir: dir, Conf: filepath.Join(dir, "slurm.conf"), cfg: cfg}
	s.Env = append(cleanEnv(os.Environ()), "SLURM_CONF="+s.Conf)
	if err := os.Chmod(dir, 0o755); err != nil {
		return s, err
	}
	if err := s.configure(); err != nil {
		return s, err
	}
	return s, s.startAll(ctx)
}

func (s *Slurm) startAll(ctx context.Context) error {
	if err := s.startMunge(ctx); err != nil {
		return err
	}
	if s.cfg.Accounting {
		if err := s.startAccounting(ctx); err != nil {
			return err
		}
	}
	if err := s.StartController(ctx); err != nil {
		return err
	}
	for i := 1; i <= s.cfg.Nodes; i++ {
		name := fmt.Sprintf("n%d", i)
		if err := s.start("slurmd-"+name, "slurmd", "-D", "-N", name, "-f", s.Conf); err != nil {
			return err
		}
	}
	if s.cfg.REST {
		if err := s.startREST(ctx); err != nil {
			return err
		}
	}
	return s.until(ctx, "all nodes are idle", func() error {
		out, err := s.Command(ctx, "sinfo", "-h", "-o", "%T %D").Output()
		if err != nil {
			return err
		}
		if got, want := strings.TrimSpace(string(out)), fmt.Sprintf("idle %d", s.cfg.Nodes); got != want {
			return fmt.Errorf("sinfo says %q, want %q", got, want)
		}
		return nil
	})
}

// StartController starts slurmctld, and waits until it answers.
func (s *Slurm) StartController(ctx context.Context) error {
	if err := s.start("slurmctld", "slurmctld", "-D", "-f", s.Conf); err != nil {
		return err
	}
	return s.until(ctx, "slurmctld answers", func() error {
		out, err := s.Command(ctx, "scontrol", "ping").CombinedOutput()
		if err == nil && !bytes.Contains(out, []byte("is UP")) {
			err = errors.New("it is not up")
		}
		if err != nil {
			return fmt.Errorf("scontrol ping: %w: %s", err, out)
		}
		return nil
	})
}

// StopController ends slurmctld: at once, as kill -9 does, or in good order.
func (s *Slurm) StopController(atOnce bool) {
	for i, d := range s.daemons {
		if d.name == "slurmctld" {
			if atOnce {
				_ = d.cmd.Process.Kill()
			}
			d.stop()
			s.daemons = append(s.daemons[:i:i], s.daemons[i+1:]...)
			return
		}
	}
}

// HangController stops slurmctld from doing anything until the function that it
// returns is called.
func (s *Slurm) HangController() (wake func()) {
	for _, d := range s.daemons {
		if d.name == "slurmctld" {
			_ = d.cmd.Process.Signal(syscall.SIGSTOP)
			return func() { _ = d.cmd.Process.Signal(syscall.SIGCONT) }
		}
	}
	return func() {}
}

// Command returns a command that talks to this cluster.
func (s *Slurm) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = s.Env, s.Dir
	return cmd
}

// Tail returns the last lines of a daemon's log.
func (s *Slurm) Tail(name string, lines int) string {
	data, err := os.ReadFile(filepath.Join(s.Dir, name+".log"))
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Stop ends every process, the last one first, and what jobs left behind.
func (s *Slurm) Stop() {
	for len(s.daemons) > 0 {
		last := len(s.daemons) - 1
		s.daemons[last].stop()
		s.daemons = s.daemons[:last]
	}
	killBelow(s.Dir)
}

func (s *Slurm) start(name string, argv ...string) error {
	return s.startIn(s.Env, name, argv...)
}

// startIn starts a daemon in an environment.
func (s *Slurm) startIn(env []string, name string, argv ...string) error {
	log, err := os.OpenFile(filepath.Join(s.Dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	d := &daemon{name: name, argv: argv, cmd: exec.CommandContext(context.Background(), argv[0], argv[1:]...), done: make(chan struct{})}
	d.cmd.Env, d.cmd.Dir = env, s.Dir
	d.cmd.Stdout, d.cmd.Stderr = log, log
	// A group of its own, so that a Ctrl-C in the terminal does not reach it before
	// Stop; and it does not outlive a test that is killed.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		_ = d.cmd.Wait()
		close(d.done)
	}()
	s.daemons = append(s.daemons, d)
	return nil
}

func (d *daemon) stop() {
	_ = d.cmd.Process.Signal(syscall.SIGCONT)
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.done:
	case <-time.After(10 * time.Second):
		_ = d.cmd.Process.Kill()
		<-d.done
	}
}

// patience is how long anything may take on a busy machine.
const patience = 90 * time.Second

// until waits until check returns nil.
func (s *Slurm) until(ctx context.Context, what string, check func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return nil
		}
		for _, d := range s.daemons {
			select {
			case <-d.done:
				return fmt.Errorf("%s has ended before %s:\n%s", d.name, what, s.Tail(d.name, 10))
			default:
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("until %s: %w", what, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// freePorts returns ports on which nothing listens.
func freePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // only when all are chosen
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// cleanEnv returns an environment without what tells Slurm's commands about
// another cluster or an enclosing job.
func cleanEnv(env []string) []string {
	var clean []string
	for _, kv := range env {
		if !strings.HasPrefix(kv, "SLURM") && !strings.HasPrefix(kv, "SBATCH") && !strings.HasPrefix(kv, "SQUEUE") && !strings.HasPrefix(kv, "SACCT") {
			clean = append(clean, kv)
		}
	}
	return clean
}

// killBelow kills the processes whose working folder or program lies below dir,
// or that were started with it in their arguments: what jobs left behind.
func killBelow(dir string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		line, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err != nil {
			continue
		}
		cwd, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if strings.HasPrefix(cwd, dir) || bytes.Contains(line, []byte(dir)) {
			var pid int
			if _, err := fmt.Sscan(e.Name(), &pid); err == nil && pid != os.Getpid() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}
