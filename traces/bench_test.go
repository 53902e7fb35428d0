package traces

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
)

// generated returns n jobs as a text of the format, made without chance.
func generated(tb testing.TB, format Format, n int) []byte {
	tb.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, WriteOptions{Format: format, Header: Header{UnixStart: segue.NoTime}})
	if err != nil {
		tb.Fatal(err)
	}
	begin := time.Date(2023, 1, 2, 0, 0, 0, 0, time.UTC)
	for i := range n {
		submit := segue.TimeOf(begin.Add(time.Duration(i) * 7 * time.Second))
		start := submit.Add(time.Duration(i%977) * time.Second)
		err := w.Write(segue.Job{
			ID: segue.JobID{Number: int64(100_000 + i)}, Name: "train." + strconv.Itoa(i%500), User: fmt.Sprintf("%05d", i%300),
			Submit: submit, Eligible: segue.NoTime, Start: start, End: start.Add(time.Duration(60+i%7000) * time.Second),
			Limit: time.Duration(1+i%48) * time.Hour, Nodes: int32(1 + i%8), Priority: 1000 + int64(i%100), State: segue.Completed,
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// drain reads all jobs and returns how many there are.
func drain(tb testing.TB, text []byte) int {
	tb.Helper()
	r, err := NewReader(bytes.NewReader(text), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	for n := 0; ; n++ {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			tb.Fatal(err)
		}
	}
}

// naiveJob keeps what naiveLS6 reads from being optimised away.
var naiveJob segue.Job

// naiveLS6 reads the log as one would first: encoding/csv and
// time.ParseInLocation. It is what the reader is measured against.
func naiveLS6(tb testing.TB, text []byte) int {
	tb.Helper()
	zone := lonestar6()
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = '\t', true, -1
	n := 0
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			tb.Fatal(err)
		}
		if len(row) != 10 {
			continue
		}
		var j segue.Job
		id, errs := strconv.ParseInt(row[0], 10, 64)
		j.ID.Number, j.Name, j.User = id, row[1], row[2]
		for i, t := range []*segue.Time{&j.Start, &j.Submit, &j.End} {
			parsed, err := time.ParseInLocation("2006-01-02T15:04:05", row[3+i], zone)
			errs = errors.Join(errs, err)
			*t = segue.TimeOf(parsed)
		}
		priority, err1 := strconv.ParseInt(row[6], 10, 64)
		minutes, err2 := strconv.Atoi(row[7])
		nodes, err3 := strconv.Atoi(row[9])
		code, _, _ := strings.Cut(row[8], ":")
		exit, err4 := strconv.Atoi(code)
		if err := errors.Join(errs, err1, err2, err3, err4); err != nil {
			tb.Fatal(err)
		}
		j.Priority, j.Limit, j.Nodes, j.ExitCode = priority, time.Duration(minutes)*time.Minute, int32(nodes), int16(exit)
		naiveJob = j
		n++
	}
}

// naiveSWF reads SWF with strings.Fields and strconv.
func naiveSWF(tb testing.TB, text []byte) int {
	tb.Helper()
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, ";") {
			continue
		}
		var v [swfFields]int64
		for i, f := range strings.Fields(line) {
			x, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			v[i] = x
		}
		_ = segue.Job{ID: segue.JobID{Number: v[0]}, Submit: segue.Seconds(v[1]), User: strconv.FormatInt(v[swfUser], 10)}
		n++
	}
	return n
}

// BenchmarkRead reports rows per second, and how many times as fast as the
// naive reader of the same format and run it is.
func BenchmarkRead(b *testing.B) {
	const rows = 100_000
	for _, bench := range []struct {
		name   string
		format Format
		naive  func(testing.TB, []byte) int
	}{
		{"swf", SWF, naiveSWF},
		{"ls6", LS6, naiveLS6},
		{"sacct", Sacct, nil},
		{"parquet", Parquet, nil},
	} {
		text := generated(b, bench.format, rows)
		b.Run(bench.name, func(b *testing.B) { benchmarkRead(b, text, rows, bench.naive) })
	}
}

// BenchmarkReadRecorded is BenchmarkRead on recorded histories.
func BenchmarkReadRecorded(b *testing.B) {
	for _, bench := range []struct {
		name, file string
		rows       int
		naive      func(testing.TB, []byte) int
	}{
		{"ls6", "traces/ls6-a100-to-2023-02.log", 17_975, naiveLS6},
		{"kth", "traces/KTH-SP2-1996.swf", 28_481, naiveSWF},
	} {
		b.Run(bench.name, func(b *testing.B) {
			benchmarkRead(b, readFile(b, shared.Path(b, bench.file)), bench.rows, bench.naive)
		})
	}
}

// benchmarkRead times both readers in turns, so that what else the machine does
// slows them equally.
func benchmarkRead(b *testing.B, text []byte, rows int, naive func(testing.TB, []byte) int) {
	b.Helper()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var ours, theirs time.Duration
	timed := func(read func(testing.TB, []byte) int, sum *time.Duration) {
		begin := time.Now()
		if n := read(b, text); n != rows {
			b.Fatalf("read %d rows, want %d", n, rows)
		}
		*sum += time.Since(begin)
	}
	times := 0
	for b.Loop() {
		timed(drain, &ours)
		if naive != nil {
			b.StopTimer()
			timed(naive, &theirs)
			b.StartTimer()
		}
		times++
	}
	b.ReportMetric(float64(times*rows)/ours.Seconds(), "rows/s")
	if naive != nil {
		b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-naive")
	}
}

// BenchmarkStats describes a history of a hundred thousand jobs.
func BenchmarkStats(b *testing.B) {
	const rows = 100_000
	text := generated(b, SWF, rows)
	b.ReportAllocs()
	begin, times := time.Now(), 0
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(text), Options{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := Stats(r.All(), r.Header())
		if err != nil || s.Jobs != rows {
			b.Fatal(s, err)
		}
		times++
	}
	b.ReportMetric(float64(times*rows)/time.Since(begin).Seconds(), "rows/s")
}
