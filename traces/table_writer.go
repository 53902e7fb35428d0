package traces

import (
	"bufio"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/segue-project/segue"
)

// sacctWritten are the columns that are written, as sacct would.
var sacctWritten = []string{
	"JobID", "User", "Account", "Partition", "QOS", "Submit", "Eligible", "Start", "End", "Timelimit", "NNodes", "NCPUS",
	"AllocTRES", "Priority", "Restarts", "State", "ExitCode", "JobName",
}

// sacctEncoder writes what sacct --parsable2 would.
type sacctEncoder struct {
	out   *bufio.Writer
	clock *zoneClock
	row   []byte
}

// begin implements encoder.
func (e *sacctEncoder) begin() error {
	_, err := e.out.WriteString(strings.Join(sacctWritten, "|") + "\n")
	return err
}

// write implements encoder.
func (e *sacctEncoder) write(j *segue.Job, lost losses) error {
	b := append(e.row[:0], j.ID.String()...)
	for _, s := range [...]string{j.User, j.Account, j.Partition, j.QOS} {
		b = append(b, '|')
		b = appendWord(b, s, "|", lost)
	}
	for _, t := range [...]segue.Time{j.Submit, j.Eligible, j.Start, j.End} {
		b = append(b, '|')
		b = appendLocal(b, t, e.clock, lost)
	}
	b = append(b, '|')
	if j.Limit > 0 {
		b = append(b, segue.FormatLimit(j.Limit)...)
	}
	for _, n := range [...]int32{j.Nodes, j.CPUs} {
		b = append(b, '|')
		b = strconv.AppendInt(b, int64(n), 10)
	}
	b = append(b, '|')
	if j.GPUs > 0 {
		b = append(b, "gres/gpu="...)
		b = strconv.AppendInt(b, int64(j.GPUs), 10)
	}
	b = append(b, '|')
	b = strconv.AppendInt(b, max(j.Priority, 0), 10)
	b = append(b, '|')
	b = strconv.AppendInt(b, int64(j.Restarts), 10)
	b = append(b, '|')
	b = append(b, j.State.String()...)
	b = append(b, '|')
	b = appendExitCode(b, j)
	b = append(b, '|')
	b = appendWord(b, j.Name, "", lost)
	e.row = append(b, '\n')
	_, err := e.out.Write(e.row)
	return err
}

// end implements encoder.
func (e *sacctEncoder) end() error { return nil }

// ls6Encoder writes the Lonestar6 log.
type ls6Encoder struct {
	out   *bufio.Writer
	clock *zoneClock
	row   []byte
}

const ls6Head = "       JobID    JobName    UID               Start              Submit                 End   Priority" +
	" TimelimitR ExitCode   NNodes\n" +
	"------------ ---------- ------ ------------------- ------------------- ------------------- ----------" +
	" ---------- -------- --------\n"

// begin implements encoder.
func (e *ls6Encoder) begin() error {
	_, err := e.out.WriteString(ls6Head)
	return err
}

// write implements encoder. A job that never ran starts at its end, as in the
// log.
func (e *ls6Encoder) write(j *segue.Job, lost losses) error {
	start := j.Start
	if !start.Known() {
		start = j.End
	}
	b := append(e.row[:0], j.ID.String()...)
	b = append(b, '\t')
	b = appendWord(b, j.Name, "\t", lost)
	b = append(b, '\t')
	b = appendWord(b, j.User, "\t", lost)
	for _, t := range [...]segue.Time{start, j.Submit, j.End} {
		b = append(b, '\t')
		b = appendLocal(b, t, e.clock, lost)
	}
	b = append(b, '\t')
	b = strconv.AppendInt(b, max(j.Priority, 0), 10)
	b = append(b, '\t')
	switch {
	case j.Limit == segue.Unlimited:
		b = append(b, "UNLIMITED"...)
	case j.Limit > 0:
		b = strconv.AppendInt(b, int64((j.Limit+time.Minute-1)/time.Minute), 10)
		lost.add(j.Limit%time.Minute != 0, "seconds of the time limit")
	}
	b = append(b, '\t')
	b = appendExitCode(b, j)
	b = append(b, '\t')
	b = strconv.AppendInt(b, int64(j.Nodes), 10)
	e.row = append(b, '\n')
	e.count(j, lost)
	_, err := e.out.Write(e.row)
	return err
}

// count says what of the job the log has no place for.
func (e *ls6Encoder) count(j *segue.Job, lost losses) {
	lost.add(j.Account != "", "account")
	lost.add(j.Partition != "", "partition")
	lost.add(j.QOS != "", "QOS")
	lost.add(j.Eligible.Known(), "eligible time")
	lost.add(j.CPUs > 0, "processors")
	lost.add(j.GPUs > 0, "GPUs")
	lost.add(j.Restarts != 0, "restarts")
	rec := record{job: *j}
	rec.inferState()
	lost.add(rec.job.State != j.State, "state (inferred on reading)")
}

// end implements encoder.
func (e *ls6Encoder) end() error { return nil }

// appendWord appends a text with what would end the field or the line replaced
// by a space; the last column of a row may contain the separator.
func appendWord(b []byte, s, separator string, lost losses) []byte {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || strings.ContainsRune(separator, r) {
			return ' '
		}
		return r
	}, s)
	lost.add(clean != s, "control characters and separators in texts")
	return append(b, clean...)
}

// appendLocal appends a time as Slurm prints it on the clock.
func appendLocal(b []byte, t segue.Time, clock *zoneClock, lost losses) []byte {
	if !t.Known() {
		return append(b, "Unknown"...)
	}
	lost.add(t%1e6 != 0, "fractions of seconds")
	local := t.Std().In(clock.zone)
	_, offset := local.Zone()
	_, _, how := clock.instants(t.Unix() + int64(offset))
	lost.add(how == twice, "which of two equal local times")
	return local.AppendFormat(b, "2006-01-02T15:04:05")
}

func appendExitCode(b []byte, j *segue.Job) []byte {
	b = strconv.AppendInt(b, int64(max(j.ExitCode, 0)), 10)
	b = append(b, ':')
	return strconv.AppendInt(b, int64(max(j.Signal, 0)), 10)
}
