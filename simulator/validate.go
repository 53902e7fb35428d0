package simulator

import (
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// The greatest values, which keep all counts within 32 bits and all instants
// far from overflow.
const (
	maxNodes   = 1 << 24
	maxGPUs    = 1 << 10
	maxClasses = 1 << 15 // partitions, or QOS

	maxInstant = 1 << 60 // of submissions, in microseconds: 36,500 years
	longest    = 100 * 365 * 24 * time.Hour
)

func (c Config) withDefaults() Config {
	c.Slurm = c.Slurm.withDefaults()
	if len(c.Partitions) == 0 {
		for i, p := range c.Pools {
			c.Partitions = append(c.Partitions, Partition{Name: p.Name, Pool: i})
		}
	}
	if len(c.QOS) == 0 {
		c.QOS = []QOS{{Name: "normal"}}
	}
	return c
}

func (c Config) validate() error {
	if err := c.validateCluster(); err != nil {
		return err
	}
	switch {
	case c.Backfill > SlurmBackfill:
		return badConfig("Backfill is %d, want 0 to %d", c.Backfill, SlurmBackfill)
	case c.Events > PerEvent:
		return badConfig("Events is %d, want 0 to %d", c.Events, PerEvent)
	case c.Events == PerEvent && (c.Backfill == SlurmBackfill || len(c.Outages) > 0 || c.preempts()):
		return badConfig("Events is PerEvent, which knows neither Slurm's passes, nor outages, nor preemption")
	case c.CleanUp < 0 || c.CleanUp > longest:
		return badConfig("CleanUp is %s, want 0 to %s", c.CleanUp, longest)
	case c.CleanUp > 0 && (c.Backfill == EASY || c.Backfill == Conservative || c.Events == PerEvent || len(c.Outages) > 0 || c.preempts()):
		return badConfig("CleanUp is known to Slurm's passes and to those strictly in order only, and neither with outages, nor preemption, nor PerEvent")
	case c.RequeueDelay < 0 || c.RequeueDelay > longest:
		return badConfig("RequeueDelay is %s, want 0 to %s", c.RequeueDelay, longest)
	}
	if c.Order.Multifactor != nil {
		if err := c.Order.Multifactor.validate(); err != nil {
			return err
		}
	}
	return c.Slurm.validate()
}

func (c Config) preempts() bool {
	return slices.ContainsFunc(c.Partitions, func(p Partition) bool { return p.Preempt != PreemptOff })
}

func badConfig(format string, args ...any) error {
	return segue.Errorf(segue.Invalid, "simulator config: "+format, args...)
}

// validateCluster checks what the jobs run on and the doors to it.
func (c Config) validateCluster() error {
	if len(c.Pools) == 0 {
		return badConfig("Pools is empty, want at least one")
	}
	if len(c.Partitions) > maxClasses || len(c.QOS) > maxClasses {
		return badConfig("%d Partitions and %d QOS, want at most %d each", len(c.Partitions), len(c.QOS), maxClasses)
	}
	for i, p := range c.Pools {
		if p.Nodes < 1 || p.Nodes > maxNodes {
			return badConfig("Pools[%d].Nodes is %d, want 1 to %d", i, p.Nodes, maxNodes)
		}
		if p.GPUsPerNode < 0 || p.GPUsPerNode > maxGPUs {
			return badConfig("Pools[%d].GPUsPerNode is %d, want 0 to %d", i, p.GPUsPerNode, maxGPUs)
		}
	}
	for i, p := range c.Partitions {
		switch {
		case p.Pool < 0 || p.Pool >= len(c.Pools):
			return badConfig("Partitions[%d].Pool is %d, want 0 to %d", i, p.Pool, len(c.Pools)-1)
		case p.Preempt > PreemptCancel:
			return badConfig("Partitions[%d].Preempt is %d, want 0 to %d", i, p.Preempt, PreemptCancel)
		}
	}
	for i, q := range c.QOS {
		if q.GroupNodes < 0 || q.Limits.negative() {
			return badConfig("QOS[%d] has a negative limit", i)
		}
	}
	if c.Limits.negative() {
		return badConfig("Limits has a negative limit")
	}
	for i, o := range c.Outages {
		if err := o.validate(i, c.Pools); err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) negative() bool {
	return l.MaxRunningJobs < 0 || l.MaxNodes < 0 || l.MaxSubmittedJobs < 0
}

func (o Outage) validate(i int, pools []Pool) error {
	switch {
	case o.Pool < 0 || o.Pool >= len(pools):
		return badConfig("Outages[%d].Pool is %d, want 0 to %d", i, o.Pool, len(pools)-1)
	case o.Nodes < 1 || o.Nodes > pools[o.Pool].Nodes:
		return badConfig("Outages[%d].Nodes is %d, want 1 to %d", i, o.Nodes, pools[o.Pool].Nodes)
	case o.From < -maxInstant || o.From > maxInstant:
		return badConfig("Outages[%d] begins at %d microseconds, out of range", i, int64(o.From))
	case o.Until <= o.From:
		return badConfig("Outages[%d] ends at %s, not after its start at %s", i, o.Until, o.From)
	}
	return nil
}

func (m Multifactor) validate() error {
	for _, w := range [...]struct {
		name   string
		weight float64
	}{{"Age", m.Age}, {"FairShare", m.FairShare}, {"JobSize", m.JobSize}, {"Partition", m.Partition}, {"QOS", m.QOS}} {
		if math.IsNaN(w.weight) || math.IsInf(w.weight, 0) || w.weight < 0 {
			return badConfig("Order.Multifactor.%s is %v, want a finite weight of 0 or more", w.name, w.weight)
		}
	}
	for _, d := range [...]struct {
		name string
		span time.Duration
	}{{"MaxAge", m.MaxAge}, {"CalcPeriod", m.CalcPeriod}} {
		if d.span != 0 && (d.span < time.Microsecond || d.span > longest) {
			return badConfig("Order.Multifactor.%s is %s, want 1µs to %s, or 0 for the default", d.name, d.span, longest)
		}
	}
	return nil
}
