package trainer

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/infer"
)

func TestAgreementByHand(t *testing.T) {
	t.Parallel()
	got := Agree([]float64{0, 1, 2, 7}, []float64{1, 1, 3, 5})
	// Deviations from the means 2.5 and 2.5: products 3.75+2.25-0.25+11.25 = 17,
	// squares 29 and 11.
	want := Agreement{
		Jobs: 4, R: evaluation.Number(17 / math.Sqrt(29*11)), Rank: evaluation.Number(4.5 / math.Sqrt(5*4.5)), MAE: 1,
		Recorded:  Spread{Mean: 2.5, P50: 1.5, P90: 5.5},
		Simulated: Spread{Mean: 2.5, P50: 2, P90: 4.4},
	}
	// Logs 0, ln 2, ln 3, ln 8 against ln 2, ln 2, ln 4, ln 6.
	want.LogR = evaluation.Number(evaluation.Pearson(
		[]float64{0, math.Log(2), math.Log(3), math.Log(8)}, []float64{math.Log(2), math.Log(2), math.Log(4), math.Log(6)}))
	if diff := cmp.Diff(want, got, near()); diff != "" {
		t.Errorf("agreement (-want +got):\n%s", diff)
	}
}

// near compares numbers to nine places.
func near() cmp.Options {
	return cmp.Options{
		cmp.Comparer(func(a, b evaluation.Number) bool { return math.Abs(float64(a-b)) < 1e-9 }),
		cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }),
	}
}

func TestAgreementOfNothingIsNoNumber(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string][]float64{"no jobs": nil, "one job": {3}, "equal waits": {2, 2, 2}} {
		if got := Agree(waits, waits); got.R.Known() || got.LogR.Known() || got.Rank.Known() {
			t.Errorf("%s: agreement is %+v, want no correlation", name, got)
		}
	}
}

func days(rows ...infer.NodeDay) []infer.NodeDay {
	for i := range rows {
		rows[i].Day = segue.Seconds(int64(i) * 86400)
	}
	return rows
}

func TestNodesInServiceAreFilledInBetweenEstimates(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		days []infer.NodeDay
		want []int
	}{
		"estimates hold": {
			days(infer.NodeDay{InService: 70, Busiest: 70}, infer.NodeDay{InService: 74, Busiest: 74}), []int{70, 74},
		},
		"the larger neighbour holds between": {
			days(infer.NodeDay{InService: 70}, infer.NodeDay{Busiest: 20}, infer.NodeDay{}, infer.NodeDay{InService: 74}), []int{70, 74, 74, 74},
		},
		"never fewer than were busy": {
			days(infer.NodeDay{InService: 70, Busiest: 72}, infer.NodeDay{Busiest: 75}), []int{72, 75},
		},
		"a day on which all waited had none": {
			days(infer.NodeDay{CongestedHours: 20}, infer.NodeDay{InService: 8, Busiest: 8}), []int{0, 8},
		},
		"no estimate": {days(infer.NodeDay{Busiest: 12}), nil},
		"no days":     {nil, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for _, d := range serviceDays(tt.days, segue.Never) {
				got = append(got, d.nodes)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingNodesStayOutFromDayToDay(t *testing.T) {
	t.Parallel()
	day := func(n int64) segue.Time { return segue.Seconds(n * 86400) }
	got := missing([]serviceDay{{day(0), 10}, {day(1), 7}, {day(2), 6}, {day(3), 9}, {day(4), 9}}, 10)
	want := []simulator.Outage{
		{From: day(2), Until: day(3), Nodes: 1, Drain: true},
		{From: day(1), Until: day(3), Nodes: 2, Drain: true},
		{From: day(1), Until: segue.Never, Nodes: 1, Drain: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outages (-want +got):\n%s", diff)
	}
}

func TestTheLastMonthWithEnoughJobsIsHeldOut(t *testing.T) {
	t.Parallel()
	var history []segue.Job
	for month, jobs := range map[time.Month]int{time.January: 40, time.February: 50, time.March: 3} {
		for range jobs {
			history = append(history, segue.Job{Submit: segue.TimeOf(time.Date(2023, month, 7, 12, 0, 0, 0, time.UTC))})
		}
	}
	if got, want := lastMonth(history), segue.TimeOf(time.Date(2023, 2, 1, 0, 0, 0, 0, time.UTC)); got != want {
		t.Errorf("held out from %s, want %s", got, want)
	}
}

func TestTheFaithfulReplayIsFarCloserToTheRecordedWaits(t *testing.T) {
	t.Parallel()
	h, err := traces.Load(shared.Path(t, "traces/ls6-a100-to-2023-02.log"), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStudy(FidelityConfig{
		History: h.Jobs, From: segue.TimeOf(time.Date(2022, 11, 1, 0, 0, 0, 0, time.UTC)),
		Cluster: simulator.Config{
			Pools: []simulator.Pool{{Name: "batch", Nodes: 76}}, Backfill: simulator.SlurmBackfill,
			Slurm: simulator.Published(), Order: simulator.PublishedOrder(),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Attempt{}
	for _, w := range s.ways() {
		if w.name != "plain" && w.name != "running limit" && w.name != faithfulName {
			continue
		}
		starts, err := s.starts(t.Context(), w.replay)
		if err != nil {
			t.Fatal(err)
		}
		got[w.name] = s.attempt(w, starts)
	}
	// What was measured by hand on a log that is a month longer: 0.20 and 0.42.
	between(t, "plain, all jobs", got["plain"].Whole.All.R, 0.20, 0.24)
	between(t, "running limit, all jobs", got["running limit"].Whole.All.R, 0.41, 0.45)
	faithful := got[faithfulName]
	between(t, "faithful, all jobs", faithful.Whole.All.R, 0.75, 1)
	between(t, "faithful, not held back", faithful.Whole.Free.R, 0.60, 1)
	between(t, "faithful, not held back, logs", faithful.Whole.Free.LogR, 0.68, 1)
	between(t, "faithful, fitted", faithful.Fitted.Free.R, 0.65, 1)
	between(t, "faithful, held out", faithful.Held.Free.R, 0.52, 1)
}

func between(t *testing.T, what string, got evaluation.Number, lo, hi float64) {
	t.Helper()
	if float64(got) < lo || float64(got) > hi || !got.Known() {
		t.Errorf("%s: r is %.3f, want %g to %g", what, float64(got), lo, hi)
	}
}
