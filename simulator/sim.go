package simulator

import (
	"time"

	"github.com/segue-project/segue"
)

// Sim is the state of a simulated cluster at one instant. It is not safe for
// concurrent use; a fork shares only what never changes, so forks of one Sim
// may be used by different goroutines once made.
type Sim struct {
	conf  *conf
	table *table
	extra []injected // jobs that Submit added, after those of table
	runs  []int64    // when not nil, run times in place of the table's

	now      int64
	pools    []pool
	ends     endHeap
	arrived  int       // how many of table.order have arrived
	inject   []arrival // submissions of extra jobs to come, by time
	cut      bool      // no further arrivals from the table
	releases []arrival // held jobs whose moment is known, by time
	held     []heldJob
	deferred []Ref // over MaxSubmittedJobs
	users    userCounts
	usage    usage
	outage   int // next of conf.outages
	cancel   int // next of table.cancels
	calcAt   int64
	passAt   int64 // when the next scheduling pass is due; never if nothing changed

	// What happened; nil in forks.
	starts, finishes []int64
	attempts         []Attempt
	keepsRecord      bool

	observer Observer
	watch    Ref // RunUntilStarted stops when it starts
	watched  bool

	inPass bool // a pass walks the queues: they must not grow

	scratch scratch
}

// injected is a job that Submit added, and what became of it.
type injected struct {
	job
	start, end int64
}

type arrival struct {
	at  int64
	ref Ref
}

// scratch holds buffers that one pass uses; forks have their own.
type scratch struct {
	profile   profile
	userTests []int32
	plan      sharedPlan
	reserved  []Ref   // jobs with a reservation in this pass
	slots     []int32 // where the next job on shared nodes starts; empty: chosen by best fit
}

// New returns a simulation of jobs on the cluster cfg, at the first submission.
// The error is segue.Invalid and names the field or the job.
func New(cfg Config, jobs []Job) (*Sim, error) {
	c, err := newConf(cfg, jobs)
	if err != nil {
		return nil, err
	}
	t, err := newTable(c, jobs)
	if err != nil {
		return nil, err
	}
	s := &Sim{conf: c, table: t, keepsRecord: true, passAt: never, calcAt: never}
	s.starts, s.finishes = unknownTimes(len(jobs)), unknownTimes(len(jobs))
	s.pools = make([]pool, len(c.Pools))
	for i := range s.pools {
		n := int32(c.Pools[i].Nodes)
		s.pools[i] = pool{total: n, free: n, gpus: int32(c.Pools[i].GPUsPerNode), mainAt: never, backfillAt: never, index: int32(i)}
	}
	s.users.grow(c, c.users)
	if len(t.order) > 0 {
		s.now = t.jobs[t.order[0]].submit
	}
	if len(c.outages) > 0 {
		s.now = min(s.now, c.outages[0].at)
	}
	s.usage, err = newUsage(c, s.now)
	return s, err
}

func unknownTimes(n int) []int64 {
	t := make([]int64, n)
	for i := range t {
		t[i] = int64(segue.NoTime)
	}
	return t
}

// Now returns the simulation's clock.
func (s *Sim) Now() segue.Time { return segue.Time(s.now) }

// Run lets everything happen until no event is left.
func (s *Sim) Run() { s.advance(never) }

// AdvanceTo lets everything happen that happens before t and sets the clock to
// t; what happens at t itself is still to come. A t in the past does nothing.
func (s *Sim) AdvanceTo(t segue.Time) {
	s.advance(int64(t))
	s.now = max(s.now, int64(t))
}

// Step lets the next instant's events happen and returns its time, or false
// when none is left.
func (s *Sim) Step() (segue.Time, bool) {
	t := s.nextInstant()
	if t == never {
		return segue.Never, false
	}
	s.now = t
	s.instant()
	return segue.Time(t), true
}

