package provisioner_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// imported returns a store with the history of the cluster "c".
func imported(t *testing.T, jobs []segue.Job) *store.Store {
	t.Helper()
	s := newStore(t)
	all := func(yield func(segue.Job, error) bool) {
		for _, j := range jobs {
			if !yield(j, nil) {
				return
			}
		}
	}
	if _, err := s.ImportJobs(t.Context(), "c", all); err != nil {
		t.Fatal(err)
	}
	return s
}

// stateOf is four idle nodes of the partition gpu, and what waits for them.
func stateOf(waiting ...schedulers.Job) schedulers.State {
	state := schedulers.State{At: noon, Jobs: waiting}
	for _, name := range []string{"n1", "n2", "n3", "n4"} {
		state.Nodes = append(state.Nodes, schedulers.Node{Name: name, Partitions: []string{"gpu"}, InService: true, Idle: true})
	}
	return state
}

// queued returns a job like the recorded ones that another user submitted so long
// ago.
func queued(user string, since time.Duration, held bool) schedulers.Job {
	j := schedulers.Job{State: segue.Pending, QueuedJob: segue.QueuedJob{
		ID:      segue.JobID{Number: int64(1000 + since.Hours())},
		Request: segue.Request{Shape: segue.Shape{Nodes: 2, Limit: 48 * hour}, User: user, Partition: "gpu"},
		Submit:  noon.Add(-since), Eligible: noon.Add(-since), Start: segue.NoTime,
	}}
	if held {
		j.Eligible = segue.NoTime
	}
	return j
}

// On a real cluster the model goes by the waits that the store has of the partition,
// and by those that are not over in the queue. By itself it says three hours, and the
// planner none: half of that is what it decides by.
func TestLiveModelIsCorrectedByWhatTheStoreKnows(t *testing.T) {
	t.Parallel()
	long := func(partition string) []segue.Job {
		jobs := recorded(spread(6*hour, 12*hour))
		each(jobs, func(j *segue.Job) { j.Partition = partition })
		return jobs
	}
	tests := map[string]struct {
		jobs        []segue.Job
		state       schedulers.State
		least, most time.Duration // that 90 % start within
	}{
		"waits of the partition":        {long("gpu"), stateOf(), 10 * hour, 24 * hour},
		"waits of another":              {long("cpu"), stateOf(), 90 * time.Minute, 91 * time.Minute},
		"none":                          {nil, stateOf(), 90 * time.Minute, 91 * time.Minute},
		"those in the queue":            {nil, stateOf(queued("ben", 40*hour, false), queued("eve", 50*hour, false), queued("joe", 60*hour, false)), 10 * hour, 14 * 24 * hour},
		"but not those that are held":   {nil, stateOf(queued("ben", 40*hour, true), queued("eve", 50*hour, true), queued("joe", 60*hour, true)), 90 * time.Minute, 91 * time.Minute},
		"nor a user's second one there": {nil, stateOf(queued("ada", 60*hour, true), queued("ada", 50*hour, false)), 90 * time.Minute, 91 * time.Minute},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			by := toy(t)
			live := provisioner.NewLive(imported(t, tt.jobs), "c", provisioner.LiveConfig{By: &by, Monte: predictor.MonteCarloConfig{Replicas: 8}})
			q := question()
			q.Request.Partition = "gpu"
			first, err := live.Decide(t.Context(), tt.state, q)
			if err != nil {
				t.Fatal(err)
			}
			if got := first.Forecast.Quantile(0.9); got < tt.least || got > tt.most {
				t.Errorf("90 %% start within %s, want %s to %s", got, tt.least, tt.most)
			}
			again, err := live.Decide(t.Context(), tt.state, q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, again); diff != "" {
				t.Errorf("a moment later (-first +again):\n%s", diff)
			}
			if len(by.Hindsight.Doubt) > 0 {
				t.Errorf("the model that others use was changed")
			}
		})
	}
}

// Without a model the planner goes by the waits of jobs like the one that is asked for.
func TestLivePlannerIsCorrectedByWhatTheStoreKnows(t *testing.T) {
	t.Parallel()
	jobs := recorded(spread(6*hour, 12*hour))
	each(jobs, func(j *segue.Job) { j.Partition = "gpu" })
	live := provisioner.NewLive(imported(t, jobs), "c", provisioner.LiveConfig{Monte: predictor.MonteCarloConfig{Replicas: 8}})
	ask := func(nodes int, limit time.Duration) time.Duration {
		q := question()
		q.Request.Partition, q.Request.Shape = "gpu", segue.Shape{Nodes: nodes, Limit: limit}
		d, err := live.Decide(t.Context(), stateOf(), q)
		if err != nil {
			t.Fatal(err)
		}
		return d.Forecast.Quantile(0.9)
	}
	if got := ask(2, 48*hour); got < 8*hour || got > 24*hour {
		t.Errorf("90 %% of jobs like those recorded start within %s, want 8h to 24h", got)
	}
	if got := ask(3, 40*hour); got < 8*hour || got > 24*hour {
		t.Errorf("90 %% of jobs nearly like those start within %s, want 8h to 24h", got)
	}
	if got := ask(1, 2*hour); got != 0 {
		t.Errorf("90 %% of short jobs, of which nothing is recorded, start within %s, want 0 as simulated", got)
	}
	for hours := range 12 { // each asks for a class of its own
		for nodes := range 3 {
			ask(1<<nodes, time.Duration(1)<<hours*hour)
		}
	}
	if got := ask(2, 48*hour); got < 8*hour || got > 24*hour {
		t.Errorf("after many other shapes 90 %% start within %s, want 8h to 24h", got)
	}
	if n := live.Looks(); n > provisioner.MostLooks {
		t.Errorf("%d shapes are looked back at, want %d at most", n, provisioner.MostLooks)
	}
}
