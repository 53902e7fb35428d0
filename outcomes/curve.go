package outcomes

import (
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// Grid is the set of moments at which the next link can be submitted, as leads
// before the end of the current one: 0, Step, 2 Step, ... up to Max.
type Grid struct {
	Step time.Duration // default 30 minutes
	Max  time.Duration // default the job's limit: its start
}

// DefaultStep is the distance of two submit times of the default grid.
const DefaultStep = 30 * time.Minute

func (g Grid) withDefaults(limit time.Duration) Grid {
	if g.Step == 0 {
		g.Step = DefaultStep
	}
	if g.Max == 0 || g.Max > limit {
		g.Max = limit
	}
	return g
}

// Leads returns the leads of the grid for a job of that limit, ascending from 0.
// The last is less than a step below the limit or Max. The grid must be valid.
func (g Grid) Leads(limit time.Duration) []time.Duration {
	g = g.withDefaults(limit)
	leads := make([]time.Duration, 0, g.Max/g.Step+1)
	for lead := time.Duration(0); lead <= g.Max; lead += g.Step {
		leads = append(leads, lead)
	}
	return leads
}

// Validate refuses a grid that has no end, as an error of kind segue.Invalid.
// Zero fields stand for their defaults.
func (g Grid) Validate() error {
	if (g.Step != 0 && g.Step < time.Second) || g.Max < 0 {
		return segue.Errorf(segue.Invalid, "grid of leads: step %s, max %s; want a step of at least 1s and a max of 0 or more", g.Step, g.Max)
	}
	return nil
}

// Curve is the outcome of every submit time for one link.
type Curve struct {
	Submit segue.Time // of the current link
	Start  segue.Time // of the current link
	End    segue.Time // of the current link
	// Leads are ascending from 0; Outcomes holds for each the start of the next
	// link minus End: positive is an interruption, negative an overlap.
	Leads    []time.Duration
	Outcomes []time.Duration
}

// Reactive returns the outcome of submitting when the current link ends.
func (c *Curve) Reactive() time.Duration { return c.Outcomes[0] }

// Decided returns the instant at which the last of the outcomes was known: no
// job that is submitted then or later bears on the curve.
func (c *Curve) Decided() segue.Time { return c.End.Add(slices.Max(c.Outcomes)) }

// Horizon bounds how long a link may wait. A link that has not started by then
// counts as having started then; no real queue is that long.
const Horizon = 365 * 24 * time.Hour

// Prober computes curves; it keeps the memory of its forks.
type Prober struct {
	// At, when not nil, is called at every submit time of the grid, in the order
	// of time (the longest lead first), with the cluster as it is then and the
	// current link in it. Its error ends the curve.
	At func(lead time.Duration, cluster *simulator.Sim) error
	// Began, when not nil, is called once with the fork in which the current
	// link lives, before anything else happens there.
	Began func(cluster *simulator.Sim)

	world, probe *simulator.Sim
}

// Curve submits the link at base's instant and, for every lead, its successor
// of the same shape. base itself does not change. The link runs to its limit;
// if a failing node cuts it short, the curve takes no notice and counts from the
// end that it would have had.
func (p *Prober) Curve(base *simulator.Sim, link simulator.Job, grid Grid) (Curve, error) {
	if err := grid.Validate(); err != nil {
		return Curve{}, err
	}
	link.Run, link.Submit = link.Limit, base.Now()
	p.world = base.Fork(p.world)
	if p.Began != nil {
		p.Began(p.world)
	}
	start, err := submitAndRun(p.world, link)
	if err != nil {
		return Curve{}, err
	}
	c := Curve{Submit: base.Now(), Start: start, End: start.Add(link.Limit), Leads: grid.Leads(link.Limit)}
	return c, p.follow(&c, link)
}

// follow goes with the world from one submit time of the curve to the next and
// fills in what each leads to.
func (p *Prober) follow(c *Curve, link simulator.Job) error {
	c.Outcomes = make([]time.Duration, len(c.Leads))
	for i := len(c.Leads) - 1; i >= 0; i-- {
		p.world.AdvanceTo(c.End.Add(-c.Leads[i]))
		if p.At != nil {
			if err := p.At(c.Leads[i], p.world); err != nil {
				return err
			}
		}
		p.probe = p.world.Fork(p.probe)
		next, err := submitAndRun(p.probe, link)
		if err != nil {
			return err
		}
		c.Outcomes[i] = next.Sub(c.End)
	}
	return nil
}

// submitAndRun submits the link now and returns its start.
func submitAndRun(s *simulator.Sim, link simulator.Job) (segue.Time, error) {
	link.Submit = s.Now()
	ref, err := s.Submit(link)
	if err != nil {
		return segue.NoTime, err
	}
	limit := s.Now().Add(Horizon)
	start, ok := s.RunUntilStarted(ref, limit)
	if !ok {
		return limit, nil
	}
	return start, nil
}
