package traces

import "fmt"

// Reason is one thing that can be said of a record: why it was rejected or
// skipped, what was changed to make it usable, or what is odd about it.
type Reason uint8

// The reasons. Their words, classes and treatments are in docs/job-history.md.
const (
	usable   Reason = iota // nothing to say: the line is a record
	noRecord               // a header, a comment, a banner or an empty line

	TooFewColumns
	TooManyColumns
	BadJobID
	BadTime
	BadNumber
	BadLimit
	BadArray
	NoSubmit
	NoNodes
	OutOfRange
	EndBeforeStart
	StartLongBeforeSubmit
	NULByte
	LineTooLong
	CutOff

	JobStep
	PartialExecution
	RepeatedRecord
	SupersededRecord

	AmbiguousTime
	SkippedTime
	StartBeforeSubmit
	EligibleOutOfOrder
	ColumnsJoined
	NotUTF8
	WaitUnknown
	LimitUnknown
	UnknownState
	EndFromElapsed
	EndOfUnended

	NeverStarted
	NotEnded
	EndedWithoutEnd
	ZeroLength
	OverLimit
	LaterAttempt
	ReusedID
	ArrayExpanded
	ProcessorsDiffer
	HeaderCount
	NoFinalNewline

	numReasons
)

// Class is what became of the record of which a reason speaks.
type Class uint8

// The classes.
const (
	Rejected Class = iota // it could not be used; it is lost
	Skipped               // it is no job of its own; nothing is lost
	Changed               // it was delivered after a change
	Noted                 // it was delivered as it stands
)

var classNames = [...]string{"rejected", "skipped", "changed", "noted"}

// String returns the class in words.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return fmt.Sprintf("Class(%d)", c)
}

var reasons = [numReasons]struct {
	class Class
	words string
}{
	TooFewColumns:         {Rejected, "too few columns"},
	TooManyColumns:        {Rejected, "too many columns"},
	BadJobID:              {Rejected, "job id not readable"},
	BadTime:               {Rejected, "time not readable"},
	BadNumber:             {Rejected, "number not readable"},
	BadLimit:              {Rejected, "time limit not readable"},
	BadArray:              {Rejected, "array tasks not readable"},
	NoSubmit:              {Rejected, "no submit time"},
	NoNodes:               {Rejected, "ran on no nodes"},
	OutOfRange:            {Rejected, "value out of range"},
	EndBeforeStart:        {Rejected, "end before start"},
	StartLongBeforeSubmit: {Rejected, "start over an hour before submit"},
	NULByte:               {Rejected, "NUL byte in the line"},
	LineTooLong:           {Rejected, "line over 1 MiB"},
	CutOff:                {Rejected, "last line cut off"},

	JobStep:          {Skipped, "job step"},
	PartialExecution: {Skipped, "part of an execution"},
	RepeatedRecord:   {Skipped, "record repeated"},
	SupersededRecord: {Skipped, "superseded by a later record"},

	AmbiguousTime:      {Changed, "local time that occurs twice"},
	SkippedTime:        {Changed, "local time that does not exist"},
	StartBeforeSubmit:  {Changed, "start before submit"},
	EligibleOutOfOrder: {Changed, "eligible before submit or after start"},
	ColumnsJoined:      {Changed, "separator inside a text column"},
	NotUTF8:            {Changed, "text not UTF-8"},
	WaitUnknown:        {Changed, "wait not recorded"},
	LimitUnknown:       {Changed, "time limit not recorded"},
	UnknownState:       {Changed, "state not known"},
	EndFromElapsed:     {Changed, "end computed from elapsed time"},
	EndOfUnended:       {Changed, "end of a job that has not ended"},

	NeverStarted:     {Noted, "never started"},
	NotEnded:         {Noted, "not ended"},
	EndedWithoutEnd:  {Noted, "ended at an unknown time"},
	ZeroLength:       {Noted, "ran for zero seconds"},
	OverLimit:        {Noted, "ran over its limit"},
	LaterAttempt:     {Noted, "later attempt of the same job"},
	ReusedID:         {Noted, "job id of another user's job"},
	ArrayExpanded:    {Noted, "pending array expanded"},
	ProcessorsDiffer: {Noted, "allocated processors differ from requested"},
	HeaderCount:      {Noted, "header promises another number of records"},
	NoFinalNewline:   {Noted, "last line without a line end"},
}

// Class returns what became of the records of which r speaks.
func (r Reason) Class() Class { return reasons[r%numReasons].class }

// String returns the reason in words.
func (r Reason) String() string { return reasons[r%numReasons].words }

// Reasons returns every reason that a Report can hold, in the order of a
// report: rejected first, noted last.
func Reasons() []Reason {
	all := make([]Reason, 0, numReasons)
	for r := noRecord + 1; r < numReasons; r++ {
		all = append(all, r)
	}
	return all
}

// reasonSet is a set of reasons, for what was changed or noted on one record.
type reasonSet uint64

func (s *reasonSet) add(r Reason) { *s |= 1 << r }
