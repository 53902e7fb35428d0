package evaluation_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// smallRun is the worked example of these tests: four test starts whose waits
// are 1, 5, 14 and 2 h whenever the successor is submitted, the first two in
// one block of four days, the others in the next.
//
//	lead  outcomes          interruption  overlap
//	 0    1   5  14   2     5.5           0
//	 2   -1   3  12   0     3.75          0.25
//	 4   -3   1  10  -2     2.75          1.25
//	 8   -7  -3   6  -6     1.5           4
//	16  -15 -11  -2 -14     0             10.5
//
// All five points are corners of the constant frontier, which is at 3,
// 2.75 - 0.75*(1.25/2.75) = 2.409091 and 1.5 for overlaps of 1, 2 and 4 h.
//
// The oracle pays 1, 1, 6 and 0 h of interruption or 1, 3, 2 and 0 h of
// overlap: (0, 2), (0.5, 0.5), (0.75, 0.25), (1.5, 0), so it is at
// 0.25 - 0.25/3 = 0.166667, 0 and 0.
func smallRun() evaluation.Run {
	waits := []float64{1, 5, 14, 2}
	constant := evaluation.Outcomes{Params: []float64{0, 2, 4, 8, 16}}
	for _, lead := range constant.Params {
		row := make([]float64, len(waits))
		for i, wait := range waits {
			row[i] = wait - lead
		}
		constant.X = append(constant.X, row)
	}
	return evaluation.Run{
		Label: "example",
		Test: evaluation.Trial{
			Starts: evaluation.Starts{
				At: []segue.Time{
					day(2023, 3, 1), day(2023, 3, 3), day(2023, 3, 5), day(2023, 3, 8).Add(20 * time.Hour),
				},
				Reactive: waits,
			},
			Constant: constant,
			Policies: []evaluation.Outcomes{
				{Name: "reactive", X: [][]float64{waits}},
				{Name: "planner", Params: []float64{0.5, 1}, X: [][]float64{{0.5, 2.5, 7, 1}, {0, -1, 2, -2}}},
			},
		},
		// Here a lead of 4 h is best, and the factor 1.
		Tune: evaluation.Trial{
			Starts: evaluation.Starts{At: []segue.Time{day(2023, 2, 1), day(2023, 2, 2)}, Reactive: []float64{4, 5}},
			Constant: evaluation.Outcomes{
				Params: constant.Params,
				X:      [][]float64{{4, 5}, {2, 3}, {0, 1}, {-4, -3}, {-12, -11}},
			},
			Policies: []evaluation.Outcomes{
				{Name: "reactive", X: [][]float64{{4, 5}}},
				{Name: "planner", Params: []float64{0.5, 1}, X: [][]float64{{2, 2.5}, {0, -1}}},
			},
		},
	}
}

