package shadow

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// Rule says which jobs count as continued by hand. Its zero value is the rule of
// docs/pilot.md, which says why it is so.
type Rule struct {
	// MinLimit is the least time limit of a predecessor; default 12 hours. Shorter
	// jobs that run into their limits are mostly trials.
	MinLimit time.Duration
	// Within is how long after the end of a predecessor its successor is submitted
	// at the latest; default 24 hours. Later the user did something else meanwhile.
	Within time.Duration
}

func (r Rule) withDefaults() Rule {
	if r.MinLimit == 0 {
		r.MinLimit = 12 * time.Hour
	}
	if r.Within == 0 {
		r.Within = 24 * time.Hour
	}
	return r
}

func (r Rule) validate() error {
	if r.MinLimit < 0 || r.Within < 0 {
		return segue.Errorf(segue.Invalid, "hand-overs of jobs of at least %s, submitted within %s: want 0 or more", r.MinLimit, r.Within)
	}
	return nil
}

const (
	// usedUp is the share of its limit after which a job counts as ended by it: on
	// Lonestar6 1,651 jobs of four hours or more ran for all of it and more, and 24
	// for 99 to 100 %, as many as for any other hundredth.
	usedUp = 0.99
	// longestOverlap is the share of its predecessor's run for which a successor may
	// run beside it. One that started earlier is a second job of the same kind.
	longestOverlap = 0.5
)

// Handover is a job that ran into its limit and the one that its user continued it
// with, by their places in the history.
type Handover struct {
	Before, After int
	How           How
}

// How is when a user submitted the successor.
type How uint8

// The ways of users.
const (
	// AfterEnd: once the predecessor had ended; the user came back and resubmitted.
	AfterEnd How = iota
	// Queued: before it ended, and the successor waited beyond the end in the queue.
	Queued
	// Dependent: before it ended, and the successor could not have started earlier,
	// by the record or by what it gives away.
	Dependent
	// Overlapping: before it ended, and both ran for a while.
	Overlapping
)

// String returns the stable name of the way.
func (h How) String() string { return [...]string{"after", "queued", "dependent", "overlap"}[h] }

// Found are the hand-overs of a period, in the order of their predecessors' ends,
// and why there are no more of them.
type Found struct {
	Handovers []Handover
	// UsedUp is how many jobs ran into their limit in the period. Of them Alone had
	// no successor, that of Late came too late, SideBySide had others of the same
	// kind beside them, so that nobody can tell which of them was continued, and
	// TooLate ended so near the end of the history that it does not show what came
	// of them.
	UsedUp, Alone, Late, SideBySide, TooLate int
	// Unadvised are the hand-overs that Judge left out, since no advice was written
	// down about them.
	Unadvised int
}

// margin is how long before the last submission of a history a predecessor must
// have ended: later the queue of the history empties, since nobody comes any more.
const margin = 48 * time.Hour

// Find returns the hand-overs whose predecessor ended from an instant on, before
// another. eligible says for every job of the history when it could first have
// started.
//
// Jobs of one user, partition, account, QOS and number of nodes whose names are
// the same but for their digits are a line of work. A job of a line that ran into
// its limit was continued by the next one of the line to start, if that one was
// submitted after it, at the latest Within after its end, started in the second
// half of its run or later, and no third job of the line ran when it did.
func Find(history []segue.Job, eligible []segue.Time, from, until segue.Time, rule Rule) (Found, error) {
	rule = rule.withDefaults()
	if err := rule.validate(); err != nil {
		return Found{}, err
	}
	var found Found
	last := lastSubmit(history)
	for _, line := range allLines(history) {
		line = thatRan(history, line)
		for k, before := range line {
			j := &history[before]
			if j.End < from || j.End >= until || j.Limit < rule.MinLimit || !ranIntoLimit(j) {
				continue
			}
			found.UsedUp++
			if j.End.Add(margin) > last {
				found.TooLate++
				continue
			}
			after := slices.IndexFunc(line[k+1:], func(i int) bool { return history[i].Submit >= j.Submit && history[i].Start > j.Start })
			if after < 0 {
				found.Alone++
				continue
			}
			found.add(history, eligible, line, before, line[k+1+after], rule)
		}
	}
	slices.SortStableFunc(found.Handovers, func(a, b Handover) int {
		return cmp.Or(cmp.Compare(history[a.Before].End, history[b.Before].End), cmp.Compare(a.Before, b.Before))
	})
	return found, nil
}

