package simulator

import (
	"slices"

	"github.com/segue-project/segue"
)

// Sim is the state of a simulated cluster at one instant. It is not safe for
// concurrent use; a fork shares only what never changes, so forks of one Sim
// may be used by different goroutines once made.
type Sim struct {
	conf  *conf
	table *table
	runs  []int64 // when not nil, run times in place of the table's

	now      int64
	pools    []pool
	ends     endHeap
	arrived  int        // how many of table.order have arrived
	cut      bool       // no further arrivals from the table
	extra    []injected // jobs that Submit added, after those of table
	inject   []arrival  // their submissions to come, by time
	releases []arrival  // submitted jobs whose moment is known, by time
	held     []heldJob  // submitted jobs that wait for others, by submission
	gone     []departure
	chained  bool       // a job of extra depends on one of the table
	cleaning []cleaning // by the instant at which they are idle
	deferred []Ref      // over MaxSubmittedJobs, by submission
	drains   []drain
	users    userCounts
	usage    usage
	outage   int   // next of conf.outages
	cancel   int   // next of table.cancels
	calcAt   int64 // when priorities are computed anew
	passAt   int64 // when the next scheduling pass is due; never if nothing changed
	inPass   bool  // a pass walks the queues: they must not grow

	record   *record // of the table's jobs; nil in forks
	observer Observer
	scratch  scratch
}

// arrival is a job that comes to the queue, or to the cluster, at an instant.
type arrival struct {
	at  int64
	ref Ref
}

// scratch holds buffers that one pass uses; forks have their own.
type scratch struct {
	plan      plan
	started   []cursor
	reserved  []Ref // jobs with a reservation in this pass
	userTests []int32
	slots     []int32 // the nodes of a job on shared nodes
	room      room
	hope      hope
}

// New returns a simulation of jobs on the cluster cfg, at the first submission.
// The error is segue.Invalid and names the field or the job.
func New(cfg Config, jobs []Job) (*Sim, error) {
	c, err := newConf(cfg)
	if err != nil {
		return nil, err
	}
	t, err := newTable(c, jobs)
	if err != nil {
		return nil, err
	}
	s := &Sim{conf: c, table: t, record: newRecord(len(jobs)), passAt: never, calcAt: never}
	sharing := c.sharingPools(t.jobs)
	for i := range c.Pools {
		s.pools = append(s.pools, c.newPool(i, sharing[i]))
	}
	s.users.grow(c, t.users)
	if len(t.order) > 0 {
		s.now = t.jobs[t.order[0]].submit
	}
	if len(c.outages) > 0 {
		s.now = min(s.now, c.outages[0].at)
	}
	s.usage, err = newUsage(c, t.users, s.now)
	return s, err
}

// Now returns the simulation's clock.
func (s *Sim) Now() segue.Time { return segue.Time(s.now) }

// Run lets everything happen until no event is left.
func (s *Sim) Run() { s.AdvanceTo(segue.Never) }

// AdvanceTo lets everything happen that happens before t and sets the clock to
// t; what happens at t itself is still to come. A t in the past does nothing;
// Never is Run, which leaves the clock at the last event.
func (s *Sim) AdvanceTo(t segue.Time) {
	for next := s.nextInstant(); next < int64(t); next = s.nextInstant() {
		s.instant(next)
	}
	s.setClock(int64(t))
}

// setClock moves the clock to t, unless that is in the past or Never.
func (s *Sim) setClock(t int64) {
	if t <= horizon {
		s.now = max(s.now, t)
	}
}

// Step lets the next instant's events happen and returns its time, or false
// when none is left.
func (s *Sim) Step() (segue.Time, bool) {
	t := s.nextInstant()
	if t == never {
		return segue.Never, false
	}
	s.instant(t)
	return segue.Time(t), true
}

// RunUntilStarted runs until the job given to Submit starts, and returns when;
// false if it has not before the instant until, where the clock is then.
func (s *Sim) RunUntilStarted(ref Ref, until segue.Time) (segue.Time, bool) {
	for {
		if start := s.StartOf(ref); start.Known() {
			return start, true
		}
		t := s.nextInstant()
		if t >= int64(until) {
			s.setClock(int64(until))
			return segue.Never, false
		}
		s.instant(t)
	}
}