// StopArrivals makes the jobs that have not been submitted yet never arrive,
// as in a forecast that does not know them. Jobs given to Submit still do.
func (s *Sim) StopArrivals() { s.cut = true }

// Submit adds a job that is submitted at j.Submit, or now if that is in the
// past. It must name a partition, QOS and shape that the cluster has; it may
// depend on any earlier job.
func (s *Sim) Submit(j Job) (Ref, error) {
	if int64(j.Submit) < s.now {
		j.Submit = segue.Time(s.now)
	}
	ref := Ref(len(s.table.jobs) + len(s.extra))
	if err := s.conf.check(&j, int(ref)); err != nil {
		return 0, segue.Errorf(segue.Invalid, "submit: %w", err)
	}
	k := compile(&j)
	if k.flags&(hasAfter|hasSingleton|hasBegin|hasCancel) != 0 || j.Nice != 0 {
		if err := s.submitHeld(ref, &j); err != nil {
			return 0, err
		}
	}
	s.users.grow(s.conf, int(j.User)+1)
	s.extra = append(s.extra, injected{job: k, start: int64(segue.NoTime), end: int64(segue.NoTime)})
	s.inject = insertArrival(s.inject, arrival{k.submit, ref})
	return ref, nil
}

// StartOf returns when the job started, NoTime if it has not. In a fork it
// knows the jobs given to Submit only.
func (s *Sim) StartOf(ref Ref) segue.Time { return segue.Time(s.outcome(ref, s.starts, true)) }

// EndOf returns when the job ended, NoTime if it has not, as StartOf.
func (s *Sim) EndOf(ref Ref) segue.Time { return segue.Time(s.outcome(ref, s.finishes, false)) }

func (s *Sim) outcome(ref Ref, record []int64, start bool) int64 {
	if i := int(ref) - len(s.table.jobs); i >= 0 {
		if start {
			return s.extra[i].start
		}
		return s.extra[i].end
	}
	if record == nil {
		return int64(segue.NoTime)
	}
	return record[ref]
}

// RunUntilStarted runs until the job given to Submit starts, and returns when;
// false if it has not by the instant until.
func (s *Sim) RunUntilStarted(ref Ref, until segue.Time) (segue.Time, bool) {
	s.watch, s.watched = ref, false
	for {
		if s.watched || s.StartOf(ref).Known() {
			return s.StartOf(ref), true
		}
		t := s.nextInstant()
		if t >= int64(until) {
			s.now = max(s.now, min(t, int64(until)))
			return segue.Never, false
		}
		s.now = t
		s.instant()
	}
}

// advance processes every instant before until.
func (s *Sim) advance(until int64) {
	for {
		t := s.nextInstant()
		if t >= until {
			return
		}
		s.now = t
		s.instant()
	}
}

