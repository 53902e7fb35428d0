package evaluation_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

func TestIntervalOfTheGapSpansThePossibleResamplings(t *testing.T) {
	t.Parallel()
	run := smallRun()
	whole := backtest(t, run, evaluation.Config{}).Policies[2].GapClosed
	lo, hi := whole.Mean, whole.Mean
	for _, block := range []evaluation.Period{
		{From: day(2023, 3, 1), To: day(2023, 3, 5)},
		{From: day(2023, 3, 5), To: day(2023, 3, 9)},
	} {
		part := run
		part.Test = run.Test.In(block, 0)
		result := backtest(t, part, evaluation.Config{})
		if gap := result.Policies[2].GapClosed; gap.Lo.Known() || gap.Hi.Known() {
			t.Errorf("one block has an interval: %+v", gap)
		}
		lo = min(lo, result.Policies[2].GapClosed.Mean)
		hi = max(hi, result.Policies[2].GapClosed.Mean)
	}
	if diff := cmp.Diff(evaluation.Estimate{Mean: whole.Mean, Lo: lo, Hi: hi}, whole, nearly); diff != "" {
		t.Errorf("gap closed (-want +got):\n%s", diff)
	}
}

// randomTrial is starts every 4 h for some weeks, with waits that rise and
// fall over days, and one policy that knows them roughly.
func randomTrial(rng *rand.Rand, from segue.Time, starts int) evaluation.Trial {
	var trial evaluation.Trial
	trial.Constant.Params = []float64{0, 1, 2, 4, 6, 8, 12, 16, 24, 48}
	trial.Constant.X = make([][]float64, len(trial.Constant.Params))
	rough := evaluation.Outcomes{Name: "rough", Params: []float64{0, 0.5, 1, 1.5, 2}}
	rough.X = make([][]float64, len(rough.Params))
	level := 0.0
	for i := range starts {
		level = max(0, 0.95*level+rng.NormFloat64())
		wait := level * 2 * rng.Float64()
		trial.Starts.At = append(trial.Starts.At, from.Add(time.Duration(i)*4*time.Hour))
		trial.Starts.Reactive = append(trial.Starts.Reactive, wait)
		for k, lead := range trial.Constant.Params {
			trial.Constant.X[k] = append(trial.Constant.X[k], wait-lead)
		}
		for k, factor := range rough.Params {
			rough.X[k] = append(rough.X[k], wait-factor*level)
		}
	}
	trial.Policies = []evaluation.Outcomes{rough}
	return trial
}

func TestYardsticksScoreZeroAndOneAndIntervalsHoldTheirMeans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		run := evaluation.Run{
			Tune: randomTrial(rng, day(2023, 1, 1), 60),
			Test: randomTrial(rng, day(2023, 2, 1), 180),
		}
		result, err := evaluation.Backtest(run, evaluation.Config{Replicates: 20, Planners: []string{"rough"}})
		if err != nil {
			t.Fatal(err)
		}
		constant, oracle := result.Policies[0], result.Policies[len(result.Policies)-1]
		if constant.GapClosed != (evaluation.Estimate{}) {
			t.Fatalf("constant closes %+v, want 0", constant.GapClosed)
		}
		if oracle.GapClosed != (evaluation.Estimate{Mean: 1, Lo: 1, Hi: 1}) {
			t.Fatalf("oracle closes %+v, want 1", oracle.GapClosed)
		}
		for _, p := range result.Policies {
			if p.Cost.Mean < oracle.Cost.Mean {
				t.Fatalf("%s costs %v, less than the oracle's %v", p.Name, p.Cost.Mean, oracle.Cost.Mean)
			}
			if p.Cost.Mean < p.Cost.Lo || p.Cost.Mean > p.Cost.Hi {
				t.Fatalf("cost of %s, %+v, lies outside its interval", p.Name, p.Cost)
			}
			if p.Worst.Cost < p.Cost.Mean {
				t.Fatalf("worst start of %s costs %v, less than the mean %v", p.Name, p.Worst.Cost, p.Cost.Mean)
			}
		}
	})
}

func TestBacktestIsDeterministicInItsSeed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	run := evaluation.Run{Tune: randomTrial(rng, day(2023, 1, 1), 60), Test: randomTrial(rng, day(2023, 2, 1), 180)}
	first := backtest(t, run, evaluation.Config{Seed: 3, Replicates: 200, Planners: []string{"rough"}})
	if diff := cmp.Diff(first, backtest(t, run, evaluation.Config{Seed: 3, Replicates: 200, Planners: []string{"rough"}}), nearly); diff != "" {
		t.Errorf("the same seed gives another result:\n%s", diff)
	}
	if other := backtest(t, run, evaluation.Config{Seed: 4, Replicates: 200}); other.Policies[1].Cost == first.Policies[1].Cost {
		t.Error("another seed gives the same interval")
	}
}

func TestLongBlocksWidenTheIntervalWhenCongestionLastsDays(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	run := evaluation.Run{Tune: randomTrial(rng, day(2023, 1, 1), 60), Test: randomTrial(rng, day(2023, 2, 1), 700)}
	constant := backtest(t, run, evaluation.Config{Replicates: 300}).Policies[0]
	long, short := constant.Cost.Hi-constant.Cost.Lo, constant.DayBlocks.Cost.Hi-constant.DayBlocks.Cost.Lo
	if long <= short {
		t.Errorf("interval is %v wide by four-day blocks, %v by days; want it wider", long, short)
	}
}

// The size of a real backtest: 10 policies of 100 parameter values, 40 blocks
// of four days, 2,000 replicates.
func BenchmarkBacktest(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	tune, test := wideTrial(rng, day(2023, 1, 1), 180), wideTrial(rng, day(2023, 3, 1), 960)
	for b.Loop() {
		if _, err := evaluation.Backtest(evaluation.Run{Tune: tune, Test: test}, evaluation.Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func wideTrial(rng *rand.Rand, from segue.Time, starts int) evaluation.Trial {
	trial := randomTrial(rng, from, starts)
	trial.Policies = nil
	for p := range 10 {
		policy := evaluation.Outcomes{Name: string(rune('a' + p))}
		for k := range 100 {
			row := make([]float64, starts)
			for i := range row {
				row[i] = trial.Starts.Reactive[i] - float64(k)/10 - rng.Float64()
			}
			policy.Params = append(policy.Params, float64(k))
			policy.X = append(policy.X, row)
		}
		trial.Policies = append(trial.Policies, policy)
	}
	return trial
}
