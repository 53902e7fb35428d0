package provisioner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/drift"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/simulator"
)

// The submissions of a history by which forecasts are judged before they decide.
const (
	hindsightWindow = 28 * 24 * time.Hour
	mostAsked       = 80 // spread evenly over the window: waits of neighbours are alike
	askedReplicas   = 12 // simulated futures, as in training
)

// Hindsight is how forecasts of recorded waits turned out, as far as that was known
// at an instant. The zero Hindsight knows of none: it corrects nothing and doubts
// nothing. It is for several goroutines.
type Hindsight struct {
	// Doubt says why what the model decides by is not to be trusted even as corrected;
	// empty when nothing speaks against it.
	Doubt string

	model, planner turnedOut
}

// turnedOut is how the forecasts of one forecaster turned out.
type turnedOut struct {
	follower waits.Follower
	pending  []waits.Pending
}

func (t turnedOut) correct(f segue.Forecast) segue.Forecast {
	return t.follower.Correct(f, t.pending) // of the copy
}

// Correct moves a forecast of the model's trees to where waits came to lie in their
// forecasts before (waits.Follower).
func (h Hindsight) Correct(f segue.Forecast) segue.Forecast { return h.model.correct(f) }

// CorrectPlanner moves a Monte Carlo forecast likewise.
func (h Hindsight) CorrectPlanner(f segue.Forecast) segue.Forecast { return h.planner.correct(f) }

// LookBack asks the model and the planner what they would have said in the four weeks
// before the instant at: at recorded submissions of jobs such as the model was trained
// for, of at least half and at most twice as many nodes and hours as one of its pairs,
// by users with nothing else in the queue. Every forecast is corrected by those before
// it, as the ones to come will be, and the model is doubted by how the blend of both
// did (learned.Blended). Without a Model the planner is asked alone. jobs are the records as they are, in order of
// submission; nothing of them after the instant is used.
func LookBack(
	ctx context.Context, by Trained, jobs []segue.Job, at segue.Time, cluster simulator.Config, monte predictor.MonteCarloConfig,
) (Hindsight, error) {
	var waited []asked
	for _, i := range like(by.Pairs, jobs, at) {
		waited = append(waited, asked{job: &jobs[i]})
	}
	if len(waited) == 0 {
		return Hindsight{}, nil
	}
	if err := foretell(ctx, by, waited, jobs, cluster, monte); err != nil {
		return Hindsight{}, fmt.Errorf("judge %s by earlier waits: %w", by.name(), err)
	}
	planner, planned := lookBack(waited, at, func(a *asked) segue.Forecast { return a.planned })
	if by.Model == nil {
		return Hindsight{planner: planner}, nil
	}
	trees, said := lookBack(waited, at, func(a *asked) segue.Forecast { return a.said })
	blended := func(k int) segue.Forecast { return learned.Blended(said[k], planned[k]) }
	return Hindsight{model: trees, planner: planner, Doubt: doubtOf(waited, at, blended)}, nil
}

func (t Trained) name() string {
	if t.Model == nil {
		return "the planner"
	}
	return "model " + t.ID
}

// asked is a submission and what the model's trees and the planner say of its wait.
type asked struct {
	job           *segue.Job
	said, planned segue.Forecast
}

func foretell(ctx context.Context, by Trained, waited []asked, jobs []segue.Job, cluster simulator.Config, monte predictor.MonteCarloConfig) error {
	monte.Replicas = askedReplicas
	if by.Model == nil {
		planner, err := predictor.NewMonteCarlo(cluster, monte)
		if err != nil {
			return err
		}
		return each(ctx, waited, jobs, cluster, func(a *asked, now *predictor.Present) (err error) {
			a.planned, err = planner.Forecast(now, requestOf(a.job))
			return err
		})
	}
	sources, err := predictor.NewSources(cluster, monte)
	if err != nil {
		return err
	}
	model, err := by.Model.NewForecaster()
	if err != nil {
		return err
	}
	var describer predictor.Describer
	return each(ctx, waited, jobs, cluster, func(a *asked, now *predictor.Present) error {
		told := predictor.Told{}
		if err := tell(told, sources, now, requestOf(a.job)); err != nil {
			return err
		}
		a.planned = told[predictor.MonteCarloName]
		a.said = model.Forecast(a.job.Submit, describer.Describe(now, requestOf(a.job), told, nil))
		return nil
	})
}

