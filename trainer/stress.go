package trainer

import (
	"fmt"
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

// stresses returns the stress runs, milder first.
func stresses() []stress {
	return []stress{
		{
			name: "fewer_nodes", what: "the cluster has 5 % fewer nodes than the forecasters believe",
			change: func(r Replay, _ evaluation.Period) Replay { return r.withFewerNodes(0.05) },
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
	return r
}

func (r Replay) withFewerNodes(share float64) Replay {
	pool := r.Cluster.Pools[0]
	pool.Nodes -= max(1, int(share*float64(pool.Nodes)+0.5))
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
		r.Jobs[i].Nice = nice[r.Jobs[i].User]
	}
	return r
}

func (r Replay) withRunningCap(jobs int) Replay {
	r.Cluster.Limits.MaxRunningJobs = jobs
	return r
}

// withOutages fails a share of the nodes for length, once a week of the period.
func (r Replay) withOutages(p evaluation.Period, share float64, length time.Duration) Replay {
	nodes := max(1, int(share*float64(r.Cluster.Pools[0].Nodes)+0.5))
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
