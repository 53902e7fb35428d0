package store

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// childVariable, when it is set, makes the test program a child that does what the
// variable says and nothing else.
const childVariable = "SEGUE_STORE_CHILD"

func runChild(script string) {
	switch script {
	case "read-only":
		s, err := Open(context.Background(), os.Getenv("WHERE"), Config{})
		if err == nil {
			err = s.CreateChain(context.Background(), aChain("d"), aLink("d", 1))
		}
		fmt.Print(segue.KindOf(err), ": ", err)
	case "many":
		for i := range childChains {
			if err := createIn(os.Getenv("WHERE"), fmt.Sprintf("%sx%d", os.Getenv("NAME"), i)); err != nil {
				fmt.Print(err)
				os.Exit(1)
			}
		}
	case "full":
		if err := fillUp(os.Getenv("WHERE"), os.Getenv("ENDED")); err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
	case "life":
		if err := live(os.Getenv("WHERE"), os.Getenv("KILL_AT")); err != nil {
			fmt.Print(err)
			os.Exit(1)
		}
	}
}

// childChains is how many chains a child makes, each in a store opened anew.
const childChains = 8

func createIn(where, id string) error {
	ctx := context.Background()
	s, err := Open(ctx, where, Config{})
	if err != nil {
		return err
	}
	if err := s.CreateChain(ctx, aChain(id), aLink(id, 1)); err != nil {
		return closeAfter(err, s)
	}
	if err := s.UpdateLink(ctx, segue.LinkSubmitting, running(aLink(id, 1))); err != nil {
		return closeAfter(err, s)
	}
	if _, err := s.NextLink(ctx, running(aLink(id, 1)), aDecision(t0)); err != nil {
		return closeAfter(err, s)
	}
	return s.Close()
}

// live does all that changes a store, and kills itself before the statement of
// that number.
func live(where, killAt string) error {
	n, err := strconv.Atoi(killAt)
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := Open(ctx, where, Config{})
	if err != nil {
		return err
	}
	s.step = func() error {
		if n--; n < 0 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		return nil
	}
	lease, err := s.Acquire(ctx, "agent", fmt.Sprint(os.Getpid()), t0, time.Minute)
	if err != nil {
		return err
	}
	u := s.Under(lease)
	last := aLink("c", 1)
	if err := u.CreateChain(ctx, aChain("c"), last); err != nil {
		return err
	}
	for i := range 3 {
		fmt.Println(last.Token()) // what the scheduler is asked to run
		if err := u.UpdateLink(ctx, segue.LinkSubmitting, running(last)); err != nil {
			return err
		}
		next, err := u.NextLink(ctx, running(last), aDecision(t0.Add(time.Duration(i)*time.Hour)))
		if err != nil {
			return err
		}
		ended := running(last)
		ended.State, ended.End = segue.LinkEnded, t0.Add(time.Hour)
		if err := u.UpdateLink(ctx, segue.LinkRunning, ended); err != nil {
			return err
		}
		if err := u.RecordOutcome(ctx, Outcome{Chain: "c", Number: next.Number, At: t0}); err != nil {
			return err
		}
		last = next
	}
	if _, err := s.ImportJobs(ctx, "c", madeUp(100)); err != nil {
		return err
	}
	for i, snap := range []segue.Snapshot{{Pending: []segue.QueuedJob{queued(1)}}, {}} {
		snap.At = t0.Add(time.Duration(i) * time.Minute)
		if _, err := s.RecordSnapshot(ctx, "c", snap); err != nil {
			return err
		}
	}
	if err := u.SetChainState(ctx, "c", segue.ChainActive, segue.ChainStopped, "enough"); err != nil {
		return err
	}
	fmt.Println("the end")
	return s.Close()
}

// anybodyElse returns how root starts a program as nobody.
func anybodyElse() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// copyProgram copies the test program to where everybody may run it.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