// nextInstant returns the time of the next event or due pass.
func (s *Sim) nextInstant() int64 {
	t := s.passAt
	if len(s.ends) > 0 {
		t = min(t, s.ends[0].end)
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
	if s.conf.dynamic {
		t = min(t, s.calcAt)
	}
	return t
}

// instant processes everything at the clock's instant.
func (s *Sim) instant() {
	if s.conf.Events == PerEvent {
		s.oneEvent()
		return
	}
	for len(s.ends) > 0 && s.ends[0].end == s.now {
		s.finish(s.ends.pop())
	}
	s.rareEvents()
	for len(s.inject) > 0 && s.inject[0].at == s.now {
		s.inject = s.arriveInjected()
	}
	for !s.cut && s.arrived < len(s.table.order) && s.table.jobs[s.table.order[s.arrived]].submit == s.now {
		s.arrived++
		s.arrive(s.table.order[s.arrived-1])
	}
	s.passes()
}

// oneEvent processes a single event and makes a pass: submissions come before
// ends.
func (s *Sim) oneEvent() {
	switch {
	case len(s.inject) > 0 && s.inject[0].at == s.now:
		s.inject = s.arriveInjected()
	case !s.cut && s.arrived < len(s.table.order) && s.table.jobs[s.table.order[s.arrived]].submit == s.now:
		s.arrived++
		s.arrive(s.table.order[s.arrived-1])
	case len(s.ends) > 0 && s.ends[0].end == s.now:
		s.finish(s.ends.pop())
	default:
		s.rareEvents()
	}
	s.passes()
}

func (s *Sim) arriveInjected() []arrival {
	s.arrive(s.inject[0].ref)
	return append(s.inject[:0], s.inject[1:]...)
}

// rareEvents processes what most workloads have none of.
func (s *Sim) rareEvents() {
	for s.outage < len(s.conf.outages) && s.conf.outages[s.outage].at == s.now {
		s.outage++
		s.applyOutage(s.outage - 1)
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
	if s.conf.dynamic && s.calcAt <= s.now {
		s.calcAt = never
		if s.anyWaiting() {
			s.reprioritise()
			s.calcAt = s.now + s.conf.multifactor.CalcPeriod.Microseconds()
		}
	}
}

func (s *Sim) anyWaiting() bool {
	for i := range s.pools {
		if len(s.pools[i].queue) > 0 {
			return true
		}
	}
	return false
}

func (s *Sim) job(ref Ref) *job {
	if int(ref) < len(s.table.jobs) {
		return &s.table.jobs[ref]
	}
	return &s.extra[int(ref)-len(s.table.jobs)].job
}

// runOf returns how long the job runs once started.
func (s *Sim) runOf(ref Ref, j *job) int64 {
	if int(ref) < len(s.runs) {
		return min(s.runs[ref], j.limit)
	}
	return j.run
}

func (s *Sim) nice(ref Ref) int32 { return s.table.nice[ref] }

func (s *Sim) poolOf(j *job) *pool { return &s.pools[s.conf.Partitions[j.part].Pool] }

func insertArrival(q []arrival, a arrival) []arrival {
	i := len(q)
	for i > 0 && q[i-1].at > a.at {
		i--
	}
	q = append(q, arrival{})
	copy(q[i+1:], q[i:])
	q[i] = a
	return q
}

// Attempt is one run of a job that did not count: it was preempted or its
// nodes failed.
type Attempt struct {
	Job        Ref
	Start, End segue.Time
	State      segue.JobState // Preempted or NodeFail
}

// Result is what became of the jobs given to New.
type Result struct {
	// Starts and Ends hold the last start and end per job, NoTime for a job
	// that has not.
	Starts, Ends []segue.Time
	// Attempts are the earlier runs of requeued jobs, in order of their ends.
	Attempts []Attempt
}

// Result returns what became of the jobs so far. A fork has none.
func (s *Sim) Result() Result {
	r := Result{Starts: make([]segue.Time, len(s.starts)), Ends: make([]segue.Time, len(s.finishes)), Attempts: s.attempts}
	for i := range s.starts {
		r.Starts[i], r.Ends[i] = segue.Time(s.starts[i]), segue.Time(s.finishes[i])
	}
	return r
}

// Replay runs jobs through the cluster cfg from the first to the last event.
// progress, when not nil, is told now and then how many jobs have arrived.
func Replay(cfg Config, jobs []Job, progress func(arrived int)) (Result, error) {
	s, err := New(cfg, jobs)
	if err != nil {
		return Result{}, err
	}
	if progress == nil {
		s.Run()
		return s.Result(), nil
	}
	const slices = 200
	first, last := s.Now(), s.Now()
	if n := len(s.table.order); n > 0 {
		last = segue.Time(s.table.jobs[s.table.order[n-1]].submit)
	}
	for i := 1; i <= slices; i++ {
		s.AdvanceTo(first.Add(time.Duration(i) * (last.Sub(first) / slices)))
		progress(s.arrived)
	}
	s.Run()
	progress(len(jobs))
	return s.Result(), nil
}
