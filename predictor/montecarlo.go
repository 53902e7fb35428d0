package predictor

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// MonteCarloConfig sets up a MonteCarlo; the zero value works.
type MonteCarloConfig struct {
	Replicas int // simulations per forecast; default 24
	// ArrivalHorizon is for how long after a submission later ones are simulated;
	// default 12 hours.
	ArrivalHorizon time.Duration
	// ArrivalDays is from how many past days they are drawn; default 14.
	ArrivalDays int
	Seed        uint64
}

// mostReplicas bounds a forecast: more tell nothing more about its quantiles, and
// their waits, at each of the delays, are kept until it is made.
const mostReplicas = 100_000

func (c MonteCarloConfig) withDefaults() MonteCarloConfig {
	if c.Replicas == 0 {
		c.Replicas = 24
	}
	if c.ArrivalHorizon == 0 {
		c.ArrivalHorizon = 12 * time.Hour
	}
	if c.ArrivalDays == 0 {
		c.ArrivalDays = 14
	}
	return c
}

// MonteCarlo forecasts by many simulations. In each, every job's run time is
// drawn from what is known of such jobs, given its elapsed time, and the
// arrivals are those from a past day on, at the same time of day, run times
// included; where they reach the present they begin again at that day.
type MonteCarlo struct {
	cfg   MonteCarloConfig
	sim   *simulator.Forward
	model runModel
	jobs  []draw
	runs  []time.Duration
	batch []simulator.Job
}

// draw is what one job's run time is drawn from.
type draw struct {
	job     *segue.QueuedJob
	elapsed time.Duration
	own     []time.Duration
	fixed   bool
}

// MonteCarloName is the name of the forecaster that NewMonteCarlo returns.
const MonteCarloName = "monte-carlo"

// NewMonteCarlo returns the forecaster MonteCarloName.
func NewMonteCarlo(cluster simulator.Config, cfg MonteCarloConfig) (*MonteCarlo, error) {
	cfg = cfg.withDefaults()
	if cfg.Replicas < 1 || cfg.Replicas > mostReplicas || cfg.ArrivalHorizon < 0 || cfg.ArrivalDays < 1 {
		return nil, segue.Errorf(segue.Invalid, "Monte Carlo config: %d replicas (want 1 to %d), arrivals over %s (want 0 or more) from %d days (want 1 or more)",
			cfg.Replicas, mostReplicas, cfg.ArrivalHorizon, cfg.ArrivalDays)
	}
	sim, err := simulator.NewForward(cluster)
	if err != nil {
		return nil, err
	}
	return &MonteCarlo{cfg: cfg, sim: sim}, nil
}

// Name returns MonteCarloName.
func (m *MonteCarlo) Name() string { return MonteCarloName }

// Forecast returns one wait per replica. The draws depend on the seed and the
// instant only.
func (m *MonteCarlo) Forecast(now *Present, req segue.Request) (segue.Forecast, error) {
	later, err := m.Later(now, req, []time.Duration{0})
	if err != nil {
		return segue.Forecast{}, err
	}
	return later[0], nil
}

// Later returns the forecasts of the waits for submissions after each of the
// delays, which must ascend. A replica's future is the same for all of them. Beyond
// the arrival horizon a quarter of the replicas is simulated, at least 24: the more
// others come meanwhile, the longer it takes. Others come for up to a week ahead.
func (m *MonteCarlo) Later(now *Present, req segue.Request, delays []time.Duration) ([]segue.Forecast, error) {
	if err := m.sim.Load(&now.Snapshot); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(m.cfg.Seed, uint64(now.Snapshot.At)))
	m.prepare(now)
	waits := make([][]time.Duration, len(delays))
	once := make([]time.Duration, len(delays))
	for r := range m.cfg.Replicas {
		asked := delays
		if r >= max(leastFar, m.cfg.Replicas/4) {
			asked = delays[:m.near(delays)]
		}
		if len(asked) == 0 {
			break
		}
		ahead := min(asked[len(asked)-1], MostAhead) + m.cfg.ArrivalHorizon
		future := simulator.Future{
			Runs: m.drawRuns(rng), Arrivals: m.drawArrivals(now, ahead, rng), ArrivalHorizon: m.cfg.ArrivalHorizon, Horizon: waitHorizon,
		}
		if err := m.sim.Waits(req, future, asked, once); err != nil {
			return nil, err
		}
		for i := range asked {
			waits[i] = append(waits[i], once[i])
		}
	}
	forecasts := make([]segue.Forecast, len(delays))
	for i, delay := range delays {
		forecasts[i] = segue.NewForecast(now.Snapshot.At.Add(delay), m.Name(), waits[i])
	}
	return forecasts, nil
}

