package outcomes

import (
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// Spread is Curve at submit times of another kind: count of them, at least 2,
// evenly spread from the delay after the submission of the link to its end. The
// first ones come before the link has started where it has to wait, so that leads
// may be longer than its limit.
func (p *Prober) Spread(base *simulator.Sim, link simulator.Job, delay time.Duration, count int) (Curve, error) {
	if delay <= 0 || count < 2 {
		return Curve{}, segue.Errorf(segue.Invalid, "spread of submit times: %d of them from a delay of %s, want at least 2 from above 0", count, delay)
	}
	link.Run, link.Submit = link.Limit, base.Now()
	p.probe = base.Fork(p.probe)
	start, err := submitAndRun(p.probe, link)
	if err != nil {
		return Curve{}, err
	}
	c := Curve{Submit: base.Now(), Start: start, End: start.Add(link.Limit), Leads: make([]time.Duration, count)}
	longest := c.End.Sub(c.Submit.Add(delay))
	if longest <= 0 {
		return Curve{}, segue.Errorf(segue.Invalid, "spread of submit times: the delay of %s goes beyond the link's end", delay)
	}
	for i := range c.Leads {
		c.Leads[i] = time.Duration(float64(longest) * float64(i) / float64(count-1)).Truncate(time.Microsecond)
	}
	p.world = base.Fork(p.world)
	if p.Began != nil {
		p.Began(p.world)
	}
	if _, err := p.world.Submit(link); err != nil {
		return Curve{}, err
	}
	return c, p.follow(&c, link)
}
