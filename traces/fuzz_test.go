package traces

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/segue-project/segue"
)

// checkReading reads data whatever it is, and wants no panic, no record that
// contradicts itself, an error of a kind that says what to do, and every line
// accounted for.
func checkReading(t *testing.T, data []byte, opt Options) {
	t.Helper()
	r, err := NewReader(onlyReader{bytes.NewReader(data)}, opt)
	if err != nil {
		if kind := segue.KindOf(err); kind != segue.Invalid && kind != segue.Corrupt {
			t.Fatalf("refused with %v, which is %s", err, kind)
		}
		return
	}
	for {
		j, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if kind := segue.KindOf(err); kind != segue.Invalid && kind != segue.Corrupt {
				t.Fatalf("ended with %v, which is %s", err, kind)
			}
			return
		}
		checkJob(t, &j)
	}
	report := r.Report()
	checkAccount(t, report)
	if want := countLines(data); report.Lines != want && !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		t.Errorf("%d lines, want %d", report.Lines, want)
	}
	for _, f := range report.Findings() {
		if f.Count < 1 || len(f.Examples) == 0 || len(f.Examples) > maxExamples {
			t.Errorf("%s: %d with %d examples", f.Reason, f.Count, len(f.Examples))
		}
		for _, e := range f.Examples {
			if strings.ContainsAny(e.Text, "\x1b\x00\n\r\t") {
				t.Errorf("an example is not safe to print: %q", e.Text)
			}
		}
	}
}

// countLines counts lines as an editor does.
func countLines(data []byte) int64 {
	n := int64(bytes.Count(data, []byte("\n")))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// checkJob wants what settle promises.
func checkJob(t *testing.T, j *segue.Job) {
	t.Helper()
	switch {
	case !j.Submit.Known(),
		j.Start.Known() && j.Start < j.Submit,
		j.End.Known() && j.End < j.Submit,
		j.Ran() && j.End < j.Start,
		j.Start.Known() && j.Nodes < 1,
		j.Nodes < 0 || j.CPUs < 0 || j.GPUs < 0 || j.Limit < 0 || j.Priority < 0,
		j.Eligible.Known() && j.Eligible < j.Submit:
		t.Errorf("the job contradicts itself: %+v", *j)
	}
}

func FuzzReadAnything(f *testing.F) {
	f.Add([]byte(sacctHead + trainedRow))
	f.Add([]byte(ls6Head))
	f.Add([]byte("; MaxNodes: 3\n1 0 5 10 1 -1 -1 1 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"))
	f.Add(gzipped(f, []byte(sacctHead+trainedRow)))
	f.Add([]byte("\x1f\x8b\bA00000000000")) // found: a flaw in the packed data, not of the disk
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Add([]byte("\xff\xfeJ\x00"))
	f.Fuzz(func(t *testing.T, data []byte) { checkReading(t, data, Options{}) })
}

func FuzzReadSWF(f *testing.F) {
	f.Add([]byte("; UnixStartTime: 843480031\n; MaxProcs: 8\n; MaxNodes: 2\n1 0 5 10 1 -1 -1 1 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"))
	f.Add([]byte("2 -1 -1 -1 -1 -1 -1 -1 -1 -1 5 -1 -1 -1 -1 -1 -1 -1\n3 1e3 0.5 9e9 4 3 2 1 0 9 8 7 6 5 4 3 2 1"))
	f.Fuzz(func(t *testing.T, data []byte) { checkReading(t, data, Options{Format: SWF}) })
}

func FuzzReadLS6(f *testing.F) {
	f.Add([]byte(ls6Head + "478729\tdimer.10\t00000\t2022-11-06T01:34:14\t2022-11-06T01:52:48\t2022-11-06T01:34:15\t1234\t2880\t0:0\t2\n"))
	f.Add([]byte("1\ta\tb\tc\t2\t2022-03-13T02:34:14\t2022-11-06T01:52:48\t2022-11-06T01:34:15\t1\tUNLIMITED\t0:9\t2"))
	f.Fuzz(func(t *testing.T, data []byte) { checkReading(t, data, Options{Format: LS6}) })
}

func FuzzReadSacct(f *testing.F) {
	f.Add([]byte(sacctHead + trainedRow + strings.Replace(trainedRow, "7|", "7_[1-3%2]|", 1)))
	f.Add([]byte(sacctHead + strings.Replace(trainedRow, "train", "a|b|c", 1) + trainedRow + trainedRow))
	f.Add([]byte("banner\nJobIDRaw|Comment|JobName|Submit|Start|Elapsed|TimelimitRaw|ReqTRES|State|\n7|a|b|c|1709287200|0|1-00:00:00|4294967295|node=3|RUNNING|\n"))
	f.Fuzz(func(t *testing.T, data []byte) { checkReading(t, data, Options{Format: Sacct}) })
}

func FuzzReadParquet(f *testing.F) {
	f.Add(generated(f, Parquet, 3))
	f.Add(otherParquet(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := NewReader(bytes.NewReader(data), Options{Format: Parquet})
		if err != nil {
			return
		}
		rows := int64(0)
		for j, err := range r.All() {
			if err != nil {
				return
			}
			rows++
			checkJob(t, &j)
		}
		checkAccount(t, r.Report())
		if got := r.Report().Records; got != rows {
			t.Errorf("%d records reported, %d read", got, rows)
		}
	})
}
