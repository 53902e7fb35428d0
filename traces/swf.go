package traces

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/segue-project/segue"
)

// The fields of an SWF line, counted from 0
// (https://www.cs.huji.ac.il/labs/parallel/workload/swf.html).
const (
	swfJob = iota
	swfSubmit
	swfWait
	swfRun
	swfAllocated
	swfCPUTime
	swfMemory
	swfRequested
	swfRequestedTime
	swfRequestedMemory
	swfStatus
	swfUser
	swfGroup
	swfExecutable
	swfQueue
	swfPartition
	swfPreceding
	swfThinkTime
	swfFields
)

// swfParser reads lines of the Standard Workload Format.
type swfParser struct {
	head   *Header
	fields [swfFields][]byte
	texts  interner
	// data is the number of lines that are no comments.
	data int64
}

func newSWFParser(head *Header) *swfParser { return &swfParser{head: head} }

// parse implements lineParser. A comment may stand anywhere; where files were
// joined, the start time of the later one holds from there on.
func (p *swfParser) parse(line []byte, rec *record) (Reason, error) {
	line = bytes.TrimLeft(line, " \t")
	switch {
	case len(line) == 0:
		return noRecord, nil
	case line[0] == ';':
		p.head.readComment(line)
		return noRecord, nil
	}
	p.data++
	switch n := p.cut(line); {
	case n < swfFields:
		return TooFewColumns, nil
	case n > swfFields:
		return TooManyColumns, nil
	}
	return p.job(rec), nil
}

// end implements lineParser.
func (p *swfParser) end(report *Report) error {
	if want := p.head.MaxRecords; want > 0 && want != p.data {
		report.add(HeaderCount, place{report.Lines, func() []byte {
			return fmt.Appendf(nil, "the header says MaxRecords: %d, the file has %d", want, p.data)
		}})
	}
	return nil
}

// cut puts the fields of the line in p.fields and returns how many there are,
// at most one more than fits.
func (p *swfParser) cut(line []byte) int {
	n, start := 0, -1
	for i := 0; i <= len(line); i++ {
		blank := i == len(line) || line[i] == ' ' || line[i] == '\t'
		switch {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			if n == swfFields {
				return n + 1
			}
			p.fields[n] = line[start:i]
			n, start = n+1, -1
		}
	}
	return n
}

// job makes a record of the fields. -1 is "not known" in every one.
func (p *swfParser) job(rec *record) Reason {
	var v [swfStatus + 1]int64
	for _, i := range [...]int{
		swfJob, swfSubmit, swfWait, swfRun, swfAllocated, swfRequested, swfRequestedTime, swfStatus,
	} {
		var ok bool
		if v[i], ok = parseSWFNumber(p.fields[i]); !ok {
			return rec.reject(BadNumber, swfNames[i], p.fields[i])
		}
	}
	j := &rec.job
	if v[swfJob] < 0 {
		return rec.reject(BadJobID, swfNames[swfJob], p.fields[swfJob])
	}
	j.ID = segue.JobID{Number: v[swfJob]}
	if reason := swfState(v[swfStatus], rec); reason != usable {
		return reason
	}
	if v[swfSubmit] < 0 {
		return NoSubmit
	}
	for _, i := range [...]int{swfSubmit, swfWait, swfRun, swfRequestedTime} {
		if v[i] > lastSecond {
			return rec.reject(OutOfRange, swfNames[i], p.fields[i])
		}
	}
	p.times(v[swfSubmit], v[swfWait], v[swfRun], rec)
	p.processors(v[swfAllocated], v[swfRequested], rec)
	if limit := v[swfRequestedTime]; limit > 0 {
		if limit > maxSeconds {
			return rec.reject(OutOfRange, swfNames[swfRequestedTime], p.fields[swfRequestedTime])
		}
		j.Limit = time.Duration(limit) * time.Second
	}
	j.Name = p.number(swfExecutable, rec)
	j.User = p.number(swfUser, rec)
	j.Account = p.number(swfGroup, rec)
	j.QOS = p.number(swfQueue, rec)
	j.Partition = p.number(swfPartition, rec)
	return usable
}

// swfNames name the fields that are read, for messages.
var swfNames = [swfFields]string{
	swfJob: "job number", swfSubmit: "submit time", swfWait: "wait time", swfRun: "run time",
	swfAllocated: "allocated processors", swfRequested: "requested processors",
	swfRequestedTime: "requested time", swfStatus: "status",
}

// swfState sets the state: 0 failed, 1 completed, 5 cancelled, -1 not known;
// 2 to 4 are parts of an execution of which another line is the whole.
func swfState(status int64, rec *record) Reason {
	rec.stateGiven = true
	switch status {
	case 0:
		rec.job.State = segue.Failed
	case 1:
		rec.job.State = segue.Completed
	case 2, 3, 4:
		return PartialExecution
	case 5:
		rec.job.State = segue.Cancelled
	case -1:
	default:
		rec.notes.add(UnknownState)
	}
	return usable
}

// times sets the times from the submit time, the wait and the run time. A job
// that was cancelled before it ran has waited until then. Where only the run
// time is known, as in a log made by a model, the job starts at once, so that
// its run time is not lost.
func (p *swfParser) times(submit, wait, run int64, rec *record) {
	base := int64(0)
	if p.head.UnixStart.Known() {
		base = p.head.UnixStart.Unix()
	}
	rec.submit = exactly(base + submit)
	if wait < 0 && run < 0 {
		if rec.job.State == segue.StateUnknown {
			rec.job.State = segue.Pending
		}
		return
	}
	if wait < 0 {
		wait = 0
		rec.notes.add(WaitUnknown)
	}
	if rec.job.State == segue.Cancelled && run <= 0 {
		rec.end = exactly(base + submit + wait)
		return
	}
	rec.start = exactly(base + submit + wait)
	if run >= 0 {
		rec.end = exactly(base + submit + wait + run)
	} else if rec.job.State == segue.StateUnknown {
		rec.job.State = segue.Running
	}
}

// processors sets the counts: what was allocated holds for a job that ran,
// what was requested for one that did not.
func (p *swfParser) processors(allocated, requested int64, rec *record) {
	perNode := p.head.ProcessorsPerNode()
	rec.cpus = counts{given: max(allocated, 0), asked: max(requested, 0)}
	rec.nodes = counts{given: (rec.cpus.given + perNode - 1) / perNode, asked: (rec.cpus.asked + perNode - 1) / perNode}
	if allocated > 0 && requested > 0 && allocated != requested {
		rec.notes.add(ProcessorsDiffer)
	}
}

// number returns a field of the kind "user 12" as text, where -1 is none.
func (p *swfParser) number(field int, rec *record) string {
	if f := p.fields[field]; string(f) != "-1" {
		return p.texts.get(f, &rec.notes)
	}
	return ""
}

// parseSWFNumber reads a whole number; some logs have fractions of seconds,
// which are cut off.
func parseSWFNumber(b []byte) (int64, bool) {
	if v, ok := parseInt(b); ok {
		return v, true
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) > 1e15 {
		return 0, false
	}
	return int64(f), true
}