// add adds the hand-over between two jobs of a line, or counts why there is none.
func (f *Found) add(history []segue.Job, eligible []segue.Time, line []int, before, after int, rule Rule) {
	a, b := &history[before], &history[after]
	switch {
	case b.Submit > a.End.Add(rule.Within):
		f.Late++
		return
	case b.Start < a.End.Add(-time.Duration(longestOverlap*float64(a.Run()))),
		slices.ContainsFunc(f.Handovers, func(h Handover) bool { return h.After == after }),
		slices.ContainsFunc(line, func(i int) bool {
			return i != before && i != after && history[i].Start <= b.Start && history[i].End > b.Start
		}):
		f.SideBySide++
		return
	}
	h := Handover{Before: before, After: after, How: Queued}
	switch {
	case b.Submit >= a.End:
		h.How = AfterEnd
	case b.Start < a.End:
		h.How = Overlapping
	case eligible[after] >= a.End:
		h.How = Dependent
	}
	f.Handovers = append(f.Handovers, h)
}

// ranIntoLimit reports whether the limit ended the job.
func ranIntoLimit(j *segue.Job) bool {
	if j.Limit <= 0 || j.Limit == segue.Unlimited {
		return false
	}
	return j.State == segue.Timeout || float64(j.Run()) >= usedUp*float64(j.Limit)
}

// line is what the jobs of a line of work have in common.
type line struct {
	user, account, partition, qos, name string
	nodes                               int32
}

// lineOf returns the line that a job belongs to.
func lineOf(j *segue.Job) line {
	return line{j.User, j.Account, j.Partition, j.QOS, withoutDigits(j.Name), j.Nodes}
}

// SameLine reports whether two jobs belong to one line of work.
func SameLine(a, b *segue.Job) bool { return lineOf(a) == lineOf(b) }

// withoutDigits returns a name in which every number is the same: "dimer.10" and
// "dimer.11" are "dimer.#".
func withoutDigits(name string) string {
	var b strings.Builder
	inNumber := false
	for _, r := range name {
		digit := r >= '0' && r <= '9'
		switch {
		case !digit:
			b.WriteRune(r)
		case !inNumber:
			b.WriteByte('#')
		}
		inNumber = digit
	}
	return b.String()
}

// allLines returns the jobs of every line, in the order of the history. The lines
// come in the order of their first jobs; jobs of nobody belong to none.
func allLines(history []segue.Job) [][]int {
	var all [][]int
	number := map[line]int{}
	for i := range history {
		if history[i].User == "" {
			continue
		}
		l := lineOf(&history[i])
		k, known := number[l]
		if !known {
			k = len(all)
			number[l] = k
			all = append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	return all
}

// thatRan returns the jobs of a line that ran, in the order of their starts.
func thatRan(history []segue.Job, line []int) []int {
	ran := slices.DeleteFunc(slices.Clone(line), func(i int) bool { return !history[i].Ran() || history[i].End == history[i].Start })
	slices.SortStableFunc(ran, func(a, b int) int {
		return cmp.Or(cmp.Compare(history[a].Start, history[b].Start), cmp.Compare(history[a].Submit, history[b].Submit))
	})
	return ran
}

func lastSubmit(history []segue.Job) segue.Time {
	last := segue.NoTime
	for i := range history {
		last = max(last, history[i].Submit)
	}
	return last
}