// nextInstant returns the time of the next event or due pass.
func (s *Sim) nextInstant() int64 { return min(s.nextEvent(), s.passAt, s.calcAt) }

// nextEvent returns when something happens next that is not the scheduler's
// own doing.
func (s *Sim) nextEvent() int64 {
	t := never
	if len(s.ends) > 0 {
		t = s.ends[0].end
	}
	if len(s.cleaning) > 0 {
		t = min(t, s.cleaning[0].at)
	}
	if !s.cut && s.arrived < len(s.table.order) {
		t = min(t, s.table.jobs[s.table.order[s.arrived]].submit)
	}
	if len(s.inject) > 0 {
		t = min(t, s.inject[0].at)
	}
	if len(s.releases) > 0 {
		t = min(t, s.releases[0].at)
	}
	if s.outage < len(s.conf.outages) {
		t = min(t, s.conf.outages[s.outage].at)
	}
	if s.cancel < len(s.table.cancels) {
		t = min(t, s.table.cancels[s.cancel].at)
	}
	return t
}

// instant sets the clock to t and lets everything happen that is due.
func (s *Sim) instant(t int64) {
	s.now = t
	if s.conf.Events == PerEvent {
		s.oneEvent()
	} else {
		for len(s.ends) > 0 && s.ends[0].end <= t {
			s.finish(s.ends.pop())
		}
		for len(s.cleaning) > 0 && s.cleaning[0].at <= t {
			s.cleaned()
		}
		s.rareEvents()
		for s.arriveNext() {
		}
	}
	s.passes()
}

// oneEvent lets a single event happen: submissions come before ends.
func (s *Sim) oneEvent() {
	switch {
	case s.arriveNext():
	case len(s.ends) > 0 && s.ends[0].end <= s.now:
		s.finish(s.ends.pop())
	default:
		s.rareEvents()
	}
}

// arriveNext takes one submission, if one is due.
func (s *Sim) arriveNext() bool {
	if len(s.inject) > 0 && s.inject[0].at <= s.now {
		ref := s.inject[0].ref
		s.inject = append(s.inject[:0], s.inject[1:]...)
		s.arrive(ref)
		return true
	}
	if s.cut || s.arrived == len(s.table.order) {
		return false
	}
	ref := s.table.order[s.arrived]
	if s.table.jobs[ref].submit > s.now {
		return false
	}
	s.arrived++
	s.arrive(ref)
	return true
}

// rareEvents lets happen what most workloads have none of.
func (s *Sim) rareEvents() {
	for s.outage < len(s.conf.outages) && s.conf.outages[s.outage].at <= s.now {
		s.outage++
		s.applyOutage(s.conf.outages[s.outage-1])
	}
	for len(s.releases) > 0 && s.releases[0].at <= s.now {
		ref := s.releases[0].ref
		s.releases = append(s.releases[:0], s.releases[1:]...)
		s.enqueue(ref, s.now)
	}
	for s.cancel < len(s.table.cancels) && s.table.cancels[s.cancel].at <= s.now {
		s.cancel++
		s.cancelWaiting(s.table.cancels[s.cancel-1].ref)
	}
	if s.calcAt <= s.now {
		s.reprioritise()
	}
}

func (s *Sim) job(ref Ref) *job {
	if int(ref) < len(s.table.jobs) {
		return &s.table.jobs[ref]
	}
	return &s.extra[int(ref)-len(s.table.jobs)].job
}

// rare returns what few jobs have; only for a job with one of the isRare flags.
func (s *Sim) rare(ref Ref) *Job {
	if int(ref) < len(s.table.jobs) {
		return s.table.rare[ref]
	}
	return s.extra[int(ref)-len(s.table.jobs)].rare
}

// runOf returns how long the job runs once started.
func (s *Sim) runOf(ref Ref, j *job) int64 {
	if int(ref) < len(s.runs) {
		return min(s.runs[ref], j.limit)
	}
	return j.run
}

func (s *Sim) poolOf(j *job) *pool { return &s.pools[s.conf.Partitions[j.part].Pool] }

func insertArrival(q []arrival, a arrival) []arrival {
	i := len(q)
	for i > 0 && q[i-1].at > a.at {
		i--
	}
	return slices.Insert(q, i, a)
}
