package traces

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
)

func loadRecorded(tb testing.TB, name string) *History {
	tb.Helper()
	h, err := Load(shared.Path(tb, name), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	checkAccount(tb, &h.Findings)
	return h
}

func TestLonestar6LogIsReadWhole(t *testing.T) {
	t.Parallel()
	h := loadRecorded(t, "traces/ls6-a100-to-2023-02.log")
	if len(h.Jobs) != 17_975 || h.Findings.Lines != 17_977 {
		t.Errorf("%d jobs from %d lines, want 17,975 from 17,977", len(h.Jobs), h.Findings.Lines)
	}
	wantFindings(t, &h.Findings, map[Reason]int64{AmbiguousTime: 2, NeverStarted: 2_364, OverLimit: 2_829})
	first := segue.Job{
		ID: segue.JobID{Number: 478729}, Name: "dimer.10", User: "00000",
		Submit: utc(t, "2022-10-05T16:52:48"), Eligible: segue.NoTime, Start: utc(t, "2022-11-01T20:34:14"), End: utc(t, "2022-11-03T20:34:15"),
		Limit: 48 * time.Hour, Nodes: 2, Priority: 1234, State: segue.Timeout,
	}
	if diff := cmp.Diff(first, h.Jobs[0]); diff != "" {
		t.Errorf("the first job (-want +got):\n%s", diff)
	}
	// Line 245 starts in the hour that occurred twice. Read as the earlier
	// instant it would have run an hour over its limit.
	if got, want := h.Jobs[242].Start, utc(t, "2022-11-06T07:42:20"); got != want {
		t.Errorf("the job of line 245 starts at %v, want %v", got, want)
	}
}

func TestKTHLogIsReadWhole(t *testing.T) {
	t.Parallel()
	h := loadRecorded(t, "traces/KTH-SP2-1996.swf")
	if len(h.Jobs) != 28_481 {
		t.Errorf("%d jobs, want 28,481", len(h.Jobs))
	}
	wantFindings(t, &h.Findings, map[Reason]int64{ProcessorsDiffer: 219, HeaderCount: 1})
	for _, f := range h.Findings.Findings() {
		if want := "the header says MaxRecords: 28490, the file has 28481"; f.Reason == HeaderCount && f.Examples[0].Text != want {
			t.Errorf("the finding is %q, want %q", f.Examples[0].Text, want)
		}
	}
	for _, j := range h.Jobs {
		if j.Nodes != j.CPUs || !j.Ran() {
			t.Fatalf("job %s: %d nodes, %d processors, ran %v; want as many nodes as processors", j.ID, j.Nodes, j.CPUs, j.Ran())
		}
	}
}

func TestSyntheticLogKeepsItsRunTimes(t *testing.T) {
	t.Parallel()
	h := loadRecorded(t, "traces/lublin-256.swf")
	if len(h.Jobs) != 10_000 {
		t.Errorf("%d jobs, want 10,000", len(h.Jobs))
	}
	wantFindings(t, &h.Findings, map[Reason]int64{WaitUnknown: 10_000})
	if got, want := h.Jobs[0].Run(), 12_072*time.Second; got != want || h.Jobs[0].Limit != want {
		t.Errorf("the first job ran %v with a limit of %v, want %v for both", got, h.Jobs[0].Limit, want)
	}
}

func TestRecordedHistoriesSurviveEveryFormat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"traces/ls6-a100-to-2023-02.log", "traces/KTH-SP2-1996.swf", "traces/lublin-256.swf"} {
		path := shared.Path(t, name)
		want := loadRecorded(t, name)
		for _, out := range []string{"h.parquet", "h.sacct", "h.sacct.gz"} {
			t.Run(name+" as "+out, func(t *testing.T) {
				t.Parallel()
				out := t.TempDir() + "/" + out
				c, err := Convert(path, out, ConvertOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if c.Written != int64(len(want.Jobs)) || len(c.Losses) > 0 || c.Refused > 0 {
					t.Errorf("wrote %d jobs, refused %d, lost %v", c.Written, c.Refused, c.Losses)
				}
				got, err := Load(out, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want.Jobs, got.Jobs); diff != "" {
					t.Errorf("jobs (-want +got):\n%.2000s", diff)
				}
			})
		}
	}
}

