package schedulers

import (
	"context"
	"slices"

	"github.com/segue-project/segue"
)

// Bookkeeper is a driver that tells of all jobs at once what is on record of them,
// however many are asked about. One that is not is asked about each by itself.
type Bookkeeper interface {
	// Ledger returns what is on record of the jobs that were submitted from the
	// instant since on, by the clock of this machine. It is asked after State: of a
	// job that State did not show it has all that is known. A source that does not
	// answer, or not wholly, is an error of kind Unavailable.
	Ledger(ctx context.Context, since segue.Time) (Ledger, error)
}

// Ledger is what a scheduler's second source has on record, at one instant.
type Ledger struct {
	// From is the instant from which on it is complete: a job that was submitted then
	// or later, that State did not show, and that is not on record, never ran.
	From segue.Time
	// Shown is the instant from which on State shows every job, ended ones too: all that
	// there is where a record does not say which token its job carried.
	Shown segue.Time
	// Missing is how many records will yet come, because the scheduler has not passed
	// them on, or cannot be read. From then tells what can be relied on all the same.
	Missing int
	// Records are of all users, in any order: several of a job that was requeued, and
	// of a number that the scheduler gave to several jobs.
	Records []Record

	byToken map[string][]int      // records that carry it
	mute    map[segue.JobID][]int // records of a number that are mute
}

// index has fate find records by their tokens and numbers.
func (l *Ledger) index() {
	l.byToken, l.mute = map[string][]int{}, map[segue.JobID][]int{}
	for i, r := range l.Records {
		for j, token := range r.Tokens {
			if !slices.Contains(r.Tokens[:j], token) {
				l.byToken[token] = append(l.byToken[token], i)
			}
		}
		if r.Mute {
			l.mute[r.ID] = append(l.mute[r.ID], i)
		}
	}
}

// Record is what is on record of one run of a job.
type Record struct {
	ID segue.JobID
	Status
	// Tokens are all tokens in the comment and the command line: a link's script may
	// have been submitted with another's.
	Tokens []string
	// Mute is true where the source keeps nothing in which a token could be.
	Mute bool
}

// Find returns the jobs on record that carry the token, but for those of others than the
// owner, who may be empty for anybody. It fails where one that was submitted from the
// instant since on, and that State did not show, may be none of them: the error wraps
// ErrForgotten where that stays so.
func (l *Ledger) Find(token, owner string, since segue.Time) ([]segue.JobID, error) {
	if l.byToken == nil {
		l.index()
	}
	var found []segue.JobID
	for _, i := range l.byToken[token] {
		if r := &l.Records[i]; !slices.Contains(found, r.ID) && !Foreign(accountedUser(r.User), owner) {
			found = append(found, r.ID)
		}
	}
	from := l.From
	if slices.ContainsFunc(l.Records, func(r Record) bool { // which may be it
		return r.Mute && r.Submit >= since.Add(-Skew) && !Foreign(accountedUser(r.User), owner)
	}) {
		from = max(from, l.Shown)
	}
	switch {
	case len(found) > 0, since >= from:
		return found, nil
	case l.Missing > 0:
		return nil, segue.Errorf(segue.Unavailable, "the accounting lacks %d records: whether %s is one cannot be told", l.Missing, token)
	}
	return nil, segue.Errorf(segue.Unavailable, "the scheduler forgets jobs some time after their end, and no accounting shows their tokens: %s: %w", token, ErrForgotten)
}

// fate returns what the ledger says of a job of the owner's that State did not show,
// that carries the token, and was submitted at the instant since. A number alone says nothing:
// one that was lost leaves it to another job.
func (l *Ledger) fate(id segue.JobID, token, owner string, since segue.Time) Traced {
	var own []Record
	fate := FateLost
	switch {
	case since >= l.From:
	case l.Missing > 0:
		fate = FateUnknown
	default:
		fate = FateOpen
	}
	for _, i := range l.byToken[token] {
		if !Foreign(accountedUser(l.Records[i].User), owner) {
			own = append(own, l.Records[i])
		}
	}
	for _, i := range l.mute[id] {
		if r := l.Records[i]; r.HasRun() && !Foreign(accountedUser(r.User), owner) && r.Submit.Sub(since).Abs() <= Skew && fate == FateLost {
			fate = FateOpen // it may be its own record
		}
	}
	run, unread := false, false
	last := Record{Status: unknown()}
	for i, r := range own {
		run = run || r.HasRun()
		unread = unread || r.State == segue.StateUnknown
		if i == 0 || r.Submit >= last.Submit {
			last = r
		}
	}
	switch {
	case run:
		for _, r := range own { // a job that was requeued keeps its number
			if r.ID == last.ID && r.Submit < last.Submit {
				last.Restarts++
			}
		}
		return Traced{Fate: FateThere, Job: last.ID, Status: last.Status}
	case unread:
		fate = FateUnknown
	}
	return Traced{Fate: fate, Status: unknown()}
}
