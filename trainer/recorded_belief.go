package trainer

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces/infer"
)

// belief is what forecasters think of a cluster during a day.
type belief struct {
	cluster simulator.Config
	// ordered is true when the recorded priorities order the queue.
	ordered bool
}

// beliefs returns one belief for every day of submissions: what the history had
// given away by the midnight before it, and nothing later.
func (c RecordedConfig) beliefs(ctx context.Context, days [][]Asked) ([]belief, error) {
	list := make([]belief, len(days))
	if c.Given {
		for k := range list {
			list[k].cluster = c.Cluster
		}
		return list, nil
	}
	err := inParallel(len(days), func() (func(int) error, error) {
		return func(k int) error {
			list[k] = c.believe(midnightBefore(days[k][0].At))
			return ctx.Err()
		}, nil
	})
	return list, err
}

// believe returns what the history gave away by an instant: the nodes in service
// on the last day, the limits on users, and the order of the queue.
func (c RecordedConfig) believe(at segue.Time) belief {
	known := predictor.Known(c.History, at)
	found := infer.Infer(known, infer.Config{})
	r := Replay{Cluster: c.Cluster}.withUserLimits(found).withOrder(nil, found)
	if days := serviceDays(found.Nodes, at); len(days) > 0 {
		pool := r.Cluster.Pools[0]
		pool.Nodes = max(days[len(days)-1].nodes, 1)
		r = r.withPool(pool)
	}
	return belief{cluster: r.Cluster, ordered: found.Order.Found}
}

// forecasters returns those whose forecasts are compared and described.
func (b belief) forecasters(monte predictor.MonteCarloConfig) ([]predictor.Forecaster, error) {
	list := []predictor.Forecaster{predictor.NewRecent(recentJobs), predictor.NewRecentUser(recentJobs), predictor.NewRecentShape(recentJobs)}
	for _, runs := range []predictor.RunTimes{predictor.Limits{}, predictor.LastTwo{}, &predictor.Learned{}} {
		f, err := predictor.NewForward(b.cluster, runs)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	mc, err := predictor.NewMonteCarlo(b.cluster, monte)
	if err != nil {
		return nil, err
	}
	return append(list, mc), nil
}

// recentJobs is how many waits the forecasts by recent waits are made of.
const recentJobs = 100

// show sets in a snapshot what is believed of it, and returns the request as it
// would be submitted: cut to the nodes in service, under the rule that lets it in.
func (b belief) show(snap *segue.Snapshot, req segue.Request, p *priorities) segue.Request {
	snap.Nodes = b.cluster.Pools[0].Nodes
	busy := 0
	for i := range snap.Running {
		busy += snap.Running[i].Nodes
		b.admit(&snap.Running[i].Request)
	}
	snap.Nodes = max(snap.Nodes, busy)
	own := p.of(req.User)
	for i := range snap.Pending {
		q := &snap.Pending[i]
		b.admit(&q.Request)
		if b.ordered {
			q.Priority = p.ofJob(q.ID, q.User) - own
		}
	}
	b.admit(&req)
	req.Nodes = min(req.Nodes, snap.Nodes)
	return req
}

func (b belief) admit(req *segue.Request) {
	if len(b.cluster.QOS) > 0 {
		req.QOS = b.cluster.QOS[qosFor(b.cluster, req.Nodes)].Name
	}
}

// priorities are those that the scheduler gave to the jobs submitted so far. A
// history records a job's priority as it was at the submission, before it has
// any age; a request that is not submitted yet will get what its user's last job
// got.
type priorities struct {
	order  []*segue.Job // by submission
	next   int
	jobs   map[segue.JobID]int64
	users  map[string]int64
	median int64
	all    []int64
	day    segue.Time // of the median
	now    segue.Time
}

func newPriorities(history []segue.Job) priorities {
	p := priorities{jobs: map[segue.JobID]int64{}, users: map[string]int64{}, day: segue.NoTime}
	for i := range history {
		if j := &history[i]; j.Submit.Known() && j.Priority > 0 {
			p.order = append(p.order, j)
		}
	}
	slices.SortStableFunc(p.order, func(a, b *segue.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return p
}

// until learns the priorities of the jobs submitted before an instant. The
// median is renewed once a day.
func (p *priorities) until(at segue.Time) {
	p.now = at
	for ; p.next < len(p.order) && p.order[p.next].Submit < at; p.next++ {
		j := p.order[p.next]
		p.jobs[j.ID], p.users[j.User] = j.Priority, j.Priority
		p.all = append(p.all, j.Priority)
	}
	if today := midnightBefore(at); today != p.day && len(p.all) > 0 {
		p.day = today
		sorted := slices.Sorted(slices.Values(p.all))
		p.median = sorted[len(sorted)/2]
	}
}

// of returns what a request of the user would get.
func (p *priorities) of(user string) int64 {
	if v, known := p.users[user]; known {
		return v
	}
	return p.median
}

func (p *priorities) ofJob(id segue.JobID, user string) int64 {
	if v, known := p.jobs[id]; known {
		return v
	}
	return p.of(user)
}

// standingNames are the features of a request's place in the queue.
var standingNames = []string{"standing.priority", "standing.before_jobs_log", "standing.before_work"}

// standing appends how the priority that the request would get compares with the
// typical one, and what waits before it. NaN where priorities are not known.
func (b belief) standing(pending []segue.QueuedJob, p *priorities, req segue.Request, out []float32) []float32 {
	nan := float32(math.NaN())
	if !b.ordered {
		return append(out, nan, nan, nan)
	}
	jobs, work := 0.0, 0.0
	perHour := b.cluster.Order.Multifactor.Age / b.cluster.Order.Multifactor.MaxAge.Hours()
	for i := range pending {
		q := &pending[i]
		if float64(q.Priority)+perHour*p.now.Sub(q.Submit).Hours() > 0 {
			jobs++
			work += float64(q.Nodes) * min(q.Limit.Hours(), longestHours)
		}
	}
	return append(out, float32(p.of(req.User)-p.median), float32(math.Log1p(jobs)), float32(work/float64(b.cluster.Pools[0].Nodes)))
}
