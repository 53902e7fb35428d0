package traces

import (
	"time"

	"github.com/segue-project/segue"
)

// A record is one job as a line gives it, before settle makes a segue.Job of
// it that can be relied upon.
type record struct {
	job                          segue.Job // without its times and counts
	submit, eligible, start, end moment
	elapsed                      time.Duration // notMeasured when not given
	nodes, cpus, gpus            counts
	// stateGiven says that the file has a state for the job; otherwise it is
	// inferred. endGiven says that the file has a column of ends.
	stateGiven, endGiven bool
	tasks                arrayTasks // of a pending array
	notes                reasonSet
	// detail and culprit say what of the line led to its rejection.
	detail  string
	culprit []byte
}

const notMeasured time.Duration = -1

// newRecord is a record of which nothing is known.
var newRecord = record{
	submit: unknownMoment, eligible: unknownMoment, start: unknownMoment, end: unknownMoment, elapsed: notMeasured,
}

// counts are the three answers to "how many": what the job was given, what the
// file says without saying which, and what it asked for. Zero is no answer.
type counts struct{ given, plain, asked int64 }

// of returns the count that holds for a job that started, or did not.
func (c counts) of(started bool) int64 {
	first, last := c.given, c.asked
	if !started {
		first, last = last, first
	}
	for _, n := range [...]int64{first, c.plain, last} {
		if n > 0 {
			return n
		}
	}
	return 0
}

// reject says what is wrong with the line and returns reason.
func (rec *record) reject(reason Reason, detail string, culprit []byte) Reason {
	rec.detail, rec.culprit = detail, culprit
	return reason
}

// complaint returns the text of the line with what is wrong before it.
func (rec *record) complaint(text func() []byte) func() []byte {
	return func() []byte {
		detail := rec.detail
		if rec.culprit != nil {
			detail += " \"" + printable(rec.culprit, 40) + "\""
		}
		return append([]byte(detail+": "), text()...)
	}
}