// MostAhead is how far ahead of the present others are simulated to come: later
// than that nothing is foreseen.
const MostAhead = 7 * 24 * time.Hour

// leastFar is how many replicas look beyond the arrival horizon, if there are so
// many.
const leastFar = 24

// near returns how many of the delays are within the arrival horizon.
func (m *MonteCarlo) near(delays []time.Duration) int {
	n, _ := slices.BinarySearch(delays, m.cfg.ArrivalHorizon+1)
	return n
}

// prepare collects once what every replica draws from.
func (m *MonteCarlo) prepare(now *Present) {
	snap := &now.Snapshot
	m.model.update(now.History, snap.At)
	n := 0
	for _, list := range [2][]segue.QueuedJob{snap.Running, snap.Pending} {
		for i := range list {
			if n == len(m.jobs) {
				m.jobs = append(m.jobs, draw{})
			}
			d := &m.jobs[n]
			n++
			d.job, d.elapsed = &list[i], list[i].Elapsed(snap.At)
			d.fixed = now.owns(d.job.User)
			d.own = m.model.own(now.History, d.job, d.elapsed, d.own)
		}
	}
	m.jobs = m.jobs[:n]
}

func (m *MonteCarlo) drawRuns(rng *rand.Rand) []time.Duration {
	m.runs = m.runs[:0]
	for i := range m.jobs {
		d := &m.jobs[i]
		if d.fixed {
			m.runs = append(m.runs, d.job.Limit)
			continue
		}
		m.runs = append(m.runs, min(m.model.sample(d.job, d.elapsed, d.own, rng.Float64()), d.job.Limit))
	}
	return m.runs
}

// drawArrivals returns the jobs from a past day on, moved to now, for so long.
// Those that have not ended yet are taken with their limits; the owner's are left
// out: they come as they are decided, not as they came.
func (m *MonteCarlo) drawArrivals(now *Present, length time.Duration, rng *rand.Rand) []simulator.Job {
	m.batch = m.batch[:0]
	days := time.Duration(1+rng.IntN(m.cfg.ArrivalDays)) * 24 * time.Hour
	for shift := days; length > 0; shift, length = shift+days, length-days {
		m.arriveAgain(now, now.Snapshot.At.Add(-days), min(length, days), shift)
	}
	slices.SortStableFunc(m.batch, func(a, b simulator.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return m.batch
}

// arriveAgain adds the jobs of a span of the past, shifted.
func (m *MonteCarlo) arriveAgain(now *Present, from segue.Time, length, shift time.Duration) {
	h, to := now.History, from.Add(length)
	for _, i := range h.submittedFrom(from) {
		e := h.ends.at(int(i))
		if e.Submit >= to {
			break
		}
		if user := h.names[e.User]; !now.owns(user) {
			m.arrive(now, e.Submit.Add(shift), e.Run, e.Limit, e.Nodes, user)
		}
	}
	for i := range m.jobs {
		if q := m.jobs[i].job; q.Submit >= from && q.Submit < to && !m.jobs[i].fixed {
			m.arrive(now, q.Submit.Add(shift), q.Limit, q.Limit, int32(q.Nodes), q.User)
		}
	}
}

// arrive adds an arrival, cut to the nodes in service.
func (m *MonteCarlo) arrive(now *Present, at segue.Time, run, limit time.Duration, nodes int32, user string) {
	m.batch = append(m.batch, simulator.Job{
		Submit: at, Run: run, Limit: limit, User: m.sim.User(user), Nodes: min(nodes, int32(max(now.Snapshot.Nodes, 1))),
	})
}
