package trainer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/simulator"
)

// stress is a way in which the cluster of the test period differs from the one
// that the policies were tuned in. The forecasters are not told.
type stress struct {
	name, what string
	change     func(r Replay, test evaluation.Period) Replay
}

// stresses returns the stress runs on a replay. A cluster that has not more
// nodes than the pair keeps them all.
func (b *backtest) stresses(r Replay) []stress {
	list := stresses()
	if r.Cluster.Pools[0].Nodes-missingNodes(r) < b.Pair.Nodes {
		list = slices.DeleteFunc(list, func(s stress) bool { return s.name == fewerNodes })
	}
	return list
}

const fewerNodes = "fewer_nodes"

// stresses returns all stress runs.
func stresses() []stress {
	return []stress{
		{
			name: fewerNodes, what: "the cluster has 5 % fewer nodes than the forecasters believe",
			change: func(r Replay, _ evaluation.Period) Replay { return r.withFewerNodes() },
		},
		{
			name:   "hidden_priority",
			what:   "every user has a hidden priority, up to two days of age better or worse",
			change: func(r Replay, _ evaluation.Period) Replay { return r.withHiddenPriority(48*time.Hour, 1) },
		},
		{
			name:   "user_caps",
			what:   "no user runs more than 4 jobs at once, which the forecasters do not know",
			change: func(r Replay, _ evaluation.Period) Replay { return r.withRunningCap(4) },
		},
		{
			name:   "outage",
			what:   "every week a tenth of the nodes fail for two days",
			change: func(r Replay, test evaluation.Period) Replay { return r.withOutages(test, 0.1, 48*time.Hour) },
		},
	}
}

func (r Replay) withPool(pool simulator.Pool) Replay {
	r.Cluster.Pools = []simulator.Pool{pool}
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		r.Jobs[i].Nodes = min(r.Jobs[i].Nodes, int32(pool.Nodes))
	}
	r.Cluster.Outages = slices.Clone(r.Cluster.Outages)
	for i := range r.Cluster.Outages {
		r.Cluster.Outages[i].Nodes = min(r.Cluster.Outages[i].Nodes, pool.Nodes)
	}
	return r
}

// missingNodes returns how many nodes are missing under stress: 5 %.
func missingNodes(r Replay) int { return shareOf(r, 0.05) }

// shareOf returns a share of the cluster's nodes, one at least.
func shareOf(r Replay, share float64) int {
	return max(1, int(math.Round(share*float64(r.Cluster.Pools[0].Nodes))))
}

func (r Replay) withFewerNodes() Replay {
	pool := r.Cluster.Pools[0]
	pool.Nodes -= missingNodes(r)
	return r.withPool(pool)
}

// withHiddenPriority gives every user a nice value worth up to age, uniformly.
func (r Replay) withHiddenPriority(age time.Duration, seed uint64) Replay {
	m := simulator.Multifactor{Age: 7000, AgeUncapped: true}
	if r.Cluster.Order.Multifactor != nil {
		m = *r.Cluster.Order.Multifactor
	}
	r.Cluster.Order.Multifactor = &m
	maxAge := m.MaxAge
	if maxAge == 0 {
		maxAge = 7 * 24 * time.Hour
	}
	bound := m.Age * age.Hours() / maxAge.Hours()
	rng := rand.New(rand.NewPCG(seed, 0))
	var nice []int32
	r.Jobs = slices.Clone(r.Jobs)
	for i := range r.Jobs {
		for int(r.Jobs[i].User) >= len(nice) {
			nice = append(nice, int32(bound*(2*rng.Float64()-1)))
		}
		sum := int64(r.Jobs[i].Nice) + int64(nice[r.Jobs[i].User])
		r.Jobs[i].Nice = int32(min(max(sum, -maxNice), maxNice))
	}
	return r
}

// withRunningCap bounds every user's running jobs, unless they are bounded more
// tightly already.
func (r Replay) withRunningCap(jobs int) Replay {
	if limit := &r.Cluster.Limits.MaxRunningJobs; *limit == 0 || *limit > jobs {
		*limit = jobs
	}
	return r
}

// withOutages fails a share of the nodes for length, once a week of the period.
func (r Replay) withOutages(p evaluation.Period, share float64, length time.Duration) Replay {
	nodes := shareOf(r, share)
	r.Cluster.Outages = slices.Clone(r.Cluster.Outages)
	const week = 7 * 24 * time.Hour
	for at := p.From.Add(48 * time.Hour); at < p.To; at = at.Add(week) {
		r.Cluster.Outages = append(r.Cluster.Outages, simulator.Outage{From: at, Until: at.Add(length), Nodes: nodes})
	}
	return r
}

// describe returns the stable name and the sentence of a stress on a replay.
func (s stress) describe(r Replay) (name, what string) {
	return r.Name + "_" + s.name, fmt.Sprintf("on the %s replay, %s", r.Name, s.what)
}

// span returns the first and the last submission of a replay.
func (r Replay) span() evaluation.Period {
	p := evaluation.Period{From: segue.Never, To: segue.NoTime}
	for i := range r.Jobs {
		p.From, p.To = min(p.From, r.Jobs[i].Submit), max(p.To, r.Jobs[i].Submit)
	}
	return p
}
