package nightly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/segue-project/segue"
)

// grace is how long a training that was told to end may take, before it is killed:
// whoever waits for it to end has perhaps half a minute.
const grace = 10 * time.Second

// hearing is how long what it has written is waited for after a process has ended: what
// it has left behind in a session of its own may keep its output open for ever.
const hearing = time.Second

// execute runs a command as a process, its output into log. The error ends with
// the last words that it wrote. Once ctx ends, the process and those that it started
// are told to (SIGTERM); they are a group of their own, so that ^C in a terminal
// reaches them this way too. After the grace it is killed, and who is left of the
// group when it has ended.
func execute(ctx context.Context, argv []string, log io.Writer) error {
	said, says, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	var tail last
	heard := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.MultiWriter(log, &tail), said)
		heard <- errors.Join(err, said.Close())
	}()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = says, says
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	group := func(s syscall.Signal) error { return syscall.Kill(-cmd.Process.Pid, s) }
	cmd.Cancel = func() error { return group(syscall.SIGTERM) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	if cmd.Process != nil {
		_ = group(syscall.SIGKILL) // mostly nobody is left
	}
	err = errors.Join(err, says.Close())
	past := time.Unix(0, 0)
	enough := time.AfterFunc(hearing, func() { _ = said.SetReadDeadline(past) }) // it may be closed by then
	if said := <-heard; !errors.Is(said, os.ErrDeadlineExceeded) {
		err = errors.Join(err, said)
	}
	enough.Stop()
	if errors.Is(err, exec.ErrNotFound) {
		return segue.Errorf(segue.NotFound, "%w: segue-trainer is a program of its own (`make trainer` builds it)", err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", argv[0], err, tail.words())
	}
	return nil
}

// last keeps the end of what is written.
type last struct{ end []byte }

func (l *last) Write(b []byte) (int, error) {
	const most = 2000
	l.end = append(l.end, b...)
	l.end = l.end[max(0, len(l.end)-most):]
	return len(b), nil
}

// words returns the last two lines that are not empty: the last alone is often
// where to find help.
func (l *last) words() string {
	lines := strings.FieldsFunc(string(bytes.TrimSpace(l.end)), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return "it wrote nothing"
	}
	return strings.Join(lines[max(0, len(lines)-2):], " ")
}
