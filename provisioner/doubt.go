package provisioner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/drift"
	"github.com/segue-project/segue/simulator"
)

// The submissions of a history by which a model is judged before it decides.
const (
	doubtWindow   = 28 * 24 * time.Hour
	mostAsked     = 80 // spread evenly over the window: waits of neighbours are alike
	askedReplicas = 12 // simulated futures, as in training
	// noWait is the longest recorded wait that counts as none: a scheduler looks at
	// its queue now and then only, which simulations of forecasts leave out.
	noWait = time.Minute
)

// Doubt says why the model's forecasts are not to be trusted at the instant at, by
// how they would have turned out in the four weeks before; empty when nothing
// speaks against them. It asks the model at recorded submissions of jobs such as it
// was trained for: of at least half and at most twice as many nodes and hours as
// one of its pairs, by users with nothing else in the queue. jobs are the records
// as they are; nothing of them after the instant is used, and a job that still
// waits counts once it has waited longer than its forecast said.
func Doubt(ctx context.Context, by Trained, jobs []segue.Job, at segue.Time, cluster simulator.Config, monte predictor.MonteCarloConfig) (string, error) {
	asked := like(by.Pairs, jobs, at)
	if len(asked) == 0 {
		return "", nil
	}
	monte.Replicas = askedReplicas
	sources, err := predictor.NewSources(cluster, monte)
	if err != nil {
		return "", fmt.Errorf("judge model %s by earlier waits: %w", by.ID, err)
	}
	model, err := by.Model.NewForecaster()
	if err != nil {
		return "", fmt.Errorf("judge model %s by earlier waits: %w", by.ID, err)
	}
	var band drift.Coverage
	var describer predictor.Describer
	var outcomes []drift.Outcome
	for _, i := range asked {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		j := &jobs[i]
		now := predictor.RecordedAt(jobs, j.Submit, cluster.Pools[0].Nodes)
		told := predictor.Told{}
		if err := tell(told, sources, &now, requestOf(j)); err != nil {
			return "", fmt.Errorf("judge model %s by the wait of job %s: %w", by.ID, j.ID, err)
		}
		f := model.Forecast(j.Submit, describer.Describe(&now, requestOf(j), told, nil))
		if o, over := outcomeOf(band, f, j, at); over {
			outcomes = append(outcomes, o)
		}
	}
	slices.SortStableFunc(outcomes, func(a, b drift.Outcome) int { return cmp.Compare(a.Known, b.Known) })
	_, why := band.Check(outcomes, at)
	return why, nil
}

// like returns the places of the submissions to ask about, at most mostAsked of
// them.
func like(pairs []segue.Shape, jobs []segue.Job, at segue.Time) []int {
	var places []int
	for i := range jobs {
		j := &jobs[i]
		if j.Submit >= at.Add(-doubtWindow) && j.Submit < at && slices.ContainsFunc(pairs, func(p segue.Shape) bool { return similar(j, p) }) {
			places = append(places, i)
		}
	}
	places = slices.DeleteFunc(places, func(i int) bool { return !alone(jobs, i) })
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

// alone reports whether the user of a job had no other one in the queue when it was
// submitted, and nothing held it back for all that is known.
func alone(jobs []segue.Job, i int) bool {
	j := &jobs[i]
	if j.Eligible.Known() && j.Eligible > j.Submit {
		return false
	}
	return !slices.ContainsFunc(jobs, func(o segue.Job) bool {
		left := o.Start
		if !left.Known() {
			left = o.End // cancelled while it waited
		}
		return o.User == j.User && o.Submit < j.Submit && (!left.Known() || left > j.Submit)
	})
}

func requestOf(j *segue.Job) segue.Request {
	return segue.Request{Shape: segue.Shape{Nodes: int(j.Nodes), Limit: j.Limit}, Partition: j.Partition, QOS: j.QOS}
}

// outcomeOf returns how the forecast of a job's wait turned out, as known at the
// instant at; over is false while that is open.
func outcomeOf(band drift.Coverage, f segue.Forecast, j *segue.Job, at segue.Time) (o drift.Outcome, over bool) {
	if j.Start.Known() && j.Start < at {
		wait := j.Start.Sub(j.Submit)
		if wait <= noWait {
			wait = 0
		}
		return band.Outcome(f, wait, j.Start), true
	}
	if j.End.Known() && j.End < at { // cancelled while it waited
		return o, false
	}
	o = band.Outcome(f, at.Sub(j.Submit), at)
	return o, o.Within == 0
}
