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
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/simulator"
)

// The submissions of a history by which a model is judged before it decides.
const (
	hindsightWindow = 28 * 24 * time.Hour
	mostAsked       = 80 // spread evenly over the window: waits of neighbours are alike
	askedReplicas   = 12 // simulated futures, as in training
	// noWait is the longest recorded wait that counts as none: a scheduler looks at
	// its queue now and then only, which simulations of forecasts leave out.
	noWait = time.Minute
)

// Hindsight is how a model's forecasts of recorded waits turned out, as far as that
// was known at an instant. The zero Hindsight knows of none: it corrects nothing and
// doubts nothing. It is for several goroutines.
type Hindsight struct {
	// Doubt says why the model's forecasts are not to be trusted even as corrected;
	// empty when nothing speaks against them.
	Doubt string

	past    waits.Follower
	pending []waits.Pending
}

// Correct moves a forecast of the model to where waits came to lie in its forecasts
// before (waits.Follower).
func (h Hindsight) Correct(f segue.Forecast) segue.Forecast {
	return h.past.Correct(f, h.pending) // of the copy
}

// LookBack asks the model what it would have said in the four weeks before the
// instant at: at recorded submissions of jobs such as it was trained for, of at
// least half and at most twice as many nodes and hours as one of its pairs, by users
// with nothing else in the queue. Every forecast is corrected by those before it,
// as the ones to come will be, and doubted by how these did. jobs are the records as
// they are, in order of submission; nothing of them after the instant is used.
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
		return Hindsight{}, fmt.Errorf("judge model %s by earlier waits: %w", by.ID, err)
	}
	return lookBack(waited, at), nil
}

// asked is a submission and what the model says of its wait.
type asked struct {
	job  *segue.Job
	said segue.Forecast
}

func foretell(ctx context.Context, by Trained, waited []asked, jobs []segue.Job, cluster simulator.Config, monte predictor.MonteCarloConfig) error {
	monte.Replicas = askedReplicas
	sources, err := predictor.NewSources(cluster, monte)
	if err != nil {
		return err
	}
	model, err := by.Model.NewForecaster()
	if err != nil {
		return err
	}
	var describer predictor.Describer
	for k := range waited {
		if err := ctx.Err(); err != nil {
			return err
		}
		j := waited[k].job
		now := predictor.RecordedAt(jobs, j.Submit, cluster.Pools[0].Nodes)
		told := predictor.Told{}
		if err := tell(told, sources, &now, requestOf(j)); err != nil {
			return fmt.Errorf("the wait of job %s: %w", j.ID, err)
		}
		waited[k].said = model.Forecast(j.Submit, describer.Describe(&now, requestOf(j), told, nil))
	}
	return nil
}

// lookBack goes through the submissions in order of time.
func lookBack(waited []asked, at segue.Time) Hindsight {
	var h Hindsight
	var band drift.Coverage
	var outcomes []drift.Outcome
	started := slices.DeleteFunc(slices.Clone(waited), func(a asked) bool { return !a.job.Start.Known() })
	slices.SortStableFunc(started, func(a, b asked) int { return cmp.Compare(a.job.Start, b.job.Start) })
	learn := func(until segue.Time) {
		for len(started) > 0 && started[0].job.Start < until {
			a := started[0]
			h.past.Observe(a.said, recordedWait(a.job), a.job.Start)
			started = started[1:]
		}
	}
	for k, a := range waited {
		learn(a.job.Submit)
		h.pending = pendingAt(waited[:k], a.job.Submit)
		if o, over := outcomeOf(band, h.Correct(a.said), a.job, at); over {
			outcomes = append(outcomes, o)
		}
	}
	learn(at)
	h.pending = pendingAt(waited, at)
	slices.SortStableFunc(outcomes, func(a, b drift.Outcome) int { return cmp.Compare(a.Known, b.Known) })
	_, h.Doubt = band.Check(outcomes, at)
	return h
}

// pendingAt returns those that waited at an instant.
func pendingAt(waited []asked, at segue.Time) []waits.Pending {
	var pending []waits.Pending
	for _, a := range waited {
		if left := leftQueue(a.job); a.job.Submit < at && (!left.Known() || left >= at) {
			pending = append(pending, waits.Pending{Forecast: a.said, Age: at.Sub(a.job.Submit)})
		}
	}
	return pending
}

// leftQueue returns when a job started, or was cancelled while it waited.
func leftQueue(j *segue.Job) segue.Time {
	if j.Start.Known() {
		return j.Start
	}
	return j.End
}

func recordedWait(j *segue.Job) time.Duration {
	if wait := j.Start.Sub(j.Submit); wait > noWait {
		return wait
	}
	return 0
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
