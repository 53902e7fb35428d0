package infer

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/segue-project/segue"
)

// Limits are the limits on one user's jobs.
type Limits struct {
	MaxRunning Limit `json:"max_running"` // jobs
	MaxQueued  Limit `json:"max_queued"`  // jobs, queued and running together
	MaxNodes   Limit `json:"max_nodes"`   // nodes of running jobs
}

// ScopedLimits are the limits within one partition or QOS.
type ScopedLimits struct {
	Name string `json:"name"`
	Jobs int    `json:"jobs"`
	Limits
}

// Limit is a limit on each user, or the number that came closest to one.
//
// Two things speak for a limit. Of the users who came near it (to 60 % or more
// of it), more peaked at exactly this number than would if peaks fell anywhere
// between: Chance is the probability of that, by the binomial distribution. And
// nothing happened while a user stood at it with reason to go on: Expected is
// how much would have, at the rate seen below it.
type Limit struct {
	Found bool `json:"found"`
	Value int  `json:"value"`
	// UsersAt peaked at exactly Value, UsersNear at 60 % of it or more (up to
	// it). UsersPast stayed beyond it for over an hour in all, with jobs that each
	// keep to it (a job that alone is larger was let in by another rule); for
	// MaxQueued, they went beyond it at all. They are the evidence against.
	UsersAt   int     `json:"users_at"`
	UsersNear int     `json:"users_near"`
	UsersPast int     `json:"users_past"`
	Chance    float64 `json:"chance"`
	// HoursAt are the user-hours spent at the limit with another job pending
	// (for MaxQueued: simply spent there).
	HoursAt float64 `json:"hours_at"`
	// Expected is the number of starts (for MaxQueued: of submissions) that
	// those hours would have held without a limit, and Observed those they did.
	Expected float64 `json:"expected"`
	Observed int     `json:"observed"`
	// WaitingShare is the part of all jobs' waiting that passes while their user
	// is at the limit; 0 for MaxQueued.
	WaitingShare float64 `json:"waiting_share"`
}

// What makes a limit.
const (
	leastUsersAt   = 3
	mostPast       = 0.1 // of the users at or past it
	mostChance     = 1e-3
	leastExpected  = 5.0  // events, if the users' peaks leave no doubt
	doubtfulChance = 0.05 // peaks that leave some,
	leastSilence   = 50.0 // and the events missing that make up for it
	scopeLeastJobs = 100  // of a partition or QOS
)

// inferLimits infers the limits over the selected jobs.
func (h *history) inferLimits(selected selection) Limits {
	one := func(*segue.Job) int { return 1 }
	nodes := func(j *segue.Job) int { return int(j.Nodes) }
	running := h.inferRunning(selected, one, nil)
	return Limits{
		MaxRunning: running,
		MaxQueued:  h.inferQueued(selected),
		MaxNodes:   h.inferRunning(selected, nodes, &running),
	}
}

// inferScopes infers the limits within each value of a column that has several.
func (h *history) inferScopes(column func(*segue.Job) string) []ScopedLimits {
	counts := map[string]int{}
	for i := range h.jobs {
		counts[column(&h.jobs[i])]++
	}
	if len(counts) < 2 {
		return nil
	}
	var scopes []ScopedLimits
	for name, jobs := range counts {
		if name == "" || jobs < scopeLeastJobs {
			continue
		}
		within := func(j *segue.Job) bool { return column(j) == name }
		scopes = append(scopes, ScopedLimits{Name: name, Jobs: jobs, Limits: h.inferLimits(within)})
	}
	slices.SortFunc(scopes, func(a, b ScopedLimits) int { return cmp.Compare(a.Name, b.Name) })
	return scopes
}

// inferRunning infers the limit on what the running jobs of a user take
// together. Hours in which the limit other holds a user are not counted for
// this one.
func (h *history) inferRunning(selected selection, takes func(*segue.Job) int, other *Limit) Limit {
	sweeps := make([]*runningSweep, 0, len(h.users))
	var peaks []int
	for _, own := range h.users {
		s := h.newRunningSweep(own, selected, takes)
		sweeps = append(sweeps, s)
		peaks = append(peaks, s.peak)
	}
	l := candidate(peaks, func(limit int) int {
		past := 0
		for _, s := range sweeps {
			if s.passes(limit) {
				past++
			}
		}
		return past
	})
	otherLimit := math.MaxInt
	if other != nil && other.Found {
		otherLimit = other.Value
	}
	var below, at exposure
	for _, s := range sweeps {
		if s.peak <= l.Value { // those who pass it speak against it by their number
			s.expose(l.Value, otherLimit, &below, &at)
		}
	}
	l.WaitingShare = ratio(at.waiting, h.waiting)
	return l.judge(below, at)
}