// each asks at every submission, by what was known then.
func each(
	ctx context.Context, waited []asked, jobs []segue.Job, cluster simulator.Config, ask func(a *asked, now *predictor.Present) error,
) error {
	for k := range waited {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := waited[k].job
		now := predictor.RecordedAt(jobs, j.Submit, cluster.Pools[0].Nodes)
		if err := ask(&waited[k], &now); err != nil {
			return fmt.Errorf("the wait of job %s: %w", j.ID, err)
		}
	}
	return nil
}

// lookBack goes through the submissions in order of time, and returns how what a
// forecaster said of them turned out, and what it said of each as corrected by those
// before it.
func lookBack(waited []asked, at segue.Time, said func(*asked) segue.Forecast) (t turnedOut, corrected []segue.Forecast) {
	turnouts := make([]waits.Turnout, len(waited))
	for k := range waited {
		turnouts[k] = turnoutOf(said(&waited[k]), waited[k].job)
	}
	past := waits.NewPast(waits.Follower{}, turnouts, waits.AtOnce)
	for k := range waited {
		corrected = append(corrected, past.Correct(said(&waited[k])))
	}
	t.follower, t.pending = past.At(at)
	return t, corrected
}

// turnoutOf returns how a forecast made at a job's submission turned out.
func turnoutOf(f segue.Forecast, j *segue.Job) waits.Turnout {
	t := waits.Turnout{Forecast: f, Left: leftQueue(j), Started: j.Start.Known()}
	if !t.Left.Known() {
		t.Left = segue.Never
	}
	return t
}

// doubtOf says why forecasts of the submissions, each as corrected then, are not to be
// trusted, by what was known at the instant at.
func doubtOf(waited []asked, at segue.Time, forecast func(k int) segue.Forecast) string {
	var band drift.Coverage
	var outcomes []drift.Outcome
	for k := range waited {
		if o, over := outcomeOf(band, forecast(k), waited[k].job, at); over {
			outcomes = append(outcomes, o)
		}
	}
	slices.SortStableFunc(outcomes, func(a, b drift.Outcome) int { return cmp.Compare(a.Known, b.Known) })
	_, doubt := band.Check(outcomes, at)
	return doubt
}

// leftQueue returns when a job started, or was cancelled while it waited.
func leftQueue(j *segue.Job) segue.Time {
	if j.Start.Known() {
		return j.Start
	}
	return j.End
}

func recordedWait(j *segue.Job) time.Duration {
	return waits.Counted(j.Start.Sub(j.Submit), waits.AtOnce)
}

// like returns the places of the submissions to ask about, at most mostAsked of
// them.
func like(pairs []segue.Shape, jobs []segue.Job, at segue.Time) []int {
	var places []int
	free := map[string]segue.Time{} // when all jobs of a user seen so far had left the queue
	for i := range jobs {
		j := &jobs[i]
		if !j.Submit.Known() || j.Submit >= at {
			continue
		}
		left, another := free[j.User]
		if alone := !another || left <= j.Submit; alone && j.Submit >= at.Add(-hindsightWindow) && !heldBack(j) &&
			slices.ContainsFunc(pairs, func(p segue.Shape) bool { return similar(j, p) }) {
			places = append(places, i)
		}
		leaves := leftQueue(j)
		if !leaves.Known() {
			leaves = segue.Never
		}
		free[j.User] = max(left, leaves)
	}
	if len(places) <= mostAsked {
		return places
	}
	thin := make([]int, mostAsked)
	for k := range thin {
		thin[k] = places[k*len(places)/mostAsked]
	}
	return thin
}

func similar(j *segue.Job, p segue.Shape) bool {
	nodes := int(j.Nodes)
	return 2*nodes >= p.Nodes && nodes <= 2*p.Nodes && 2*j.Limit >= p.Limit && j.Limit <= 2*p.Limit
}

// heldBack reports whether a job could not have started when it was submitted.
func heldBack(j *segue.Job) bool { return j.Eligible.Known() && j.Eligible > j.Submit }

func requestOf(j *segue.Job) segue.Request {
	return segue.Request{Shape: segue.Shape{Nodes: int(j.Nodes), Limit: j.Limit}, Partition: j.Partition, QOS: j.QOS}
}

// outcomeOf returns how the forecast of a job's wait turned out, as known at the
// instant at; over is false while that is open.
func outcomeOf(band drift.Coverage, f segue.Forecast, j *segue.Job, at segue.Time) (o drift.Outcome, over bool) {
	if j.Start.Known() && j.Start < at {
		return band.Outcome(f, recordedWait(j), j.Start), true
	}
	if j.End.Known() && j.End < at { // cancelled while it waited
		return o, false
	}
	o = band.Outcome(f, at.Sub(j.Submit), at)
	return o, o.Within == 0
}
