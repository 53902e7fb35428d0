package traces

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

// jobsOf yields jobs without an error.
func jobsOf(jobs ...segue.Job) iter.Seq2[segue.Job, error] {
	return func(yield func(segue.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
}

// ran is a job that is submitted, starts and ends so many hours after the
// beginning.
func ran(user string, nodes int32, submit, start, end float64) segue.Job {
	at := func(hours float64) segue.Time { return segue.Time(hours * 3600e6) }
	return segue.Job{
		User: user, Submit: at(submit), Eligible: segue.NoTime, Start: at(start), End: at(end), Limit: 4 * time.Hour, Nodes: nodes,
		GPUs: 4 * nodes, State: segue.Completed,
	}
}

func TestStatisticsOfAHandfulOfJobs(t *testing.T) {
	t.Parallel()
	cancelled := ran("bob", 9, 1, 1, 1)
	cancelled.Start, cancelled.State = segue.NoTime, segue.Cancelled
	over := ran("bob", 2, 0, 2, 7)
	over.State = segue.Timeout
	s, err := Stats(jobsOf(ran("ada", 1, 0, 0, 2), ran("ada", 3, 0, 1, 3), over, cancelled), Header{})
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Hour
	want := &Statistics{
		Jobs: 4, Started: 3, NeverStarted: 1,
		States: []Count{
			{"COMPLETED", 2, 8}, {"CANCELLED", 1, 0}, {"TIMEOUT", 1, 10},
		},
		Users:       Tally{2, []Count{{"bob", 2, 10}, {"ada", 2, 8}}},
		Accounts:    Tally{Top: []Count{}},
		Partitions:  Tally{Top: []Count{}},
		FirstSubmit: 0, LastSubmit: 3600e6, FirstStart: 0, LastEnd: 7 * 3600e6,
		Wait:      Durations{3, hour, hour, 108 * time.Minute, 118*time.Minute + 48*time.Second, 2 * hour},
		Run:       Durations{3, 3 * hour, 2 * hour, 264 * time.Minute, 296*time.Minute + 24*time.Second, 5 * hour},
		LimitUsed: Shares{3, 0.75, 0.5, 0.5, 1.1, 1.25}, OverLimit: 1,
		Shapes: Shapes{4, []ShapeCount{
			{segue.Shape{Nodes: 2, GPUsPerNode: 4, Limit: 4 * hour}, 1, 10},
			{segue.Shape{Nodes: 3, GPUsPerNode: 4, Limit: 4 * hour}, 1, 6},
			{segue.Shape{Nodes: 1, GPUsPerNode: 4, Limit: 4 * hour}, 1, 2},
			{segue.Shape{Nodes: 9, GPUsPerNode: 4, Limit: 4 * hour}, 1, 0},
		}},
		Months:    []Month{{Name: "1970-01", Jobs: 4, MeanWait: hour, NodeHours: 18}},
		NodeHours: 18, GPUHours: 72,
		// 1 node in hour 0, 4 in hour 1, 5 in hour 2, 2 in hours 3 to 6.
		Busy: Concurrency{
			Max: 5, P99: 5, P90: 5, P50: 2, Mean: 18.0 / 7, Span: 7 * hour,
			Full: FullMoments{2, 2 * hour, 4, 5, 5, 5}, Largest: 3, Proposed: 5, Basis: FromMax,
		},
		Queue: Queue{Jobs: 2}, // from hour 0 on
	}
	opts := cmp.Options{cmpopts.IgnoreUnexported(Month{}), cmpopts.EquateApprox(0, 1e-9)}
	if diff := cmp.Diff(want, s, opts); diff != "" {
		t.Errorf("statistics (-want +got):\n%s", diff)
	}
}

func TestStatisticsOfNothing(t *testing.T) {
	t.Parallel()
	s, err := Stats(jobsOf(), Header{MaxNodes: 8})
	if err != nil || s.Jobs != 0 || s.Busy.Basis != NoBasis || s.Busy.Proposed != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestStatisticsStopAtAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, err := Stats(func(yield func(segue.Job, error) bool) { yield(segue.Job{}, broken) }, Header{})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestBusyNodesAreThoseOfTheJobsThatRun compares the sweep with a count second
// by second.
func TestBusyNodesAreThoseOfTheJobsThatRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c Collector
		const seconds = 60
		var busy [seconds]int64
		for range rapid.IntRange(1, 12).Draw(t, "jobs") {
			start := rapid.Int64Range(0, seconds).Draw(t, "start")
			end := rapid.Int64Range(start, seconds).Draw(t, "end")
			nodes := rapid.Int32Range(1, 5).Draw(t, "nodes")
			c.Add(&segue.Job{Start: segue.Seconds(start), End: segue.Seconds(end), Eligible: segue.NoTime, Nodes: nodes})
			for s := start; s < end; s++ {
				busy[s] += int64(nodes)
			}
		}
		got := c.Statistics()
		span := got.LastEnd.Unix()
		var most, sum int64
		for _, n := range busy[:span] {
			most = max(most, n)
			sum += n
		}
		if got.Busy.Max != most || span > 0 && got.Busy.Mean != float64(sum)/float64(span) {
			t.Fatalf("at most %d, on average %v; want %d and %v", got.Busy.Max, got.Busy.Mean, most, float64(sum)/float64(span))
		}
	})
}

