package server

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/segue-project/segue"
)

// How long the system's commands for names may take, and how long what they said
// serves. Names change seldom: what is older than namesFresh is asked for again while
// it still serves, so that nobody waits for it; and where the directory does not
// answer it serves for namesKept. That it knows nobody, or does not answer, is
// believed for namesDoubt.
const (
	namesPatience = 2 * time.Second
	namesFresh    = time.Minute
	namesKept     = 10 * time.Minute
	namesDoubt    = 10 * time.Second
)

// mostNames bounds what is remembered.
const mostNames = 10_000

// names remembers what the system's commands for names (getent, id) said. One
// question is asked once at a time, and waits for no other question.
type names struct {
	now func() segue.Time
	// run runs one of these commands and returns what it prints; an error says that it
	// knows nobody, or does not answer.
	run func(command string, args ...string) (string, error)

	mu   sync.Mutex
	said map[string]*said // by the command line
}

// said is what a command said last.
type said struct {
	text  string
	err   error
	at    segue.Time // NoTime before it was asked
	again segue.Time // when it is to be asked again
	// known says that somebody was found before, and gone since when nobody is any more:
	// NoTime while somebody is, or it does not answer.
	known bool
	gone  segue.Time

	asking chan struct{} // closed when the answer is there; nil while nobody asks
}

func newNames(now func() segue.Time, patience time.Duration) *names {
	return &names{now: now, run: within(patience), said: map[string]*said{}}
}

// within runs commands, each for so long at most.
func within(patience time.Duration) func(command string, args ...string) (string, error) {
	return func(command string, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, command, args...)
		cmd.WaitDelay = patience
		out, err := cmd.Output()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", cmd, err)
		}
		return string(out), nil
	}
}

// ask returns what a command says. It waits where nothing serves that it said before.
func (n *names) ask(command string, args ...string) (string, error) {
	line, now := command+" "+strings.Join(args, " "), n.now()
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.said[line]
	if !ok {
		if len(n.said) >= mostNames {
			clear(n.said)
		}
		s = &said{at: segue.NoTime, again: now, gone: segue.NoTime}
		n.said[line] = s
	}
	if s.due(now) && s.asking == nil {
		s.asking = make(chan struct{})
		go n.renew(s, now, command, args) // which ends with the command, whose time is bounded
	}
	if s.due(now) && !s.serves(now) {
		answered := s.asking
		n.mu.Unlock()
		<-answered
		n.mu.Lock()
	}
	if isNobody(s.err) {
		return "", &nobody{s.err, s.known, s.at.Sub(s.gone) >= namesKept}
	}
	return s.text, s.err
}

// nobody is the error of a command that knows nobody.
type nobody struct {
	err    error
	before bool // somebody was known before
	sure   bool // it says nothing else for so long that no outage is behind it
}

func (n *nobody) Error() string { return n.err.Error() }

// due reports whether it is to be asked again, also after the clock was set back.
func (s *said) due(now segue.Time) bool { return now >= s.again || s.again.Sub(now) > namesFresh }

// serves reports whether an answer does while it is asked for again.
func (s *said) serves(now segue.Time) bool {
	return s.at.Known() && s.err == nil && now.Sub(s.at).Abs() < namesKept
}

// renew asks, and puts down what was said.
func (n *names) renew(s *said, now segue.Time, command string, args []string) {
	text, err := n.run(command, args...)
	n.mu.Lock()
	defer n.mu.Unlock()
	s.again = now.Add(namesFresh)
	if err != nil {
		s.again = n.now().Add(namesDoubt)
	}
	switch {
	case err == nil:
		s.known, s.gone = true, segue.NoTime
	case !isNobody(err):
		s.gone = segue.NoTime
	case !s.gone.Known():
		s.gone = now
	}
	if err == nil || !s.serves(now) {
		s.text, s.err, s.at = text, err, now
	}
	close(s.asking)
	s.asking = nil
}

// nobodyFound is the exit code of getent(1) for a key that is not there; others are
// its own failures.
const nobodyFound = 2

func isNobody(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == nobodyFound
}
