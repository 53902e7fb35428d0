package traces

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

const (
	// firstName is the number of the first text that is no number itself;
	// numbers below keep their value.
	firstName = 1_000_000
	// firstTask is the number of the first array task or heterogeneous
	// component, which SWF has no number for.
	firstTask = 1_000_000_000
)

// swfEncoder writes SWF. Users, groups, queues, partitions and executables are
// numbers there: a text that is a number below firstName stays one, any other
// gets the next number from there on, and a comment at the end of the file
// says which.
type swfEncoder struct {
	out   *bufio.Writer
	head  Header
	begun bool // whether base is settled
	base  segue.Time
	names [5]numbering
	tasks map[segue.JobID]int64
	line  []byte
}

// numbering gives texts numbers in the order in which they come.
type numbering struct {
	what    string
	numbers map[string]int64
	order   []string
}

func newSWFEncoder(out *bufio.Writer, head Header) *swfEncoder {
	e := &swfEncoder{out: out, head: head, tasks: make(map[segue.JobID]int64)}
	for i, what := range [...]string{"User", "Group", "Executable", "Queue", "Partition"} {
		e.names[i] = numbering{what: what, numbers: make(map[string]int64)}
	}
	return e
}

// begin implements encoder. Comments that need the first job come with it.
func (e *swfEncoder) begin() error {
	fmt.Fprintln(e.out, "; Version: 2.2")
	for _, c := range []struct{ key, value string }{
		{"Computer", e.head.Computer},
		{"Installation", e.head.Installation},
		{"MaxRecords", positive(e.head.MaxRecords)},
		{"MaxNodes", positive(e.head.MaxNodes)},
		{"MaxProcs", positive(e.head.MaxProcs)},
		{"TimeZoneString", e.head.Zone},
	} {
		if c.value != "" {
			fmt.Fprintf(e.out, "; %s: %s\n", c.key, printable([]byte(c.value), 200))
		}
	}
	switch {
	case !e.head.UnixStart.Known():
		e.begun = true
	case e.head.UnixStart != 0:
		return e.startAt(e.head.UnixStart)
	}
	return nil
}

func positive(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func (e *swfEncoder) startAt(t segue.Time) error {
	e.base, e.begun = segue.Seconds(t.Unix()), true
	_, err := fmt.Fprintf(e.out, "; UnixStartTime: %d\n", t.Unix())
	return err
}

// write implements encoder.
func (e *swfEncoder) write(j *segue.Job, lost losses) error {
	if !e.begun {
		if err := e.startAt(j.Submit); err != nil {
			return err
		}
	}
	if j.Submit < e.base {
		return segue.Errorf(segue.Invalid, "it was submitted at %s, before the start of the log at %s", j.Submit, e.base)
	}
	wait, run := e.waitAndRun(j)
	processors := int64(j.CPUs)
	if processors == 0 {
		processors = int64(j.Nodes)
	}
	allocated := processors
	if !j.Start.Known() || processors == 0 {
		allocated = -1
	}
	if processors == 0 {
		processors = -1
	}
	limit := int64(-1)
	if j.Limit > 0 && j.Limit != segue.Unlimited {
		limit = int64((j.Limit + time.Second - 1) / time.Second)
	}
	e.line = e.line[:0]
	for _, v := range [...]int64{
		e.number(j.ID), j.Submit.Unix() - e.base.Unix(), wait, run, allocated, -1, -1, processors, limit, -1,
		swfStatusOf(j.State), e.names[0].of(j.User), e.names[1].of(j.Account), e.names[2].of(j.Name),
		e.names[3].of(j.QOS), e.names[4].of(j.Partition), -1, -1,
	} {
		e.line = append(strconv.AppendInt(e.line, v, 10), ' ')
	}
	e.line[len(e.line)-1] = '\n'
	e.count(j, lost)
	_, err := e.out.Write(e.line)
	return err
}

// waitAndRun returns the wait and the run time in seconds, -1 where they are
// not known.
func (e *swfEncoder) waitAndRun(j *segue.Job) (wait, run int64) {
	submit := j.Submit.Unix()
	switch {
	case j.Ran():
		return j.Start.Unix() - submit, j.End.Unix() - j.Start.Unix()
	case j.Start.Known():
		return j.Start.Unix() - submit, -1
	case j.End.Known():
		return j.End.Unix() - submit, -1
	}
	return -1, -1
}

// number returns the job's number: its own, or a new one for an array task or
// a heterogeneous component.
func (e *swfEncoder) number(id segue.JobID) int64 {
	if id.Kind == segue.PlainJob {
		return id.Number
	}
	n, ok := e.tasks[id]
	if !ok {
		n = firstTask + int64(len(e.tasks))
		e.tasks[id] = n
	}
	return n
}

func swfStatusOf(s segue.JobState) int64 {
	switch s {
	case segue.Completed:
		return 1
	case segue.Cancelled, segue.Deadline:
		return 5
	case segue.StateUnknown, segue.Pending, segue.Running, segue.Suspended:
		return -1
	}
	return 0
}

// of returns the number of a text; -1 for none.
func (n *numbering) of(s string) int64 {
	if s == "" {
		return -1
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil && v >= 0 && v < firstName && strconv.FormatInt(v, 10) == s {
		return v
	}
	v, ok := n.numbers[s]
	if !ok {
		v = firstName + int64(len(n.order))
		n.numbers[s] = v
		n.order = append(n.order, s)
	}
	return v
}

// count says what of the job SWF has no place for.
func (e *swfEncoder) count(j *segue.Job, lost losses) {
	lost.add(j.ID.Kind != segue.PlainJob, "array or component number (kept as another number)")
	lost.add(j.Eligible.Known(), "eligible time")
	lost.add(j.Limit == segue.Unlimited, "unlimited time limit")
	lost.add(j.GPUs > 0, "GPUs")
	lost.add(j.CPUs > 0 && j.Nodes > 0 && int64(j.CPUs) != int64(j.Nodes)*e.head.ProcessorsPerNode(), "nodes beside processors")
	lost.add(j.Priority != 0, "priority")
	lost.add(j.ExitCode != 0 || j.Signal != 0, "exit code")
	lost.add(j.Restarts != 0, "restarts")
	switch j.State {
	case segue.Completed, segue.Failed, segue.Cancelled, segue.StateUnknown, segue.Pending, segue.Running:
	default:
		lost.add(true, "state (kept as failed, cancelled or unknown)")
	}
}

// end implements encoder.
func (e *swfEncoder) end() error {
	for i := range e.names {
		for k, s := range e.names[i].order {
			if s == strconv.Itoa(firstName+k) {
				continue // a number again after a conversion
			}
			s = strings.TrimSpace(printable([]byte(s), 200))
			if _, err := fmt.Fprintf(e.out, "; %s: %d %s\n", e.names[i].what, firstName+k, s); err != nil {
				return err
			}
		}
	}
	return nil
}
