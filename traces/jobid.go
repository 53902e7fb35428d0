package traces

import (
	"bytes"
	"math"

	"github.com/segue-project/segue"
)

// maxTasks is the number of tasks up to which a pending array is expanded; the
// largest array that Slurm's default configuration allows has 1,000.
const maxTasks = 100_000

// parseJobID reads a job id as sacct prints it: 123, the array task 123_4, the
// pending array 123_[3-4%2], whose tasks it returns, or the heterogeneous
// component 123+1. A step (123.batch, 123_4.0) is a JobStep.
func parseJobID(b []byte) (id segue.JobID, tasks arrayTasks, reason Reason) {
	digits := leadingDigits(b)
	number, ok := parseInt(b[:digits])
	if !ok {
		return id, tasks, BadJobID
	}
	id.Number = number
	if digits == len(b) {
		return id, tasks, usable
	}
	rest := b[digits:]
	switch {
	case rest[0] == '.':
		return id, tasks, JobStep
	case len(rest) > 2 && rest[0] == '_' && rest[1] == '[':
		id.Kind = segue.ArrayTask
		tasks, ok = parseTasks(rest[1:])
		if !ok {
			return id, tasks, BadArray
		}
		return id, tasks, usable
	case rest[0] == '_':
		id.Kind = segue.ArrayTask
	case rest[0] == '+':
		id.Kind = segue.HetComponent
	default:
		return id, tasks, BadJobID
	}
	rest = rest[1:]
	digits = leadingDigits(rest)
	sub, ok := parseInt(rest[:digits])
	if !ok || sub > math.MaxInt32 {
		return id, tasks, BadJobID
	}
	id.Sub = int32(sub)
	switch rest = rest[digits:]; {
	case len(rest) == 0:
		return id, tasks, usable
	case rest[0] == '.':
		return id, tasks, JobStep
	}
	return id, tasks, BadJobID
}

func leadingDigits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// arrayTasks iterates over the tasks of a pending array. The zero value has
// none.
type arrayTasks struct {
	spec         []byte // what is left: "3-4,7,9-20:2"
	at, last, by int32  // the range in progress; by is 0 before the first
}

// parseTasks reads [1,3,5-9:2%4]; the number after the percent sign is how
// many may run at once. It refuses a list that Slurm has shortened with dots
// and one of more than maxTasks tasks.
func parseTasks(b []byte) (arrayTasks, bool) {
	if len(b) < 3 || b[0] != '[' || b[len(b)-1] != ']' {
		return arrayTasks{}, false
	}
	spec := b[1 : len(b)-1]
	if i := bytes.IndexByte(spec, '%'); i >= 0 {
		if _, ok := parseInt(spec[i+1:]); !ok {
			return arrayTasks{}, false
		}
		spec = spec[:i]
	}
	total := int64(0)
	for rest := spec; ; {
		piece, more, found := bytes.Cut(rest, []byte(","))
		first, last, by, ok := parseRange(piece)
		if !ok {
			return arrayTasks{}, false
		}
		if total += int64(last-first)/int64(by) + 1; total > maxTasks {
			return arrayTasks{}, false
		}
		if !found {
			return arrayTasks{spec: bytes.Clone(spec)}, true
		}
		rest = more
	}
}

// parseRange reads 3, 3-9 or 3-9:2.
func parseRange(b []byte) (first, last, by int32, ok bool) {
	var v [3]int64
	v[2] = 1
	n := 0
	for _, separator := range []byte("-:") {
		i := bytes.IndexByte(b, separator)
		if i < 0 {
			break
		}
		if v[n], ok = parseInt(b[:i]); !ok {
			return 0, 0, 0, false
		}
		b = b[i+1:]
		n++
	}
	if v[n], ok = parseInt(b); !ok {
		return 0, 0, 0, false
	}
	if n == 0 {
		v[1] = v[0]
	}
	if v[0] < 0 || v[1] < v[0] || v[1] > math.MaxInt32 || v[2] < 1 || v[2] > math.MaxInt32 {
		return 0, 0, 0, false
	}
	return int32(v[0]), int32(v[1]), int32(v[2]), true
}

// next returns the next task, or false after the last.
func (t *arrayTasks) next() (int32, bool) {
	if t.by != 0 && t.at <= t.last-t.by {
		t.at += t.by
		return t.at, true
	}
	if len(t.spec) == 0 {
		return 0, false
	}
	piece, rest, _ := bytes.Cut(t.spec, []byte(","))
	t.spec = rest
	t.at, t.last, t.by, _ = parseRange(piece)
	return t.at, true
}
