package infer_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// scenario is a small cluster with known rules, for histories whose truth is
// known: first come, first served with EASY backfill.
type scenario struct {
	seed     uint64
	count    int     // of jobs, default 3000
	users    int     // default 40
	nodes    int     // default 30
	load     float64 // default 1.1
	strict   bool    // no backfill
	cap      int     // running jobs of a user; 0: none
	queueCap int     // queued and running jobs of a user; 0: none
	chains   int     // one user in so many hands in chains of four jobs; 0: none
	numbered bool    // the links' names count on
}

// truth is the history of a scenario, and what each job had to wait for.
type truth struct {
	jobs  []segue.Job
	after []int // by job: the one it depends on, or -1
}

type task struct {
	job     int
	run     time.Duration
	started bool
}

// history makes the jobs up and schedules them.
func (s scenario) history() truth {
	s.users, s.nodes = cmp.Or(s.users, 40), cmp.Or(s.nodes, 30)
	s.load, s.count = cmp.Or(s.load, 1.1), cmp.Or(s.count, 3000)
	rng := rand.New(rand.NewPCG(s.seed, 1))
	var t truth
	var runs []time.Duration
	at := segue.Seconds(1_700_000_000)
	// A job takes 1.75 nodes for e^0.5 hours in the mean, a sitting has 2.5 jobs.
	gap := time.Duration(2.5 * 1.75 * math.Exp(0.5) / s.load / float64(s.nodes) * float64(time.Hour))
	for len(t.jobs) < s.count {
		at = at.Add(time.Duration(rng.ExpFloat64() * float64(gap)))
		user := int(float64(s.users) * math.Pow(rng.Float64(), 2))
		linked := s.chains > 0 && user%s.chains == 0
		size := []int32{1, 1, 2, 3}[rng.IntN(4)]
		batch := 1 + rng.IntN(4)
		for k := range batch {
			run := time.Duration(math.Exp(rng.NormFloat64()) * float64(time.Hour)).Truncate(time.Second)
			name := "job"
			after := -1
			if linked && s.numbered {
				name = fmt.Sprintf("sim%d.%d", len(t.jobs)-k, k+1)
			}
			if linked && k > 0 {
				after = len(t.jobs) - 1
			}
			t.after = append(t.after, after)
			t.jobs = append(t.jobs, segue.Job{
				ID: segue.JobID{Number: int64(1000 + len(t.jobs))}, Name: name, User: fmt.Sprintf("u%d", user),
				Submit: segue.Seconds(at.Unix() + int64(k)), Start: segue.NoTime, End: segue.NoTime, Eligible: segue.NoTime,
				Limit: min(2*run+time.Hour, 24*time.Hour).Truncate(time.Hour), Nodes: size, State: segue.Completed,
			})
			runs = append(runs, min(max(run, time.Minute), t.jobs[len(t.jobs)-1].Limit))
		}
	}
	s.schedule(&t, runs, rng)
	return t
}

// schedule gives every job its start and end.
func (s scenario) schedule(t *truth, runs []time.Duration, rng *rand.Rand) {
	c := machine{scenario: s, truth: t, rng: rng, idle: s.nodes, running: map[string]int{}, present: map[string]int{}, refused: make([]bool, len(t.jobs))}
	order := make([]int, len(t.jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.jobs[a].Submit, t.jobs[b].Submit) })
	for _, i := range order {
		c.until(t.jobs[i].Submit)
		if u := t.jobs[i].User; s.queueCap > 0 && c.present[u] >= s.queueCap {
			c.refused[i] = true
			continue
		}
		c.present[t.jobs[i].User]++
		c.queue = append(c.queue, &task{job: i, run: runs[i]})
		c.pass()
	}
	c.until(segue.Never)
	*t = t.without(c.refused)
}

// without returns the history less the refused jobs.
func (t truth) without(refused []bool) truth {
	var kept truth
	place := make([]int, len(t.jobs))
	for i, j := range t.jobs {
		place[i] = -1
		if refused[i] {
			continue
		}
		place[i] = len(kept.jobs)
		after := t.after[i]
		if after >= 0 {
			after = place[after]
		}
		kept.jobs = append(kept.jobs, j)
		kept.after = append(kept.after, after)
	}
	return kept
}

// machine is the state of the schedule.
type machine struct {
	scenario
	*truth
	rng              *rand.Rand
	now              segue.Time
	idle             int
	running, present map[string]int // jobs of each user; present: queued and running
	refused          []bool         // by job: over the limit on queued jobs, leaves no row
	queue            []*task
	events           []event // in order of time
	occupied         []event // nodes and when limits free them, in order
}

type event struct {
	at    segue.Time
	job   int
	clean bool // nodes are free, not only the job over
	nodes int
}

func insert(events []event, e event) []event {
	i, _ := slices.BinarySearchFunc(events, e, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job), -1)
	})
	return slices.Insert(events, i, e)
}

// until lets everything happen before the instant t.
func (m *machine) until(t segue.Time) {
	for len(m.events) > 0 && m.events[0].at < t {
		m.now = m.events[0].at
		for len(m.events) > 0 && m.events[0].at == m.now {
			m.happen(m.events[0])
			m.events = m.events[1:]
		}
		m.pass()
	}
	m.now = t
}

func (m *machine) happen(e event) {
	j := &m.jobs[e.job]
	if e.clean {
		m.idle += int(j.Nodes)
		m.occupied = slices.DeleteFunc(m.occupied, func(o event) bool { return o.job == e.job })
		return
	}
	m.running[j.User]--
	m.present[j.User]--
	m.events = insert(m.events, event{at: e.at.Add(time.Duration(15+m.rng.IntN(30)) * time.Second), job: e.job, clean: true})
}

func (m *machine) pass() {
	blocked := false
	shadow, spare := segue.Never, 0
	for _, t := range m.queue {
		j := &m.jobs[t.job]
		if m.depends(t.job) || (m.cap > 0 && m.running[j.User] >= m.cap) {
			continue
		}
		fits := int(j.Nodes) <= m.idle
		switch {
		case !blocked && !fits:
			blocked = true
			shadow, spare = m.reserve(int(j.Nodes))
			continue
		case !fits || (blocked && m.strict):
			continue
		case blocked && m.now.Add(j.Limit) > shadow:
			if int(j.Nodes) > spare {
				continue
			}
			spare -= int(j.Nodes)
		}
		m.start(t)
	}
	m.queue = slices.DeleteFunc(m.queue, func(t *task) bool { return t.started })
}

// depends reports whether the job has to wait for another one to end.
func (m *machine) depends(job int) bool {
	after := m.after[job]
	if after < 0 || m.refused[after] {
		return false
	}
	end := m.jobs[after].End
	return !end.Known() || end > m.now
}

// reserve returns when limits promise so many nodes, and how many are left over
// then.
func (m *machine) reserve(nodes int) (segue.Time, int) {
	free := m.idle
	for _, o := range m.occupied {
		if free += o.nodes; free >= nodes {
			return o.at, free - nodes
		}
	}
	return segue.Never, 0
}

func (m *machine) start(t *task) {
	t.started = true
	j := &m.jobs[t.job]
	j.Start, j.End = m.now, m.now.Add(t.run)
	m.idle -= int(j.Nodes)
	m.running[j.User]++
	m.events = insert(m.events, event{at: j.End, job: t.job})
	m.occupied = insert(m.occupied, event{at: m.now.Add(j.Limit), job: t.job, nodes: int(j.Nodes)})
}