// inferQueued infers the limit on the queued and running jobs of a user.
func (h *history) inferQueued(selected selection) Limit {
	changes := make([][]change, len(h.users))
	peaks := make([]int, len(h.users))
	for u, own := range h.users {
		for _, i := range own {
			until := h.leaves[i]
			if h.started[i] {
				until = h.ends(i)
			}
			if j := &h.jobs[i]; selected(j) && until > j.Submit {
				changes[u] = append(changes[u], change{j.Submit, 1, i}, change{until, -1, i})
			}
		}
		sortChanges(changes[u])
		peaks[u] = peak(changes[u])
	}
	l := candidate(peaks, func(limit int) int {
		past := 0
		for _, p := range peaks {
			if p > limit {
				past++
			}
		}
		return past
	})
	var below, at exposure
	for u := range changes {
		exposeQueued(changes[u], l.Value, &below, &at)
	}
	return l.judge(below, at)
}

func peak(changes []change) int {
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

// exposure is time in which something could have happened, how often it did, and
// how long jobs waited meanwhile.
type exposure struct {
	hours   float64
	events  int
	waiting float64 // hours
}

func (e exposure) perHour() float64 {
	return ratio(float64(e.events), e.hours)
}

// exposeQueued collects the submissions of a user near and at the limit.
func exposeQueued(changes []change, limit int, below, at *exposure) {
	now := 0
	for k, c := range changes {
		if k > 0 && c.at > changes[k-1].at && c.at != segue.Never {
			switch passed := c.at.Sub(changes[k-1].at).Hours(); {
			case now >= limit:
				at.hours += passed
			case now >= near(limit):
				below.hours += passed
			}
		}
		if c.by > 0 {
			switch {
			case now >= limit:
				at.events++
			case now >= near(limit):
				below.events++
			}
		}
		now += c.by
	}
}

// near returns the least peak that counts as near a limit.
func near(limit int) int {
	return max(1, min(limit-1, int(math.Ceil(0.6*float64(limit)))))
}

// candidate returns the number with most users peaking there that few pass,
// with what the peaks say for and against it; passing counts the users that pass
// a number.
func candidate(peaks []int, passing func(limit int) int) Limit {
	users := map[int]int{}
	for _, p := range peaks {
		if p > 0 {
			users[p]++
		}
	}
	var best Limit
	for _, v := range slices.Backward(slices.Sorted(maps.Keys(users))) {
		l := Limit{Value: v, UsersAt: users[v], UsersPast: passing(v)}
		if float64(l.UsersPast) > mostPast*float64(l.UsersPast+l.UsersAt) {
			continue
		}
		for p, n := range users {
			if near(v) <= p && p <= v {
				l.UsersNear += n
			}
		}
		l.Chance = binomialTail(l.UsersNear, l.UsersAt, 1/float64(v-near(v)+1))
		if best.Value == 0 || l.Chance < best.Chance {
			best = l
		}
	}
	return best
}

// judge adds what the exposures say and decides.
func (l Limit) judge(below, at exposure) Limit {
	l.HoursAt = at.hours
	l.Observed = at.events
	l.Expected = below.perHour() * l.HoursAt
	silent := float64(l.Observed) <= 0.1*l.Expected
	sure := l.Chance <= mostChance && l.Expected >= leastExpected
	likely := l.Chance <= doubtfulChance && l.Expected >= leastSilence
	if l.Value == 1 { // every user who ran anything peaked there: only silence can tell
		likely = l.Expected >= leastSilence
	}
	l.Found = l.UsersAt >= leastUsersAt && silent && (sure || likely)
	return l
}

// binomialTail returns P(X >= k) for X binomial with n trials of probability p.
func binomialTail(n, k int, p float64) float64 {
	if k <= 0 || p >= 1 {
		return 1
	}
	sum := 0.0
	for i := k; i <= n; i++ {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(1, sum)
}

func logChoose(n, k int) float64 {
	gamma := func(x int) float64 { v, _ := math.Lgamma(float64(x)); return v }
	return gamma(n+1) - gamma(k+1) - gamma(n-k+1)
}