func TestSWFOfARecordedHistoryKeepsTimesNodesAndLimits(t *testing.T) {
	t.Parallel()
	want := loadRecorded(t, "traces/ls6-a100-to-2023-02.log")
	out := t.TempDir() + "/h.swf"
	c, err := Convert(shared.Path(t, "traces/ls6-a100-to-2023-02.log"), out, ConvertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Written != 17_975 || got.Header.MaxRecords != 17_975 || got.Header.UnixStart != want.Jobs[0].Submit {
		t.Errorf("wrote %d of a head with %d records from %v", c.Written, got.Header.MaxRecords, got.Header.UnixStart)
	}
	for i, g := range got.Jobs {
		w := want.Jobs[i]
		if g.ID != w.ID || g.Submit != w.Submit || g.Start != w.Start || g.End != w.End || g.Limit != w.Limit || g.Nodes != w.Nodes {
			t.Fatalf("job %d is\n%+v, want\n%+v", i, g, w)
		}
	}
}

func TestStatisticsOfTheRecordedHistories(t *testing.T) {
	t.Parallel()
	type summary struct {
		Jobs, Started, Over, Users int64
		Span                       string
		MeanWait, P90Wait, MaxWait time.Duration
		Max, P99, P50              int64
		Full                       FullMoments
		Largest, Proposed          int64
		Basis                      ProposalBasis
	}
	for name, want := range map[string]summary{
		"traces/ls6-a100-to-2023-02.log": {
			Jobs: 17_975, Started: 15_611, Over: 2_829, Users: 300, Span: "2022-10-05T16:52:48Z 2023-03-08T20:26:34Z",
			MeanWait: 4*time.Hour + 57*time.Minute + 31*time.Second, P90Wait: 15*time.Hour + 24*time.Minute + 48*time.Second,
			MaxWait: 933*time.Hour + 47*time.Minute,
			Max:     80, P99: 78, P50: 54,
			Full: FullMoments{
				Moments: 4_205, Time: 848*time.Hour + 43*time.Minute + 59*time.Second, P50: 73, P75: 75, P90: 76, P95: 78,
			},
			Largest: 64, Proposed: 76, Basis: FromFull,
		},
		"traces/KTH-SP2-1996.swf": {
			Jobs: 28_481, Started: 28_481, Users: 214, Span: "1996-09-23T12:00:31Z 1997-08-29T08:55:01Z",
			MeanWait: 4*time.Hour + 16*time.Minute + 25*time.Second, P90Wait: 10*time.Hour + 9*time.Minute,
			MaxWait: 272*time.Hour + 14*time.Minute,
			Max:     104, P99: 100, P50: 82,
			Full: FullMoments{
				Moments: 12_278, Time: 1900*time.Hour + 15*time.Minute + 19*time.Second, P50: 94, P75: 98, P90: 99, P95: 100,
			},
			Largest: 100, Proposed: 100, Basis: FromLargest,
		},
		"traces/lublin-256.swf": { // without waits, every job starts at once: its head alone says how large it is
			Jobs: 10_000, Started: 10_000, Span: "1970-01-01T01:24:54Z 1970-03-31T13:58:44Z",
			Max: 1_968, P99: 1_152, P50: 179, Largest: 256, Proposed: 256, Basis: FromHeader,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Open(shared.Path(t, name), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			s, err := Stats(r.All(), r.Header())
			if err != nil {
				t.Fatal(err)
			}
			got := summary{
				s.Jobs, s.Started, s.OverLimit, int64(s.Users.Distinct), s.FirstSubmit.String() + " " + s.LastEnd.String(),
				s.Wait.Mean.Round(time.Second), s.Wait.P90.Round(time.Second), s.Wait.Max,
				s.Busy.Max, s.Busy.P99, s.Busy.P50, s.Busy.Full, s.Busy.Largest, s.Busy.Proposed, s.Busy.Basis,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("statistics (-want +got):\n%s", diff)
			}
		})
	}
}
