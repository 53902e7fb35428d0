package trainer

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/simulator"
)

// Leftover says where the faithful replay and the recorded waits still differ,
// over the jobs that their own users' jobs did not hold back.
type Leftover struct {
	// Users, Months and Sizes hold the parts of the squared error, largest first
	// for users (at most ten).
	Users  []Part `json:"users"`
	Months []Part `json:"months"`
	Sizes  []Part `json:"sizes"`
	// Worst are the jobs with the largest errors, at most twenty.
	Worst []WorstJob `json:"worst_jobs"`
	// Idle compares how many nodes idled while jobs waited.
	Idle []IdleMonth `json:"idle_while_jobs_wait"`
	// WithoutUsers is the agreement without the three users of the largest parts.
	WithoutUsers Agreement `json:"without_three_users"`
}

// Part is a part of the squared error of all jobs that count.
type Part struct {
	Name  string            `json:"name"`
	Jobs  int               `json:"jobs"`
	Share evaluation.Number `json:"share"`
}

// WorstJob is a job whose wait is far from the simulated one, in hours.
type WorstJob struct {
	ID        string            `json:"id"`
	User      string            `json:"user"`
	Submit    string            `json:"submit"`
	Nodes     int32             `json:"nodes"`
	Recorded  evaluation.Number `json:"recorded_hours"`
	Simulated evaluation.Number `json:"simulated_hours"`
	Share     evaluation.Number `json:"share"`
}

// IdleMonth compares, over the hours of a month in which at least three jobs of
// one node waited that could have run, the nodes in service that idled.
type IdleMonth struct {
	Month         string            `json:"month"`
	RecordedHours evaluation.Number `json:"recorded_hours"`
	RecordedIdle  evaluation.Number `json:"recorded_idle_nodes"` // in the mean
	SimulatedHour evaluation.Number `json:"simulated_hours"`
	SimulatedIdle evaluation.Number `json:"simulated_idle_nodes"`
}

func (s *study) leftover(r Replay, starts []segue.Time) Leftover {
	type errorOf struct {
		job int
		sq  float64
	}
	var errs []errorOf
	total := 0.0
	for i := range s.History {
		if s.counts(i) && s.free(i) && starts[i].Known() {
			d := s.History[i].Start.Sub(starts[i]).Hours()
			errs = append(errs, errorOf{i, d * d})
			total += d * d
		}
	}
	parts := func(name func(j *segue.Job) string) []Part {
		all := map[string]Part{}
		for _, e := range errs {
			n := name(&s.History[e.job])
			p := all[n]
			all[n] = Part{n, p.Jobs + 1, p.Share + evaluation.Number(e.sq/total)}
		}
		return slices.SortedFunc(maps.Values(all), func(a, b Part) int { return cmp.Compare(a.Name, b.Name) })
	}
	l := Leftover{
		Users:  parts(func(j *segue.Job) string { return j.User }),
		Months: parts(func(j *segue.Job) string { return monthOf(j.Submit) }),
		Sizes:  parts(sizeClass),
		Idle:   s.idle(r, starts),
	}
	slices.SortStableFunc(l.Users, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	l.Users = l.Users[:min(len(l.Users), 10)]
	l.WithoutUsers = s.agree(starts, func(i int) bool {
		worst := l.Users[:min(len(l.Users), 3)]
		return s.free(i) && !slices.ContainsFunc(worst, func(p Part) bool { return p.Name == s.History[i].User })
	})
	slices.SortStableFunc(errs, func(a, b errorOf) int { return cmp.Compare(b.sq, a.sq) })
	for _, e := range errs[:min(len(errs), 20)] {
		j := &s.History[e.job]
		l.Worst = append(l.Worst, WorstJob{
			ID: j.ID.String(), User: j.User, Submit: j.Submit.String(), Nodes: j.Nodes, Recorded: evaluation.Number(j.Wait().Hours()),
			Simulated: evaluation.Number(starts[e.job].Sub(j.Submit).Hours()), Share: evaluation.Number(e.sq / total),
		})
	}
	return l
}

func sizeClass(j *segue.Job) string {
	switch {
	case j.Nodes <= 1:
		return "1 node"
	case j.Nodes <= 4:
		return "2 to 4 nodes"
	}
	return "5 nodes and more"
}

// idle compares the idle nodes of the two schedules.
func (s *study) idle(r Replay, starts []segue.Time) []IdleMonth {
	recorded, simulated := newOccupancy(), newOccupancy()
	for i := range s.History {
		j := &s.History[i]
		if !s.counts(i) || !starts[i].Known() {
			continue
		}
		recorded.add(j.Nodes, s.found.Eligible[i], j.Start, j.End)
		eligible := j.Submit
		if !s.free(i) { // it may not have been: leave it out of those that wait
			eligible = starts[i]
		}
		simulated.add(j.Nodes, eligible, starts[i], starts[i].Add(r.Jobs[i].Run))
	}
	inService := func(t segue.Time) int { return nodesAt(r.Cluster, t) }
	last := lastSubmit(s.History)
	rec, sim := recorded.idle(inService, last), simulated.idle(inService, last)
	var months []IdleMonth
	for _, month := range slices.Sorted(maps.Keys(rec)) {
		a, b := rec[month], sim[month]
		months = append(months, IdleMonth{month, a.hours(), a.mean(), b.hours(), b.mean()})
	}
	return months
}

// nodesAt returns the nodes in service at an instant, which no job changes.
func nodesAt(c simulator.Config, t segue.Time) int {
	nodes := c.Pools[0].Nodes
	for _, o := range c.Outages {
		if o.From <= t && t < o.Until {
			nodes -= o.Nodes
		}
	}
	return nodes
}

// occupancy is the busy nodes and the waiting jobs of one node over time.
type occupancy struct{ changes []occupied }

type occupied struct {
	at            segue.Time
	busy, waiting int32
}

const (
	idleWaited  = 10 * time.Minute // from then on a job counts as waiting
	idleWaiting = 3                // such jobs
)

func newOccupancy() *occupancy { return &occupancy{} }

func (o *occupancy) add(nodes int32, eligible, start, end segue.Time) {
	o.changes = append(o.changes, occupied{start, nodes, 0}, occupied{end, -nodes, 0})
	if waits := eligible.Add(idleWaited); nodes == 1 && waits < start {
		o.changes = append(o.changes, occupied{waits, 0, 1}, occupied{start, 0, -1})
	}
}

// idleTime is time in which jobs waited, and the node hours that idled in it.
type idleTime struct{ waited, idled float64 }

func (t idleTime) hours() evaluation.Number { return evaluation.Number(t.waited) }
func (t idleTime) mean() evaluation.Number  { return evaluation.Number(t.idled / t.waited) }

// idle returns the idle time by month up to the instant until.
func (o *occupancy) idle(inService func(segue.Time) int, until segue.Time) map[string]idleTime {
	slices.SortFunc(o.changes, func(a, b occupied) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.busy, b.busy)) })
	months := map[string]idleTime{}
	busy, waiting := int32(0), int32(0)
	for k, c := range o.changes {
		busy += c.busy
		waiting += c.waiting
		if k+1 == len(o.changes) || c.at >= until {
			break
		}
		if waiting < idleWaiting {
			continue
		}
		span := o.changes[k+1].at.Sub(c.at).Hours()
		t := months[monthOf(c.at)]
		t.waited += span
		t.idled += span * float64(max(0, inService(c.at)-int(busy)))
		months[monthOf(c.at)] = t
	}
	return months
}