func backtest(t *testing.T, run evaluation.Run, cfg evaluation.Config) evaluation.Result {
	t.Helper()
	result, err := evaluation.Backtest(run, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestBacktestOfTheWorkedExample(t *testing.T) {
	t.Parallel()
	got := backtest(t, smallRun(), evaluation.Config{Planners: []string{"planner"}})
	if got.Starts != 4 || got.Blocks != 2 || got.OverlapPrice != 0.25 || got.BestPlanner != "planner" {
		t.Errorf("got %d starts, %d blocks, price %v, best planner %q; want 4, 2, 0.25, planner",
			got.Starts, got.Blocks, got.OverlapPrice, got.BestPlanner)
	}
	nan := evaluation.Number(math.NaN())
	type row struct {
		Name              string
		Gap, Param        evaluation.Number
		Cost, OverPlanner evaluation.Estimate
		Worst             evaluation.Number
		Interruption      evaluation.AtOverlaps
		Light, Med, Heavy evaluation.Number
	}
	var rows []row
	for _, p := range got.Policies {
		rows = append(rows, row{
			p.Name, p.GapClosed.Mean, p.Tuned.Parameter, p.Cost, p.OverPlanner, p.Worst.Cost, p.Interruption,
			p.ByLoad.Light.Cost, p.ByLoad.Medium.Cost, p.ByLoad.Heavy.Cost,
		})
	}
	// With two blocks, the replicates are the first block twice, the second
	// twice, and both; so the bounds of a cost are its means over the blocks.
	want := []row{
		{
			// Lead 4: 0.75, 1, 10 and 0.5 h.
			Name: "constant", Gap: 0, Param: 4, Worst: 10,
			Cost:        evaluation.Estimate{Mean: 3.0625, Lo: 0.875, Hi: 5.25},
			OverPlanner: evaluation.Estimate{Mean: 2.375, Lo: 0.75, Hi: 4},
			Interruption: evaluation.AtOverlaps{
				3.5, 3, 2.75 - 0.75*1.25/2.75, 1.5, 1.5 - 4*1.5/6.5,
			},
			Light: 0.625, Med: 1, Heavy: 10,
		},
		{
			// -2.5/2.833333, -3.090909/2.409091 and -4/1.5, averaged.
			Name: "reactive", Gap: (-2.5/(3-1.0/6) - (5.5-26.5/11)/(26.5/11) - 4/1.5) / 3, Param: nan, Worst: 14,
			Cost:         evaluation.Estimate{Mean: 5.5, Lo: 3, Hi: 8},
			OverPlanner:  evaluation.Estimate{Mean: 4.8125, Lo: 2.875, Hi: 6.75},
			Interruption: evaluation.AtOverlaps{5.5, 5.5, 5.5, 5.5, 5.5},
			Light:        1.5, Med: 5, Heavy: 14,
		},
		{
			// The frontier runs from (0, 2.75) to (0.75, 0.5); factor 1 costs
			// 0, 0.25, 2 and 0.5 h. Gap: 2.5/2.833333, 1.909091/2.409091, 1/1.5.
			Name: "planner", Gap: (2.5/(3-1.0/6) + (26.5/11-0.5)/(26.5/11) + 1/1.5) / 3, Param: 1, Worst: 2,
			Cost:         evaluation.Estimate{Mean: 0.6875, Lo: 0.125, Hi: 1.25},
			OverPlanner:  evaluation.Estimate{Mean: 0, Lo: 0, Hi: 0},
			Interruption: evaluation.AtOverlaps{1.25, 0.5, 0.5, 0.5, 0.5},
			Light:        0.25, Med: 0.25, Heavy: 2,
		},
		{
			// Overlaps of 1, 3 and 2 h, since the price 0.25 is below 1, 1/3 and 3.
			Name: "oracle", Gap: 1, Param: 0.25, Worst: 0.75,
			Cost:         evaluation.Estimate{Mean: 0.375, Lo: 0.25, Hi: 0.5},
			OverPlanner:  evaluation.Estimate{Mean: -0.3125, Lo: -1, Hi: 0.375},
			Interruption: evaluation.AtOverlaps{0.5, 0.5 / 3, 0, 0, 0},
			Light:        0.125, Med: 0.75, Heavy: 0.5,
		},
	}
	if diff := cmp.Diff(want, rows, nearly); diff != "" {
		t.Errorf("scores (-want +got):\n%s", diff)
	}
	// Leads 2, 4, 8 and 16 leave 2, 2, 3 and 4 of the 4 starts without
	// interruption, at overlaps of 0.25, 1.25, 4 and 10.5 h.
	wantZero := evaluation.AtOverlaps{0.5, 0.5, 0.5 + 0.25*0.75/2.75, 0.75, 0.75 + 0.25*4/6.5}
	if diff := cmp.Diff(wantZero, got.Policies[0].ZeroInterruption, nearly); diff != "" {
		t.Errorf("zero-interruption shares of the constant lead (-want +got):\n%s", diff)
	}
}

func TestReportAsJSON(t *testing.T) {
	t.Parallel()
	run := smallRun()
	result := backtest(t, run, evaluation.Config{Planners: []string{"planner"}})
	split, err := evaluation.NewSplit(day(2023, 1, 1), day(2023, 2, 1), day(2023, 3, 1), day(2023, 4, 1), 48*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(evaluation.Report{
		PairNodes: 8, PairTime: "48h0m0s", Periods: split, Result: result,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/report.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestNumbersThatAreNotFiniteAreNullInJSON(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(struct {
		Single []evaluation.Number
		At     evaluation.AtOverlaps
	}{
		Single: []evaluation.Number{1.0 / 3, -1e-9, 1e300, evaluation.Number(math.Inf(-1))},
		At:     evaluation.AtOverlaps{evaluation.Number(math.NaN()), 1, 2, 3, 4.5},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Single":[0.333333,0,1e+300,null],"At":{"0.5":null,"1":1,"2":2,"4":3,"8":4.5}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}

func TestEmptyQueueLeavesNoGapAndStillMarshals(t *testing.T) {
	t.Parallel()
	run := smallRun()
	for _, trial := range []*evaluation.Trial{&run.Tune, &run.Test} {
		for _, o := range append([]evaluation.Outcomes{trial.Constant}, trial.Policies...) {
			for _, row := range o.X {
				clear(row)
			}
		}
		clear(trial.Starts.Reactive)
	}
	result := backtest(t, run, evaluation.Config{})
	if gap := result.Policies[1].GapClosed.Mean; gap.Known() {
		t.Errorf("gap closed is %v, want unknown", gap)
	}
	if _, err := json.Marshal(evaluation.Report{Result: result}); err != nil {
		t.Error(err)
	}
}

func TestRollPoolsTheTestStartsAtTheirOwnRunsParameter(t *testing.T) {
	t.Parallel()
	march, april := smallRun(), smallRun()
	march.Label, april.Label = "2023-03", "2023-04"
	for i := range april.Test.Starts.At {
		april.Test.Starts.At[i] = april.Test.Starts.At[i].Add(32 * 24 * time.Hour)
	}
	april.Tune.Policies[1].X = [][]float64{{0, 0}, {9, 9}} // so the factor 0.5 is chosen
	got, err := evaluation.Roll([]evaluation.Run{march, april}, evaluation.Config{Planners: []string{"planner"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(
		[]string{"2023-03", "2023-04"}, []string{got.Runs[0].Label, got.Runs[1].Label},
	); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	type row struct {
		March, April, Pooled, Param evaluation.Number
	}
	pooled := got.Pooled.Policies
	for p, want := range []row{
		{3.0625, 3.0625, 3.0625, 4},
		{5.5, 5.5, 5.5, evaluation.Number(math.NaN())},
		{0.6875, 2.75, (0.6875 + 2.75) / 2, evaluation.Number(math.NaN())},
		{0.375, 0.375, 0.375, 0.25},
	} {
		row := row{
			got.Runs[0].Policies[p].Cost.Mean, got.Runs[1].Policies[p].Cost.Mean, pooled[p].Cost.Mean, pooled[p].Tuned.Parameter,
		}
		if diff := cmp.Diff(want, row, nearly); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pooled[p].Name, diff)
		}
	}
	if got.Pooled.Starts != 8 || got.Pooled.Blocks != 4 {
		t.Errorf("pooled %d starts in %d blocks, want 8 in 4", got.Pooled.Starts, got.Pooled.Blocks)
	}
}

func TestBacktestRefusesWhatItCannotMeasure(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*evaluation.Run, *evaluation.Config)
		want   string
	}{
		"no starts": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Test = r.Test.In(evaluation.Period{}, 0) },
			"backtest example: test period: no starts",
		},
		"reserved name": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Tune.Policies[0].Name = "oracle" },
			`backtest example: tuning period: policy name "oracle" is empty, reserved or used twice`,
		},
		"row too short": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Test.Constant.X[1] = r.Test.Constant.X[1][:3] },
			`backtest example: test period: policy "constant", row 1 has 3 outcomes, want 4`,
		},
		"outcome that is not finite": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Test.Policies[1].X[0][2] = math.NaN() },
			`backtest example: test period: policy "planner", row 0, start 2: outcome is NaN`,
		},
		"parameter that is not finite": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Test.Policies[1].Params[1] = math.Inf(1) },
			`backtest example: test period: policy "planner", row 1: parameter is +Inf`,
		},
		"missing parameter values": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Test.Policies[1].Params = nil },
			`backtest example: test period: policy "planner" has 0 parameter values and 2 rows of outcomes`,
		},
		"missing reactive outcomes": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Tune.Starts.Reactive = nil },
			"backtest example: tuning period: 2 starts have 0 reactive outcomes",
		},
		"periods with different policies": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Tune.Policies[1].Params[0] = 0.7 },
			`backtest example: tuning and test period: policy "planner" has different parameter values`,
		},
		"periods with other names": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Tune.Policies[1].Name = "other" },
			`backtest example: tuning and test period: policy 2 is "other" and "planner"`,
		},
		"periods with fewer policies": {
			func(r *evaluation.Run, _ *evaluation.Config) { r.Tune.Policies = r.Tune.Policies[:1] },
			"backtest example: tuning and test period: 1 policies and 2",
		},
		"unknown planner": {
			func(_ *evaluation.Run, c *evaluation.Config) { c.Planners = []string{"squeue"} },
			`backtest example: planner "squeue" is not among the policies`,
		},
		"price": {
			func(_ *evaluation.Run, c *evaluation.Config) { c.Prefer = -1 },
			"backtest: Prefer is -1, want a positive number",
		},
		"replicates": {
			func(_ *evaluation.Run, c *evaluation.Config) { c.Replicates = -1 },
			"backtest: Replicates is -1, want at least 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, cfg := smallRun(), evaluation.Config{}
			test.change(&run, &cfg)
			_, err := evaluation.Backtest(run, cfg)
			if err == nil || segue.KindOf(err) != segue.Invalid {
				t.Fatalf("got %v, want an error of kind invalid", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q, want it to contain %q", err, test.want)
			}
		})
	}
}

func TestLoadBoundaries(t *testing.T) {
	t.Parallel()
	for reactive, want := range map[float64]string{0: "light", 2: "light", 2.01: "medium", 12: "medium", 12.01: "heavy"} {
		if got := evaluation.LoadOf(reactive).String(); got != want {
			t.Errorf("%v h is %s, want %s", reactive, got, want)
		}
	}
}
