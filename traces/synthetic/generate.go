package synthetic

import (
	"iter"
	"slices"

	"github.com/segue-project/segue"
)

// Generate returns a history of jobs in order of submission. It may be read
// more than once and gives the same jobs each time; it is made while it is
// read, in memory that grows with the jobs that wait or run at one time, not
// with their number. An error has kind Invalid.
func Generate(cfg Config) (iter.Seq[segue.Job], error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return func(yield func(segue.Job) bool) {
		newHistory(cfg).run(yield)
	}, nil
}

// Jobs returns the whole history that Generate streams.
func Jobs(cfg Config) ([]segue.Job, error) {
	jobs, err := Generate(cfg)
	if err != nil {
		return nil, err
	}
	return slices.Collect(jobs), nil
}

// history is one history in the making.
type history struct {
	cfg         Config
	end         segue.Time // of submissions
	calendar    *calendar
	session     segue.Time // the next one begins
	sitter      *user
	jobs        stream
	submissions agenda[submission]
	cluster     *cluster

	accepted int
	number   int64     // of the newest job
	open     []*record // in order of submission, from the first that has not ended
}

func newHistory(cfg Config) *history {
	users := newPopulation(cfg, newStream(cfg.Seed, streamPopulation))
	pilot := newStream(cfg.Seed, streamPilot)
	for _, u := range users {
		u.cost = u.expectedCost(cfg, pilot)
	}
	h := &history{
		cfg:      cfg,
		end:      segue.Never,
		calendar: newCalendar(cfg, users),
		jobs:     newStream(cfg.Seed, streamJobs),
		cluster:  newCluster(cfg),
		number:   100000,
	}
	if cfg.Duration > 0 {
		h.end = cfg.Start.Add(cfg.Duration)
	}
	h.session, h.sitter = h.calendar.next()
	return h
}

// run goes from instant to instant until nothing is left to happen.
func (h *history) run(yield func(segue.Job) bool) {
	for {
		h.beginSessions()
		now := min(h.submissions.next(), h.cluster.agenda.next())
		if now == segue.Never {
			return
		}
		h.cluster.now = now
		h.cluster.happen()
		for h.submissions.next() == now {
			h.submit(h.submissions.take())
		}
		h.cluster.pass()
		if !h.emit(yield) {
			return
		}
	}
}

// beginSessions draws the sessions that begin before the next thing happens.
func (h *history) beginSessions() {
	for h.session < h.end && h.session <= min(h.submissions.next(), h.cluster.agenda.next()) {
		h.sitter.session(h.session, h.jobs, func(s submission) {
			if s.at < h.end {
				h.submissions.add(s.at, s)
			}
		})
		h.session, h.sitter = h.calendar.next()
	}
}

// submit hands one job in. A refused one leaves no trace, and the next link of
// its chain waits for the last that was accepted.
func (h *history) submit(s submission) {
	if !h.cluster.accepts(s.user) {
		return
	}
	r := &record{user: s.user, script: s.script, outcome: s.outcome, job: h.job(s)}
	h.open = append(h.open, r)
	var after *record
	if s.chain != nil {
		after, s.chain.last = s.chain.last, r
	}
	h.cluster.submit(r, after, s.patience)
	if h.accepted++; h.accepted == h.cfg.Jobs {
		h.end = h.cluster.now
		h.submissions = agenda[submission]{}
	}
}

func (h *history) job(s submission) segue.Job {
	j := segue.Job{
		ID:        h.id(s),
		Name:      s.name,
		User:      s.user.name,
		Account:   s.user.account,
		Partition: "gpu",
		QOS:       "normal",
		Submit:    s.at,
		Eligible:  segue.NoTime,
		Start:     segue.NoTime,
		End:       segue.NoTime,
		Limit:     s.script.limit,
		Nodes:     int32(s.script.nodes),
		GPUs:      int32(s.script.nodes * h.cfg.GPUsPerNode),
		CPUs:      int32(s.script.nodes * h.cfg.CPUsPerNode),
	}
	if s.script.gpus > 0 {
		j.GPUs = int32(s.script.gpus)
		j.CPUs = int32(max(1, h.cfg.CPUsPerNode*s.script.gpus/h.cfg.GPUsPerNode))
	}
	return j
}

// id counts on, with gaps as where other partitions take numbers too.
func (h *history) id(s submission) segue.JobID {
	if s.array != nil && s.array.number > 0 {
		return segue.JobID{Number: s.array.number, Sub: s.task, Kind: segue.ArrayTask}
	}
	h.number += 1 + int64(h.jobs.ExpFloat64()*4)
	if s.array == nil {
		return segue.JobID{Number: h.number}
	}
	s.array.number = h.number
	return segue.JobID{Number: h.number, Sub: s.task, Kind: segue.ArrayTask}
}

// emit yields the jobs that have ended and have none before them that has not.
func (h *history) emit(yield func(segue.Job) bool) bool {
	for len(h.open) > 0 && h.open[0].finished {
		job := h.open[0].job
		h.open[0] = nil
		h.open = h.open[1:]
		if !yield(job) {
			return false
		}
	}
	return true
}
