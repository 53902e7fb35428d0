package slurm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
)

// userIDs are users of every Debian, besides root.
var userIDs = map[string]uint32{"daemon": 1, "nobody": 65534}

func asUser(user string) (*syscall.Credential, error) {
	id, ok := userIDs[user]
	if !ok {
		return nil, segue.Errorf(segue.Invalid, "there is no user %q", user)
	}
	return &syscall.Credential{Uid: id, Gid: id}, nil
}

// The names and comments of jobs are what their users like: also what looks like records
// of Slurm's answers. And a job is cancelled as its user, whom Slurm lets touch nobody
// else's.
func TestWhatAUserWritesIntoAJobIsNoOtherJob(t *testing.T) {
	t.Parallel()
	if testing.Short() || os.Getuid() != 0 {
		return // it takes a real Slurm, and root's rights
	}
	s := slurmtest.Start(t, slurmtest.Config{Nodes: 2, Accounting: true})
	d := slurm.New(slurm.Config{Env: append(s.Env, "SECRET=of the server"), As: asUser})
	sbatch := func(user string, args ...string) segue.JobID {
		cmd := s.Command(t.Context(), "sbatch", append([]string{"--parsable", "--output=/dev/null", "--chdir=/"}, args...)...)
		as, _ := asUser(user)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("sbatch as %s: %v: %s", user, err, out)
		}
		id, err := segue.ParseJobID(strings.TrimSpace(string(out)))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	victim := sbatch("daemon", "--job-name=train", "--comment=segue:abc/1.1", "--time=30", "--wrap=sleep 600")
	now := time.Now().Unix()
	shown := []string{
		victim.String(), "COMPLETED", "1", "daemon", "batch", "1", "30:00", fmt.Sprint(now), fmt.Sprint(now), fmt.Sprint(now), fmt.Sprint(now),
		"1", "None", "", "", "1", "0", "0:0", "1", "", "normal", "", "", "", "", "train",
	}
	accounted := fmt.Sprintf("%s|COMPLETED|%d|%d|%d|0:0|00:30:00|daemon|segue:abc/1.1|x", victim, now, now, now)
	evil := sbatch("nobody", "--nice=1000", "--time=20", "--wrap=sleep 500", "--account=x\x1fnormal\x1fJobHeldAdmin\x1flaunch failed requeued held",
		"--job-name=x\x1fc\x1e\n"+strings.Join(shown, "\x1f")+"\x1fsegue:abc/1.1\x1e\n"+accounted+"\n", "--comment=a\n"+accounted+"\nb|c\x1fd\x1e")

	var state schedulers.State
	until(t, "the victim runs", func() (err error) {
		if state, err = d.State(t.Context()); err == nil && !running(state, victim) {
			err = fmt.Errorf("jobs are %+v", state.Jobs)
		}
		return err
	})
	if len(state.Jobs) != 2 || state.Skipped != 0 {
		t.Errorf("squeue shows %d jobs and %d that cannot be read, want 2 and none: %+v", len(state.Jobs), state.Skipped, state.Jobs)
	}
	for _, j := range state.Jobs {
		if want := map[segue.JobID]string{victim: "daemon", evil: "nobody"}[j.ID]; j.User != want || strings.Contains(j.Reason, "launch") {
			t.Errorf("job %s is %s's and waits for %q, want %q's", j.ID, j.User, j.Reason, want)
		}
	}
	var known map[segue.JobID]schedulers.Status
	until(t, "the accounting knows both", func() (err error) {
		if known, err = d.Status(t.Context(), []segue.JobID{victim, evil}); err == nil && (known[evil].User == "" || known[victim].State != segue.Running) {
			err = fmt.Errorf("it knows %+v", known)
		}
		return err
	})
	if known[evil].User != "nobody" || known[victim].User != "daemon" || known[victim].Token != "segue:abc/1.1" {
		t.Errorf("the accounting says %+v", known)
	}
	var history bytes.Buffer
	if err := d.History(t.Context(), segue.Seconds(now-3600), segue.Seconds(now+3600), &history); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(history.String()), "\n")
	for _, line := range lines {
		if strings.Count(line, "|") < strings.Count(lines[0], "|") { // the last one, the name, may have more of them
			t.Errorf("a line of the history has fewer columns than its first one: %s", line)
		}
	}
	if len(lines) != 3 {
		t.Errorf("the history has %d lines, want a head and two jobs:\n%s", len(lines), history.String())
	}

	as := func(user string) schedulers.Driver {
		own, err := d.As(user)
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	if err := as("nobody").Cancel(t.Context(), victim); err == nil {
		t.Error("nobody cancels the job of daemon")
	}
	if state, err := d.State(t.Context()); err != nil || !running(state, victim) {
		t.Errorf("the job of daemon no longer runs: %+v, %v", state.Jobs, err)
	}
	if err := as("daemon").Cancel(t.Context(), victim); err != nil {
		t.Errorf("daemon does not cancel an own job: %v", err)
	}
	if _, err := d.As("eve"); segue.KindOf(err) != segue.Invalid {
		t.Errorf("a user who is not known: %v, want an error of kind invalid", err)
	}
}

