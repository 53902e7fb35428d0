package trainer

import (
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces"
)

// On a real history the wait that the scheduler foresees, scaled, beats a
// constant lead: the least that a planner must do.
func TestScaledForwardSimulationBeatsAConstantLeadOnLonestar6(t *testing.T) {
	t.Parallel()
	h, err := traces.Load(shared.Path(t, "traces/ls6-a100-to-2023-02.log"), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	replays, err := Replays(h.Jobs, simulator.Config{
		Pools: []simulator.Pool{{Name: "gpu-a100", Nodes: 76}}, Backfill: simulator.SlurmBackfill,
		Slurm: simulator.Published(), Order: simulator.PublishedOrder(),
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	on := func(month time.Month, day int) segue.Time {
		year := 2022
		if month < time.June {
			year = 2023
		}
		return segue.TimeOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	}
	split, err := evaluation.NewSplit(replays[0].span().From, on(time.December, 15), on(time.January, 20), on(time.March, 1), 72*hour)
	if err != nil {
		t.Fatal(err)
	}
	cfg := BacktestConfig{
		Replays: replays, Pair: segue.Shape{Nodes: 1, Limit: 48 * hour}, Split: split, Every: 20 * hour,
		Families: families(t, "forward-limits-scaled"),
	}
	cfg.Grid.Step = 2 * hour
	report := run(t, cfg).Report

	constant, forward := report.Policies[0], report.Policies[1]
	t.Logf("%d starts: gap closed %.2f, cost %.2f h instead of %.2f h",
		report.Starts, float64(forward.GapClosed.Mean), float64(forward.Cost.Mean), float64(constant.Cost.Mean))
	if report.Starts < 30 {
		t.Errorf("only %d starts can be judged", report.Starts)
	}
	if !(forward.GapClosed.Mean > 0.25) {
		t.Errorf("%s closes %.2f of the gap, want more than 0.25", forward.Name, float64(forward.GapClosed.Mean))
	}
	if !(forward.Cost.Mean < constant.Cost.Mean) {
		t.Errorf("%s costs %.2f h, a constant lead %.2f h", forward.Name, float64(forward.Cost.Mean), float64(constant.Cost.Mean))
	}
}
