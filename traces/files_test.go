package traces

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/segue-project/segue"
)

func readFile(tb testing.TB, path string) []byte {
	tb.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// read reads all jobs of a text, and wants it to be a history to its end.
func read(tb testing.TB, text string, opt Options) *History {
	tb.Helper()
	h, err := readAll(text, opt)
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	checkAccount(tb, &h.Findings)
	return h
}

func readAll(text string, opt Options) (*History, error) {
	r, err := NewReader(strings.NewReader(text), opt)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	h := &History{}
	for j, err := range r.All() {
		if err != nil {
			return h, err
		}
		h.Jobs = append(h.Jobs, j)
	}
	h.Header, h.Findings = r.Header(), *r.Report()
	return h, nil
}

// checkAccount wants every line to be accounted for.
func checkAccount(tb testing.TB, r *Report) {
	tb.Helper()
	if got, want := r.Other+r.Records+r.Rejected()+r.Skipped(), r.Lines+r.Expanded; got != want {
		tb.Errorf("%d other + %d records + %d rejected + %d skipped = %d, want the %d lines + %d expanded = %d",
			r.Other, r.Records, r.Rejected(), r.Skipped(), got, r.Lines, r.Expanded, want)
	}
}

// found returns the counts of a report by reason.
func found(r *Report) map[Reason]int64 {
	counts := make(map[Reason]int64)
	for _, f := range r.Findings() {
		counts[f.Reason] = f.Count
	}
	return counts
}

func wantFindings(tb testing.TB, r *Report, want map[Reason]int64) {
	tb.Helper()
	got := found(r)
	for _, reason := range slices.Sorted(maps.Keys(got)) {
		if got[reason] != want[reason] {
			tb.Errorf("%d records with %q, want %d", got[reason], reason, want[reason])
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[reason]; !ok {
			tb.Errorf("no record with %q, want %d", reason, want[reason])
		}
	}
}

func wantJobs(tb testing.TB, got, want []segue.Job) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("jobs (-want +got):\n%s", diff)
	}
}

// utc returns the instant that a clock in UTC shows as "2006-01-02T15:04:05".
func utc(tb testing.TB, s string) segue.Time {
	tb.Helper()
	t, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil {
		tb.Fatal(err)
	}
	return segue.TimeOf(t)
}

func gzipped(tb testing.TB, text []byte) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// onlyReader hides what else a reader can do: a pipe.
type onlyReader struct{ io.Reader }

// otherParquet is a Parquet file that is no history.
func otherParquet(tb testing.TB) []byte {
	tb.Helper()
	type row struct {
		Nodes float64 `parquet:"nodes"`
		Title string  `parquet:"title"`
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []row{{1, "a"}}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}
