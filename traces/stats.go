package traces

import (
	"iter"
	"math"
	"time"

	"github.com/segue-project/segue"
)

// Statistics describe a history.
type Statistics struct {
	Jobs         int64
	Started      int64
	NeverStarted int64
	NotEnded     int64 // pending or running when the history was written
	States       []Count
	Users        Tally
	Accounts     Tally
	Partitions   Tally

	FirstSubmit, LastSubmit segue.Time
	FirstStart, LastEnd     segue.Time

	// Wait is from submission to start, of the jobs that started;
	// EligibleWait from the moment when the job could have run, where the
	// history says.
	Wait, EligibleWait Durations
	Run                Durations // of the jobs that ran to their end
	// LimitUsed is the run time as a share of the limit, of the jobs that ran
	// and have a limit; OverLimit of them ran longer.
	LimitUsed Shares
	OverLimit int64

	Shapes    Shapes
	Months    []Month // by submission, in UTC
	NodeHours float64
	GPUHours  float64
	Busy      Concurrency
	Queue     Queue
}

// Durations are the mean and quantiles of durations, which are counted in whole
// seconds. Quantiles are interpolated linearly (type 7 of Hyndman and Fan).
type Durations struct {
	Count                    int64
	Mean, P50, P90, P99, Max time.Duration
}

// Shares are the mean and quantiles of shares, where 1 is the whole.
type Shares struct {
	Count                    int64
	Mean, P10, P50, P90, Max float64
}

// Count is a name with the jobs that have it and the node hours that they ran.
type Count struct {
	Name      string
	Jobs      int64
	NodeHours float64
}

// Tally is how many names there are and the largest users of node hours.
type Tally struct {
	Distinct int
	Top      []Count // at most ten
}

// Shapes are how many shapes there are and the most frequent ones.
type Shapes struct {
	Distinct int
	Top      []ShapeCount // at most ten
}

// ShapeCount is a shape with its jobs and node hours. A job's limit of 0 is one
// that is not known.
type ShapeCount struct {
	segue.Shape
	Jobs      int64
	NodeHours float64
}

// Month is one calendar month in UTC, by submission.
type Month struct {
	Name      string // "2022-11"
	Jobs      int64
	MeanWait  time.Duration // of those that started
	NodeHours float64
	started   int64
	waited    float64 // seconds
}

// Stats reads all jobs and describes them; head is what the file says of the
// cluster, or the zero Header. It keeps 32 bytes a job, the names and the
// shapes. The error is the stream's.
func Stats(jobs iter.Seq2[segue.Job, error], head Header) (*Statistics, error) {
	c := Collector{MaxNodes: head.MaxNodes}
	for j, err := range jobs {
		if err != nil {
			return nil, err
		}
		c.Add(&j)
	}
	return c.Statistics(), nil
}

// Collector gathers what Statistics need, one job at a time. The zero Collector
// is ready to use.
type Collector struct {
	// MaxNodes is the size of the cluster if the history's head gives it.
	MaxNodes int64

	s                          Statistics
	states                     [segue.Requeued + 1]Count
	users, accounts, queues    tally
	waits, eligibleWaits, runs durations
	used                       []float32
	shapes                     map[segue.Shape]*ShapeCount
	months                     map[int64]*Month
	busy                       timeline
	queue                      queueline
}

// Add takes a job up.
func (c *Collector) Add(j *segue.Job) {
	s := &c.s
	if s.Jobs == 0 {
		s.FirstSubmit, s.LastSubmit = j.Submit, j.Submit
		s.FirstStart, s.LastEnd = segue.NoTime, segue.NoTime
		c.shapes, c.months = make(map[segue.Shape]*ShapeCount), make(map[int64]*Month)
	}
	s.Jobs++
	s.FirstSubmit, s.LastSubmit = min(s.FirstSubmit, j.Submit), max(s.LastSubmit, j.Submit)
	hours := j.Run().Hours() * float64(j.Nodes)
	s.NodeHours += hours
	s.GPUHours += j.Run().Hours() * float64(j.GPUs)
	if int(j.State) < len(c.states) {
		c.states[j.State].Jobs++
		c.states[j.State].NodeHours += hours
	}
	c.users.add(j.User, hours)
	c.accounts.add(j.Account, hours)
	c.queues.add(j.Partition, hours)
	c.addShape(j, hours)
	c.addTimes(j)
	c.addMonth(j, hours)
}

func (c *Collector) addShape(j *segue.Job, hours float64) {
	shape := segue.Shape{Nodes: int(j.Nodes), Limit: j.Limit}
	if j.GPUs > 0 && j.Nodes > 0 {
		shape.GPUsPerNode = int((j.GPUs + j.Nodes - 1) / j.Nodes)
	}
	count := c.shapes[shape]
	if count == nil {
		count = &ShapeCount{Shape: shape}
		c.shapes[shape] = count
	}
	count.Jobs++
	count.NodeHours += hours
}

func (c *Collector) addTimes(j *segue.Job) {
	s := &c.s
	if !j.End.Known() && !j.State.Ended() {
		s.NotEnded++
	}
	c.busy.extend(j)
	if j.End.Known() {
		s.LastEnd = max(s.LastEnd, j.End)
	}
	if !j.Start.Known() {
		s.NeverStarted++
		return
	}
	s.Started++
	if s.Started == 1 {
		s.FirstStart = j.Start
	}
	s.FirstStart = min(s.FirstStart, j.Start)
	c.waits.add(j.Wait())
	if j.Eligible.Known() {
		c.eligibleWaits.add(j.Start.Sub(j.Eligible))
	}
	c.busy.add(j)
	c.queue.add(j)
	if !j.Ran() {
		return
	}
	c.runs.add(j.Run())
	if j.Limit > 0 && j.Limit != segue.Unlimited {
		c.used = append(c.used, float32(j.Run().Seconds()/j.Limit.Seconds()))
		if j.Run() > j.Limit {
			s.OverLimit++
		}
	}
}

func (c *Collector) addMonth(j *segue.Job, hours float64) {
	t := j.Submit.Std()
	key := int64(t.Year())*12 + int64(t.Month())
	m := c.months[key]
	if m == nil {
		m = &Month{Name: t.Format("2006-01")}
		c.months[key] = m
	}
	m.Jobs++
	m.NodeHours += hours
	if j.Start.Known() {
		m.started++
		m.waited += j.Wait().Seconds()
	}
}

// durations keeps durations in whole seconds, up to 136 years.
type durations []uint32

func (d *durations) add(v time.Duration) {
	*d = append(*d, uint32(min(max(int64(v/time.Second), 0), math.MaxUint32)))
}

// tally counts names.
type tally map[string]*Count

func (t *tally) add(name string, hours float64) {
	if name == "" {
		return
	}
	if *t == nil {
		*t = make(tally)
	}
	count := (*t)[name]
	if count == nil {
		count = &Count{Name: name}
		(*t)[name] = count
	}
	count.Jobs++
	count.NodeHours += hours
}
