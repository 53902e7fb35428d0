package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/cmd/segue/passthrough"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

// Recorder takes a chain over, whose first link has been submitted or may have
// been: a link that is submitting has a token by which the scheduler can be
// asked.
type Recorder interface {
	Record(chain segue.Chain, link segue.Link) error
}

// chainInput is what a chain is captured from.
type chainInput struct {
	args, env []string
	script    []byte
}

// submitChain submits the first link of a chain, hands the chain over, and
// returns the exit code of sbatch.
//
// The chain is written to the spool before sbatch runs, and taken out once it is
// handed over: when this process is killed in between, whoever reads the spool
// can ask the scheduler for the token.
func submitChain(job *sbatch.Job, in chainInput, std stdio) int {
	program, err := passthrough.Find(os.Getenv("SEGUE_SBATCH"), os.Getenv("PATH"))
	if err != nil {
		fmt.Fprintf(std.err, "segue: %s\n", err)
		return exitNotFound
	}
	now := segue.TimeOf(time.Now())
	chain := segue.Chain{
		ID: newChainID(), Name: job.Name, User: userName(), Created: now, State: segue.ChainActive,
		Request: job.Request, Submission: capture(job, in),
	}
	chain.Request.User = chain.User
	chain.Terms = termsOf(job, chain.Submission.Dir)
	if err := chain.Terms.Validate(); err != nil { // before there is a job
		fmt.Fprintf(std.err, "segue: %s\n", err)
		return cli.ExitUsage
	}
	link := segue.Link{
		Chain: chain.ID, Number: 1, Attempt: 1, State: segue.LinkSubmitting,
		Planned: now, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	launch := job.First(chain.Submission, link.Token(), []string{
		sbatch.ChainVariable + "=" + chain.ID,
		sbatch.LinkVariable + "=1",
		sbatch.ReadyVariable + "=" + segue.ReadyFile(chain.Terms.ReadyDir, chain.ID, link.Number),
	})
	if launch.Unheard {
		fmt.Fprintln(std.err, "segue: with this --export the job does not see the variables SEGUE_*, and cannot say that it is ready")
	}
	h := handover{chain: chain, link: link, stderr: std.err}
	if h.spool, h.server, err = servedSpool(); err != nil { // it waits for the one that is meant
		fmt.Fprintf(std.err, "segue: %s\n", err)
	}
	h.keep()
	_, parsable := job.Settings["parsable"]
	ran := runner{parsable: parsable, found: h.submitted}.run(exec.CommandContext(context.Background(), program), launch, std)
	switch {
	case ran.err != nil:
		h.drop()
		fmt.Fprintf(std.err, "segue: run %s: %s\n", program, ran.err)
		return cli.ExitFailure
	case h.link.State != segue.LinkSubmitting: // handed over while sbatch ran
	case ran.code == 0 && ran.signal == 0 || ran.signal != 0 || sbatch.Doubtful(ran.stderr):
		h.record()
	default:
		h.drop()
	}
	if ran.signal != 0 {
		dieBy(ran.signal)
	}
	return ran.code
}

// handover leaves a chain in the spool, and brings it to the server, where there is
// one, once.
type handover struct {
	spool  spool
	server *carrier // nil without one
	lost   bool     // it could not be kept
	chain  segue.Chain
	link   segue.Link
	stderr io.Writer
}

// keep writes the chain to the spool, and makes the folder in which the link is
// to say that it is ready.
func (h *handover) keep() {
	_ = os.MkdirAll(h.chain.Terms.ReadyDir, 0o700)
	if err := h.spool.Record(h.chain, h.link); err != nil {
		h.unmanaged(err)
		h.lost = true
	}
}

// submitted notes the number of the link's job.
func (h *handover) submitted(job segue.JobID) {
	if h.link.State != segue.LinkSubmitting {
		return
	}
	h.link.State, h.link.Job, h.link.Submitted = segue.LinkQueued, job, segue.TimeOf(time.Now())
	h.record()
}

// record notes in the spool what has become of the link, and hands the chain over. Where
// that cannot be noted, as on a full disk, the spool still has the chain as one that is
// being submitted.
func (h *handover) record() {
	if h.lost || !h.spool.holds(h.chain.ID) {
		return
	}
	unnoted := h.spool.Record(h.chain, h.link)
	if h.server == nil {
		if unnoted != nil {
			h.tell("the chain is taken up in %d minutes: %s", patience/time.Minute, oneLine(unnoted))
		}
		return
	}
	h.server.again = 9
	done, alone := h.spool.alone()
	for wait := 0; !alone && wait < 100; wait++ { // somebody hands over what waited before
		_ = schedulers.Sleep(context.Background(), 100*time.Millisecond)
		done, alone = h.spool.alone()
	}
	defer done()
	err := errors.New("another segue hands chains over")
	if alone {
		err = h.server.Record(h.chain, h.link)
	}
	switch {
	case err == nil:
		h.spool.taken(spooled{Chain: h.chain, Link: h.link})
	case errors.Is(err, errRefused):
		h.tell("%s", oneLine(h.spool.refused(spooled{Chain: h.chain, Link: h.link}, err)))
	case unnoted != nil:
		h.tell("the chain waits for the server, which keeps it going once it has it: `segue status` brings it there in %d minutes at the earliest: %s",
			patience/time.Minute, oneLine(errors.Join(err, unnoted)))
	default:
		h.tell("the chain waits for the server, which keeps it going once it has it: `segue status` brings it there: %s", oneLine(err))
	}
}

func (h *handover) tell(format string, args ...any) {
	fmt.Fprintf(h.stderr, "segue: "+format+"\n", args...)
}

// oneLine returns the message of an error on one line.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func (h *handover) drop() { _ = h.spool.remove(h.chain.ID) }

func (h *handover) unmanaged(err error) {
	h.tell("the job is not managed as a chain: %s", err)
}

// capture notes all that a later link needs to be submitted as this one is.
func capture(job *sbatch.Job, in chainInput) segue.Submission {
	s := segue.Submission{Args: in.args, ScriptAt: -1, Script: in.script, Env: in.env, Limits: limits()}
	if job.Script != "" {
		s.ScriptAt = job.Line.Script
	}
	// As the shell calls it, which may go through symbolic links.
	s.Dir, _ = os.Getwd()
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	s.Umask = uint32(mask)
	return s
}

// termsOf returns the terms of a chain that is submitted from dir. The file that
// says that the work is done is meant where the job runs, and the agent, which
// looks for it, runs elsewhere.
func termsOf(job *sbatch.Job, dir string) segue.Terms {
	terms := job.Terms.WithDefaults()
	terms.ReadyDir = readyDir()
	if terms.DoneFile != "" {
		terms.DoneFile = under(workDir(job, dir), terms.DoneFile)
	}
	return terms
}

// workDir returns the folder in which a job runs that is submitted from dir.
func workDir(job *sbatch.Job, dir string) string { return under(dir, job.Settings.Value("chdir")) }

// under returns path, seen from dir.
func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// limits returns the limits of this process, in the order of sbatch.Resources.
func limits() []segue.ResourceLimit {
	all := make([]segue.ResourceLimit, 0, len(sbatch.Resources))
	for _, p := range sbatch.Resources {
		var r unix.Rlimit
		if unix.Getrlimit(p.Number, &r) != nil {
			continue
		}
		if p.Name == "NOFILE" {
			r.Cur = startedWith(r.Cur)
		}
		all = append(all, segue.ResourceLimit{Name: p.Name, Soft: r.Cur, Hard: r.Max})
	}
	return all
}

// startedWith returns the soft limit of open files that this process was started
// with. Go's runtime has raised it since, and puts it back only for those whom
// it starts: so one of them is asked.
func startedWith(raised uint64) uint64 {
	out, err := exec.CommandContext(context.Background(), "/bin/sh", "-c", "ulimit -Sn").Output()
	n, parseErr := strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
	if err != nil || parseErr != nil { // or it says "unlimited"
		return raised
	}
	return n
}

func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

// newChainID returns six letters and digits that nobody else has by chance.
func newChainID() string { return strings.ToLower(rand.Text()[:6]) }

// stateDir is where segue keeps what one user's processes share: the same folder
// from wherever they are started. A relative XDG_STATE_HOME does not count, as its
// specification asks, nor does a relative HOME.
func stateDir() string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home := os.Getenv("HOME")
		if u, err := user.Current(); !filepath.IsAbs(home) && err == nil {
			home = u.HomeDir
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "segue")
}

// readyDir is the folder of the files by which links say that they are of use.
func readyDir() string { return filepath.Join(stateDir(), "ready") }
