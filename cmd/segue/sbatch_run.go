package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

// runner runs the real sbatch, and lets through what it prints.
type runner struct {
	parsable bool
	// found is called with the job's number as soon as sbatch has printed it: with
	// --wait that is long before it ends.
	found func(segue.JobID)
}

// ending is how sbatch ended.
type ending struct {
	code   int
	signal syscall.Signal // that ended it; 0 otherwise
	stderr []byte         // the end of it
	err    error          // it could not be started
}

func (r runner) run(cmd *exec.Cmd, l sbatch.Launch, std stdio) ending {
	cmd.Args = append([]string{"sbatch"}, l.Args...)
	cmd.Env = l.Env
	cmd.Stdin = std.in
	if l.Stdin != nil {
		cmd.Stdin = bytes.NewReader(l.Stdin)
	}
	answer := &listener{to: std.out, heard: func(text []byte) {
		if job, _, ok := sbatch.Answer(text, r.parsable); ok {
			r.found(job)
		}
	}}
	complaint := &listener{to: std.err}
	cmd.Stdout, cmd.Stderr = answer, complaint
	if sameFile(std.out, std.err) { // one pipe for both keeps their order
		cmd.Stderr = answer
		complaint = answer
	}
	if err := cmd.Start(); err != nil {
		return ending{err: err}
	}
	stop := forward(cmd.Process)
	err := cmd.Wait()
	stop()
	result := ending{stderr: complaint.tail}
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		status, _ := exit.Sys().(syscall.WaitStatus)
		result.code = exit.ExitCode()
		if status.Signaled() {
			result.signal = status.Signal()
		}
	default: // the streams: sbatch itself did what it could
		result.code = cmd.ProcessState.ExitCode()
	}
	return result
}

// listener hands everything on at once, and keeps the end of it.
type listener struct {
	to    io.Writer
	heard func(text []byte)
	tail  []byte
}

// maxTail is how much a listener keeps: banners come before the answer.
const maxTail = 64 << 10

func (l *listener) Write(p []byte) (int, error) {
	l.tail = append(l.tail, p...)
	if len(l.tail) > maxTail {
		l.tail = l.tail[len(l.tail)-maxTail:]
	}
	n, err := l.to.Write(p)
	// Only whole lines: a number may go on.
	if end := bytes.LastIndexByte(l.tail, '\n'); l.heard != nil && end >= 0 {
		l.heard(l.tail[:end+1])
	}
	return n, err
}

func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	x, err := f.Stat()
	y, err2 := g.Stat()
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// forward hands signals on to sbatch, until stop. Those of the keyboard reach it
// anyway; this process only must not end before it.
func forward(p *os.Process) (stop func()) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if s != syscall.SIGINT && s != syscall.SIGQUIT {
					_ = p.Signal(s)
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// dieBy ends this process as sbatch ended, so that whoever waits for it sees the
// same.
func dieBy(s syscall.Signal) {
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
	// A signal that does not end a process: answer as a shell does.
	os.Exit(128 + int(s))
}
