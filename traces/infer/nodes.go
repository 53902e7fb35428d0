package infer

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/segue-project/segue"
)

// NodeDay is what a day tells about the nodes in service.
type NodeDay struct {
	Day segue.Time `json:"-"` // midnight, UTC
	// Date is the day as 2006-01-02.
	Date string `json:"date"`
	// Busiest is the most nodes that jobs ran on at one time: there were at least
	// as many, but for ends that were written down late.
	Busiest int `json:"busiest"`
	// CongestedHours is how long at least three jobs of one node had waited ten
	// minutes and more that their own users' jobs did not hold back.
	CongestedHours float64 `json:"congested_hours"`
	// InService estimates the nodes in service: the most that were busy for half
	// an hour altogether while the cluster was congested. 0 is no estimate, on
	// days with less than an hour of congestion.
	InService int `json:"in_service"`
}

const (
	congestedAfter = 10 * time.Minute // an eligible job of one node has waited
	leastWaiting   = 3                // such jobs: one alone may be held for a reason not seen here
	leastCongested = time.Hour        // of a day
	leastAtPeak    = 30 * time.Minute
	daySeconds     = 86400
)

// occupancy is the busy nodes over time, and by day.
type occupancy struct {
	busy stepFunction
	days map[int64]*dayOfNodes
}

// dayOfNodes is how long so many nodes were busy on a day, in all and while
// the cluster was congested.
type dayOfNodes struct {
	busiest   int
	all       map[int]time.Duration
	congested map[int]time.Duration
}

// newOccupancy counts the busy nodes. Jobs that share a node count one each.
// Without eligible times nothing counts as congested.
func (h *history) newOccupancy(eligible []segue.Time) *occupancy {
	changes := h.clusterChanges(eligible)
	o := &occupancy{days: map[int64]*dayOfNodes{}}
	busy, waiting := 0, 0
	for k, c := range changes {
		if c.busy {
			busy += c.by
		} else {
			waiting += c.by
		}
		if k+1 < len(changes) && changes[k+1].at == c.at {
			continue
		}
		o.busy.add(c.at, busy)
		if k+1 == len(changes) || changes[k+1].at == segue.Never {
			break
		}
		o.spread(c.at, changes[k+1].at, busy, waiting >= leastWaiting)
	}
	return o
}

// clusterChange is a step of the busy nodes, or of the jobs that congest.
type clusterChange struct {
	at   segue.Time
	by   int
	busy bool
}

func (h *history) clusterChanges(eligible []segue.Time) []clusterChange {
	var changes []clusterChange
	for i := range h.jobs {
		j := &h.jobs[i]
		if !h.started[i] {
			continue
		}
		changes = append(changes, clusterChange{j.Start, int(j.Nodes), true}, clusterChange{h.ends(i), -int(j.Nodes), true})
		if eligible == nil || j.Nodes > 1 {
			continue
		}
		if congests := eligible[i].Add(congestedAfter); congests < j.Start {
			changes = append(changes, clusterChange{congests, 1, false}, clusterChange{j.Start, -1, false})
		}
	}
	slices.SortFunc(changes, func(a, b clusterChange) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by))
	})
	return changes
}

// spread books the time from from to to on the days that it falls on.
func (o *occupancy) spread(from, to segue.Time, busy int, congested bool) {
	if busy == 0 && !congested {
		return
	}
	for from < to {
		day := dayOf(from)
		until := min(to, segue.Seconds((day+1)*daySeconds))
		d := o.days[day]
		if d == nil {
			d = &dayOfNodes{all: map[int]time.Duration{}, congested: map[int]time.Duration{}}
			o.days[day] = d
		}
		d.busiest = max(d.busiest, busy)
		d.all[busy] += until.Sub(from)
		if congested {
			d.congested[busy] += until.Sub(from)
		}
		from = until
	}
}

// dayOf returns the number of the day since the epoch.
func dayOf(t segue.Time) int64 {
	s := t.Unix()
	day := s / daySeconds
	if s%daySeconds < 0 {
		day--
	}
	return day
}

// hadRoom returns a question: had the cluster, at an instant, so many nodes
// idle, judged by the most that were busy for half an hour of any day within a
// week of it?
func (o *occupancy) hadRoom() func(at segue.Time, nodes int) bool {
	const week = 7
	most := map[int64]int{}
	for day, d := range o.days {
		n := sustained(d.all)
		for near := day - week; near <= day+week; near++ {
			most[near] = max(most[near], n)
		}
	}
	return func(at segue.Time, nodes int) bool { return o.busy.at(at)+nodes <= most[dayOf(at)] }
}

// sustained returns the most nodes that were busy for half an hour altogether,
// 0 if none were.
func sustained(times map[int]time.Duration) int {
	counts := make([]int, 0, len(times))
	for n := range times {
		counts = append(counts, n)
	}
	slices.Sort(counts)
	var atLeast time.Duration
	for _, n := range slices.Backward(counts) {
		if atLeast += times[n]; atLeast >= leastAtPeak {
			return n
		}
	}
	return 0
}

// perDay returns a row per day on which jobs ran or waited.
func (o *occupancy) perDay() []NodeDay {
	rows := make([]NodeDay, 0, len(o.days))
	for day, d := range o.days {
		rows = append(rows, d.row(segue.Seconds(day*daySeconds)))
	}
	slices.SortFunc(rows, func(a, b NodeDay) int { return cmp.Compare(a.Day, b.Day) })
	return rows
}

func (d *dayOfNodes) row(day segue.Time) NodeDay {
	var congested time.Duration
	for _, t := range d.congested {
		congested += t
	}
	r := NodeDay{
		Day:            day,
		Date:           day.Std().Format(time.DateOnly),
		Busiest:        d.busiest,
		CongestedHours: congested.Hours(),
	}
	if congested >= leastCongested {
		r.InService = sustained(d.congested)
	}
	return r
}

// stepFunction is a number over time: level[k] from times[k] until times[k+1],
// 0 before.
type stepFunction struct {
	times []segue.Time
	level []int
}

func (f *stepFunction) add(at segue.Time, level int) {
	f.times = append(f.times, at)
	f.level = append(f.level, level)
}

// at returns the level at an instant.
func (f *stepFunction) at(t segue.Time) int {
	k := sort.Search(len(f.times), func(k int) bool { return f.times[k] > t }) - 1
	if k < 0 {
		return 0
	}
	return f.level[k]
}

func (f *stepFunction) peak() int {
	most := 0
	for _, v := range f.level {
		most = max(most, v)
	}
	return most
}

// lastOver returns the end of the last stretch before the instant to, and after
// from, in which the level was over most; NoTime if there was none. A stretch
// that lasts until to ends there.
func (f *stepFunction) lastOver(most int, from, to segue.Time) segue.Time {
	next := to
	for k := sort.Search(len(f.times), func(k int) bool { return f.times[k] >= to }) - 1; k >= 0 && next > from; k-- {
		if f.level[k] > most {
			return next
		}
		next = f.times[k]
	}
	return segue.NoTime
}