func running(s schedulers.State, id segue.JobID) bool {
	for _, j := range s.Jobs {
		if j.ID == id {
			return j.State == segue.Running
		}
	}
	return false
}

// until waits for what a real Slurm takes its time for.
func until(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("until %s: %v", what, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// What runs as a user has no terminal of the server's to type into, and of its
// environment what leads to Slurm.
func TestWhatRunsAsAUserIsCutOffFromTheServer(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		return // who is not root runs nothing as somebody else
	}
	run := func(c slurm.Command) string {
		t.Helper()
		c.Argv = []string{"/bin/sh", "-c", `id -u; env | sort; [ "$(cut -d' ' -f6 /proc/$$/stat)" = $$ ] && echo own session`}
		r, err := slurm.RunCommand(t.Context(), c)
		if err != nil || r.Code != 0 {
			t.Fatalf("%v: %d: %s", err, r.Code, r.Stderr)
		}
		return string(r.Stdout)
	}
	var ran []slurm.Command
	d := slurm.New(slurm.Config{
		Env: []string{"PATH=" + os.Getenv("PATH"), "SLURM_CONF=/etc/own.conf", "DATABASE_URL=secret", "SLURM_JWT=secret"}, As: asUser,
		Run: func(_ context.Context, c slurm.Command) (slurm.Result, error) {
			ran = append(ran, c)
			return slurm.Result{}, nil
		},
	})
	own, err := d.As("nobody")
	if err != nil {
		t.Fatal(err)
	}
	if err := own.Cancel(t.Context(), segue.JobID{Number: 1}); err != nil || len(ran) != 1 {
		t.Fatalf("%d commands, %v", len(ran), err)
	}
	if said := run(ran[0]); !strings.HasPrefix(said, "65534\n") || strings.Contains(said, "secret") || !strings.Contains(said, "SLURM_CONF=/etc/own.conf") || !strings.HasSuffix(said, "own session\n") {
		t.Errorf("what cancels as nobody says\n%s", said)
	}
	nobody, _ := asUser("nobody")
	said := run(slurm.Command{Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/", As: &slurm.Process{}, Credential: nobody})
	if !strings.HasPrefix(said, "65534\n") || !strings.HasSuffix(said, "own session\n") {
		t.Errorf("what submits as nobody says\n%s", said)
	}
}

// A server may have less than its users' shells, and gives what it has.
func TestALimitOfAUserGoesAsFarAsTheServersOwn(t *testing.T) {
	t.Parallel()
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[uint64]uint64{100: 100, most.Max + 1: most.Max} {
		r, err := slurm.RunCommand(t.Context(), slurm.Command{
			Argv: []string{"/bin/sh", "-c", "ulimit -n"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/",
			As: &slurm.Process{Umask: 0o22, Limits: []segue.ResourceLimit{{Name: "NOFILE", Soft: asked, Hard: asked}}},
		})
		if got := strings.TrimSpace(string(r.Stdout)); err != nil || got != fmt.Sprint(want) {
			t.Errorf("of %d it gets %q, %v: %s; want %d", asked, got, err, r.Stderr, want)
		}
	}
}
