package segue

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Chain is work that goes on over several jobs, its links.
type Chain struct {
	ID      string // short and unique in a store: "k3v9q2"
	Name    string // the job name of its links
	User    string
	Created Time
	State   ChainState
	// Why is one sentence that says why the chain is in its state; empty while
	// it is active.
	Why     string
	Request Request
	Terms   Terms
	// Submission is what was captured at the first submission, and what every
	// later link replays.
	Submission Submission
}

// ChainState is where a chain stands.
type ChainState uint8

// The states of a chain. An active and a paused one may become any other; the
// rest are final.
const (
	ChainActive  ChainState = iota // links are submitted when it is time
	ChainPaused                    // what was submitted goes on; nothing more is submitted
	ChainDone                      // what the user asked for is there
	ChainStopped                   // by the user
	ChainFailed                    // its links fail, or it may not go on; Why says more
)

var chainStates = [...]string{"active", "paused", "done", "stopped", "failed"}

// String returns the state in one lower-case word.
func (s ChainState) String() string { return nameOf(chainStates[:], "ChainState", int(s)) }

// ParseChainState returns the state of that name.
func ParseChainState(name string) (ChainState, error) {
	i, err := indexOf(chainStates[:], "state of a chain", name)
	return ChainState(i), err
}

// Final reports whether a chain in this state never goes on.
func (s ChainState) Final() bool { return s >= ChainDone }

// MayBecome reports whether a chain may go from this state to another one.
func (s ChainState) MayBecome(next ChainState) bool { return !s.Final() && next != s }

// Terms say how a chain is to go on, and when it is over. Zero fields ask for
// nothing.
type Terms struct {
	Prefer Preference // default balanced
	// MaxLinks and MaxTime end the chain: after so many links, or so much time in
	// which at least one ran.
	MaxLinks int
	MaxTime  time.Duration
	// DoneFile, when it exists, says that the work is done; so does a link that
	// ends with one of the exit codes of DoneCodes (default 0).
	DoneFile  string
	DoneCodes []int
	// Startup is how long a link needs before it is of use (a server that loads
	// its model): it should overlap its predecessor by as much.
	Startup time.Duration
	// MinLead and MaxLead bound how long before the end of its predecessor a link
	// is submitted; MaxLead 0 is no bound.
	MinLead, MaxLead time.Duration
	// FastFail is the run time below which a link that failed counts as a fast
	// failure (default 2 minutes), and MaxFastFails how many of them in a row end
	// the chain (default 3). Each waits twice as long as the one before.
	FastFail     time.Duration
	MaxFastFails int
	// MaxGPUHours ends the chain before a link that could go beyond it.
	MaxGPUHours float64
	// StopPredecessor cancels a link as soon as its successor says that it is
	// ready.
	StopPredecessor bool
	// ReadyDir is the folder of ReadyFile, which segue sbatch chooses: it is the
	// user's own, whoever keeps the chain going.
	ReadyDir string
}

// ReadyFile is the file in a folder for such files by which a link says that it is of
// use.
func ReadyFile(dir, chain string, link int) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%d", chain, link))
}

// Defaults of Terms.
const (
	DefaultFastFail     = 2 * time.Minute
	DefaultMaxFastFails = 3
)

// WithDefaults returns the terms with the defaults of what was not asked for.
func (t Terms) WithDefaults() Terms {
	if t.Prefer == 0 {
		t.Prefer = Balanced
	}
	if t.DoneCodes == nil {
		t.DoneCodes = []int{0}
	}
	if t.FastFail == 0 {
		t.FastFail = DefaultFastFail
	}
	if t.MaxFastFails == 0 {
		t.MaxFastFails = DefaultMaxFastFails
	}
	return t
}

// Validate refuses terms that make no sense, and paths that are no UTF-8: those who keep
// terms, or pass them on, do so as text, and would have another file looked for.
func (t Terms) Validate() error {
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"longest time", t.MaxTime}, {"start-up time", t.Startup}, {"least lead", t.MinLead}, {"longest lead", t.MaxLead}, {"fast failure", t.FastFail}} {
		if d.value < 0 {
			return Errorf(Invalid, "the %s of a chain is %s, want 0 or more", d.name, d.value)
		}
	}
	switch {
	case !utf8.ValidString(t.DoneFile):
		return Errorf(Invalid, "the file %q that says that the work is done: want a path in UTF-8", t.DoneFile)
	case !utf8.ValidString(t.ReadyDir):
		return Errorf(Invalid, "the folder %q in which links say that they are of use: want a path in UTF-8", t.ReadyDir)
	case t.MaxLinks < 0:
		return Errorf(Invalid, "a chain of %d links, want 1 or more, or 0 for no bound", t.MaxLinks)
	case t.MaxFastFails < 0:
		return Errorf(Invalid, "a chain that ends after %d fast failures, want 1 or more", t.MaxFastFails)
	case t.MaxLead > 0 && t.MinLead > t.MaxLead:
		return Errorf(Invalid, "the least lead %s is more than the longest %s", t.MinLead, t.MaxLead)
	case !(t.Prefer == 0 || t.Prefer >= minPreference && t.Prefer <= maxPreference):
		return Errorf(Invalid, "preference %v: want a number from %g to %g", float64(t.Prefer), minPreference, float64(maxPreference))
	case !(t.MaxGPUHours >= 0):
		return Errorf(Invalid, "at most %v GPU-hours, want 0 (no bound) or more", t.MaxGPUHours)
	}
	return nil
}