// endless writes SWF lines of ever new jobs until there are enough.
type endless struct {
	left, made int64
	rest       []byte
}

func (e *endless) Read(p []byte) (int, error) {
	for len(e.rest) < len(p) && e.left > 0 {
		e.left--
		e.made++
		e.rest = strconv.AppendInt(e.rest, e.made, 10)
		e.rest = append(e.rest, ' ')
		e.rest = strconv.AppendInt(e.rest, e.made*3, 10)
		e.rest = append(e.rest, " 100 600 4 -1 -1 4 3600 -1 1 12 3 -1 2 -1 -1 -1\n"...)
	}
	if len(e.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.rest)
	e.rest = append(e.rest[:0], e.rest[n:]...)
	return n, nil
}

// TestReadingNeedsLittleMemory wants a million jobs to be read in what the
// buffers need and four bytes an id.
func TestReadingNeedsLittleMemory(t *testing.T) { //nolint:paralleltest // measures the heap, which other tests share
	const jobs = 1_000_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r, err := NewReader(&endless{left: jobs}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range jobs - 1 {
		if _, err := r.Read(); err != nil {
			t.Fatal(err)
		}
	}
	if grown := int64(heap()) - int64(before); grown > 12<<20 {
		t.Errorf("the reader of %d jobs holds %d bytes, want at most 12 MiB", jobs, grown)
	}
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v after the last job", err)
	}
}

func TestIDsAreForgottenRatherThanMemoryFilled(t *testing.T) {
	t.Parallel()
	s := newSeen()
	id := func(n int64) *segue.Job { return &segue.Job{ID: segue.JobID{Number: n * pageSize}} }
	for n := range int64(maxPages) + 10 {
		if what, _ := s.see(id(n)); what != isNew {
			t.Fatalf("job %d is said to be known", n)
		}
	}
	if len(s.pages) != maxPages {
		t.Errorf("%d pages, want %d", len(s.pages), maxPages)
	}
	if what, _ := s.see(id(maxPages)); what != isRepeat {
		t.Error("a recent job is forgotten")
	}
	if what, _ := s.see(id(0)); what != isNew {
		t.Error("the oldest job is not forgotten")
	}
}

func TestHeldJobsAreBounded(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString("JobID|Submit|Start|End|State|Timelimit|NNodes\n")
	row := func(id int, rest string) { b.WriteString(strconv.Itoa(id) + "|1709287200|" + rest + "\n") }
	const pending = maxHeld + 100
	for i := range pending { // then each turns out to have run
		row(i, "Unknown|Unknown|PENDING|60|1")
	}
	for i := range pending {
		row(i, "1709288000|1709289000|COMPLETED|60|1")
	}
	for i := range pending {
		row(pending+i, "Unknown|Unknown|PENDING|60|1")
	}
	h := read(t, b.String(), Options{})
	if got := h.Findings.Count(SupersededRecord); got != maxHeld {
		t.Errorf("%d records superseded, want the %d that are held", got, maxHeld)
	}
	if got := h.Findings.Records; got != 2*pending+100 {
		t.Errorf("%d records, want %d", got, 2*pending+100)
	}
}
