package reports_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/reports"
)

func day(year int, month time.Month, day int) segue.Time {
	return segue.TimeOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// congestion is a made-up queue: waits that rise and fall over days, and
// policies that know them more or less well.
type congestion struct {
	rng   *rand.Rand
	level float64
}

func (q *congestion) trial(from segue.Time, starts int) evaluation.Trial {
	var trial evaluation.Trial
	for lead := 0.0; lead <= 48; lead++ {
		trial.Constant.Params = append(trial.Constant.Params, lead)
	}
	trial.Constant.X = make([][]float64, len(trial.Constant.Params))
	for _, name := range policyNames {
		policy := evaluation.Outcomes{Name: name}
		for factor := 0.0; factor <= 3; factor += 0.25 {
			policy.Params = append(policy.Params, factor)
		}
		policy.X = make([][]float64, len(policy.Params))
		trial.Policies = append(trial.Policies, policy)
	}
	for i := range starts {
		q.level = max(0, 0.97*q.level+q.rng.NormFloat64())
		wait := q.level * (0.3 + q.rng.ExpFloat64())
		trial.Starts.At = append(trial.Starts.At, from.Add(time.Duration(i)*4*time.Hour))
		trial.Starts.Reactive = append(trial.Starts.Reactive, wait)
		for k, lead := range trial.Constant.Params {
			trial.Constant.X[k] = append(trial.Constant.X[k], wait-lead)
		}
		for p := range trial.Policies {
			known := float64(p) / float64(len(trial.Policies))
			guess := known*wait + (1-known)*q.level*q.rng.ExpFloat64()
			for k, factor := range trial.Policies[p].Params {
				trial.Policies[p].X[k] = append(trial.Policies[p].X[k], wait-factor*guess)
			}
		}
	}
	return trial
}

var policyNames = []string{
	"reactive", "average", "simulated_limits_scaled", "simulated_user_runs", "monte_carlo_quantile",
	"boosted_trees", "conformal_forest", "fitted_q",
}

// backtest is a report with every section.
func backtest(t testing.TB) reports.Backtest {
	t.Helper()
	queue := &congestion{rng: rand.New(rand.NewPCG(5, 5))}
	var runs []evaluation.Run
	for _, split := range evaluation.RollingMonths(evaluation.Period{From: day(2022, 10, 1), To: day(2023, 5, 1)}, 2, 72*time.Hour) {
		runs = append(runs, evaluation.Run{
			Label: split.Test.From.Std().Format("2006-01"),
			Split: split,
			Tune:  queue.trial(split.Tune.From, 168).In(split.Tune, split.Embargo),
			Test:  queue.trial(split.Test.From, 168).In(split.Test, split.Embargo),
		})
	}
	cfg := evaluation.Config{Planners: policyNames[:5], Replicates: 40}
	result, err := evaluation.Backtest(runs[len(runs)-1], cfg)
	if err != nil {
		t.Fatal(err)
	}
	rolling, err := evaluation.Roll(runs, cfg)
	if err != nil {
		t.Fatal(err)
	}
	stressed := runs[len(runs)-1]
	queue.level = 12
	stressed.Test = queue.trial(stressed.Split.Test.From, 168).In(stressed.Split.Test, stressed.Split.Embargo)
	stress, err := evaluation.Backtest(stressed, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return reports.Backtest{
		Title:   "Backtest of made-up congestion",
		Trace:   "A synthetic queue whose waits rise and fall over days. Nothing in it was measured on a real cluster.",
		Command: "segue backtest --trace made-up.log --nodes 8 --time 48h --html report.html",
		Report: evaluation.Report{
			PairNodes: 8, PairTime: "48h0m0s", Periods: runs[len(runs)-1].Split, Result: result, Rolling: &rolling,
			Stress: []evaluation.Stress{
				{Name: "fewer_nodes", What: "Eight of 76 nodes are gone.", Result: stress},
				{Name: "hidden_priority", What: "Users have priorities that nobody sees.", Result: result},
				{Name: "outage", What: "The cluster is down for a day.", Result: stress},
			},
		},
		Policies: []reports.PolicyText{
			{Name: "reactive", What: "Submits the successor when the predecessor has ended."},
			{Name: "average", Label: "mean of last 100 waits × c", What: "Takes the mean wait of the last 100 jobs that started."},
			{Name: "simulated_limits_scaled", Label: "forward simulation × c", What: "Simulates the queue forward with the requested limits."},
			{Name: "monte_carlo_quantile", Label: "Monte Carlo quantile", What: "Simulates many futures and takes a quantile of the waits."},
			{Name: "boosted_trees", Label: "boosted trees", What: "Learned from history."},
		},
		Curves:    []reports.OutcomeCurve{curve()},
		Chains:    []reports.Timeline{chain()},
		Waits:     waits(),
		Quantiles: quantiles(),
		Notes:     []string{"Waits are made up, so the numbers say nothing about any cluster."},
	}
}

func curve() reports.OutcomeCurve {
	o := reports.OutcomeCurve{
		Title: "A heavy start, 14 Apr 2023 08:00", ChosenBy: "boosted trees",
		Chosen: &reports.LeadOutcome{Lead: 14, Outcome: 2.5},
	}
	for lead := 0.0; lead <= 48; lead += 0.5 {
		wait := 16.5
		switch {
		case lead > 30:
			wait = 12 + lead/10
		case lead > 20:
			wait = 9
		}
		o.Outcomes = append(o.Outcomes, reports.LeadOutcome{Lead: lead, Outcome: wait - lead})
		o.Forecast = append(o.Forecast, reports.LeadBand{Lead: lead, Lo: 6 - lead, Middle: 12 - lead, Hi: 21 - lead})
	}
	return o
}

func chain() reports.Timeline {
	start := day(2023, 3, 2)
	hour := func(h float64) segue.Time { return start.Add(time.Duration(h * float64(time.Hour))) }
	return reports.Timeline{
		Title: "A chain of six links in March",
		Until: hour(290),
		Links: []reports.Link{
			{Name: "train-1", Submit: hour(0), Start: hour(3), End: hour(51)},
			{Name: "train-2", Submit: hour(39), Start: hour(50.5), End: hour(98.5)},
			{Name: "train-3", Submit: hour(80), Start: hour(104), End: hour(152)},
			{Name: "train-4", Submit: hour(130), Start: hour(144), End: hour(192)},
			{Name: "train-5", Submit: hour(176), Start: hour(192.7), End: hour(240.7)},
			{Name: "train-6", Submit: hour(228), Start: hour(240), End: segue.NoTime},
			{Name: "train-7", Submit: hour(276), Start: segue.NoTime, End: segue.NoTime},
		},
	}
}

func cluster() reports.Cluster {
	rng := rand.New(rand.NewPCG(2, 2))
	g := reports.Cluster{Title: "Use of 76 nodes over three months", Nodes: 76}
	busy, asked := 60.0, 20.0
	for i := range 90 * 24 * 6 {
		busy = min(max(busy+rng.NormFloat64(), 20), 76)
		asked = max(asked+2*rng.NormFloat64()+0.02*(40-asked), 0)
		out := 0.0
		if i > 40*144 && i < 43*144 {
			out = 24
		}
		g.Samples = append(g.Samples, reports.ClusterSample{
			At:   day(2023, 1, 1).Add(time.Duration(i) * 10 * time.Minute),
			Busy: min(busy, 76-out), OutOfService: out, Requested: asked,
		})
	}
	return g
}

func waits() *reports.Distribution {
	rng := rand.New(rand.NewPCG(3, 3))
	g := &reports.Distribution{
		Title: "Simulated and recorded waits", Series: []reports.Sample{{Name: "recorded", Look: reports.OracleLook}, {Name: "simulated"}},
	}
	for range 5000 {
		g.Series[0].Waits = append(g.Series[0].Waits, math.Exp(2*rng.NormFloat64()))
		g.Series[1].Waits = append(g.Series[1].Waits, max(0, math.Exp(1.6*rng.NormFloat64())-0.4))
	}
	return g
}

func quantiles() *reports.Calibration {
	g := &reports.Calibration{Title: "Calibration of the forecasts"}
	for i, name := range []string{"forward simulation", "boosted trees"} {
		s := reports.CalibrationSeries{Name: name, Look: reports.Look(i)}
		for p := 0.1; p < 0.95; p += 0.1 {
			s.Levels = append(s.Levels, p)
			s.Observed = append(s.Observed, math.Pow(p, 1.1+0.6*float64(1-i)))
		}
		g.Series = append(g.Series, s)
	}
	return g
}