// Submission is all that a job took from whoever submitted it, so that the same
// can be submitted again later, from elsewhere.
type Submission struct {
	// Args are the arguments of sbatch: its options, the name of the script, and
	// the script's own arguments. ScriptAt is the place of the script's name among
	// them, -1 where there is none (--wrap, standard input).
	Args     []string
	ScriptAt int
	Script   []byte   // the text of the batch script; empty with --wrap
	Env      []string // K=V
	Dir      string   // working directory
	Umask    uint32
	Limits   []ResourceLimit
}

// ResourceLimit is a limit on what a process may use (getrlimit), by the name
// without RLIMIT_: "NOFILE". Infinite is math.MaxUint64.
type ResourceLimit struct {
	Name       string
	Soft, Hard uint64
}

// Link is one job of a chain.
type Link struct {
	Chain  string // its ID
	Number int    // from 1
	// Attempt counts the submissions of the link, from 1: another follows only
	// when it is certain that the one before made no job, or one that the scheduler
	// has lost before it started.
	Attempt int
	State   LinkState
	Job     JobID // of the scheduler; zero until it is known

	Planned   Time // when it was decided to submit
	Submitted Time // as the scheduler says; NoTime before
	Start     Time // NoTime before
	End       Time // NoTime before
	Ready     Time // when it said that it is of use; NoTime before

	Ended    JobState // how it ended
	ExitCode int
	Signal   int
	Restarts int // requeues by the scheduler
}

// LinkState is where a link stands.
type LinkState uint8

// The states of a link, in the order in which it goes through them; it may skip
// some. Lost is the end of an attempt of which nothing ever ran: its submission
// made no job, or the scheduler took the job and lost it while it waited. It is
// not counted as a link: another attempt at the same one follows.
const (
	LinkSubmitting LinkState = iota // recorded, before the scheduler is asked
	LinkQueued                      // the scheduler has it
	LinkRunning
	LinkEnded
	LinkLost
)

var linkStates = [...]string{"submitting", "queued", "running", "ended", "lost"}

// String returns the state in one lower-case word.
func (s LinkState) String() string { return nameOf(linkStates[:], "LinkState", int(s)) }

// ParseLinkState returns the state of that name.
func ParseLinkState(name string) (LinkState, error) {
	i, err := indexOf(linkStates[:], "state of a link", name)
	return LinkState(i), err
}

// Final reports whether a link in this state never changes again.
func (s LinkState) Final() bool { return s >= LinkEnded }

// MayBecome reports whether a link may go from this state to another one. A
// running link is queued again when the scheduler requeues it. One that has run is
// never lost, whatever becomes of its job: it counts.
func (s LinkState) MayBecome(next LinkState) bool {
	switch s {
	case LinkSubmitting:
		return next > LinkSubmitting && next <= LinkLost
	case LinkQueued:
		return next == LinkRunning || next == LinkEnded || next == LinkLost
	case LinkRunning:
		return next == LinkQueued || next == LinkEnded
	}
	return false
}

// Token returns what names one submission of a link to the scheduler, which can
// be asked for it: "segue:k3v9q2/7.1" for the first attempt of the seventh link.
func (l *Link) Token() string { return fmt.Sprintf("segue:%s/%d.%d", l.Chain, l.Number, l.Attempt) }

var tokenPattern = regexp.MustCompile(`segue:([a-z0-9]+)/([0-9]{1,9})\.([0-9]{1,9})`)

// FindToken returns the token that is part of a comment, and whose it is.
func FindToken(comment string) (token, chain string, number, attempt int, ok bool) {
	m := tokenPattern.FindStringSubmatch(comment)
	if m == nil {
		return "", "", 0, 0, false
	}
	number, _ = strconv.Atoi(m[2])
	attempt, _ = strconv.Atoi(m[3])
	return m[0], m[1], number, attempt, true
}

// FindTokens returns all tokens in a text, in its order.
func FindTokens(text string) []string { return tokenPattern.FindAllString(text, -1) }

func nameOf(names []string, what string, i int) string {
	if i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", what, i)
}

func indexOf(names []string, what, name string) (int, error) {
	for i, n := range names {
		if n == name {
			return i, nil
		}
	}
	return 0, Errorf(Corrupt, "%s %q: want one of %s", what, name, strings.Join(names, ", "))
}
