package simulator

import "slices"

// conf is a validated Config with what is derived from it; forks share it.
type conf struct {
	Config
	multifactor *Multifactor
	dynamic     bool  // priorities change while jobs wait
	tiers       []int // per partition, when they differ
	caps        bool
	mayPreempt  []bool // per partition: a lower tier of its pool can be preempted
	// keepsPlan says that Conservative's reservations are kept between passes.
	// Where caps, tiers, priorities or outages change what can be planned, every
	// pass plans anew.
	keepsPlan     bool
	outages       []outageEvent
	mainEvery     int64
	cycleEvery    int64
	backfillEvery int64
	window, res   int64
	endGrid       int64 // of the ends of running jobs, in plans of SlurmBackfill
	requeueDelay  int64
	cleanUp       int64
}

func newConf(cfg Config) (*conf, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &conf{
		Config: cfg, outages: outageTimeline(cfg.Outages), requeueDelay: cfg.RequeueDelay.Microseconds(),
		cleanUp:   cfg.CleanUp.Microseconds(),
		mainEvery: cfg.Slurm.MainInterval.Microseconds(), cycleEvery: cfg.Slurm.CycleInterval.Microseconds(),
		backfillEvery: cfg.Slurm.BackfillInterval.Microseconds(),
		window:        cfg.Slurm.Window.Microseconds(), res: cfg.Slurm.Resolution.Microseconds(),
	}
	c.endGrid = c.res
	if cfg.Slurm.RoundOutward {
		c.endGrid = 1
	}
	c.caps = cfg.Limits != Limits{}
	for _, q := range cfg.QOS {
		c.caps = c.caps || q.Limits != Limits{} || q.GroupNodes > 0
	}
	if m := cfg.Order.Multifactor; m != nil {
		d := m.withDefaults()
		c.multifactor, c.dynamic = &d, !d.static()
	}
	c.rankTiers()
	c.keepsPlan = cfg.Backfill == Conservative && !c.caps && !slices.Contains(c.mayPreempt, true) && !c.dynamic && c.tiers == nil && len(cfg.Outages) == 0
	return c, nil
}

// rankTiers derives what the partitions add to the order, and which preempt.
func (c *conf) rankTiers() {
	differ := false
	for _, p := range c.Partitions {
		differ = differ || p.Tier != c.Partitions[0].Tier
		c.mayPreempt = append(c.mayPreempt, slices.ContainsFunc(c.Partitions, func(low Partition) bool {
			return low.Pool == p.Pool && low.Tier < p.Tier && low.Preempt != PreemptOff
		}))
	}
	if !differ {
		return
	}
	for _, p := range c.Partitions {
		c.tiers = append(c.tiers, p.Tier)
	}
}

// sharingPools tells for each pool whether one of the jobs takes part of a
// node.
func (c *conf) sharingPools(jobs []job) []bool {
	sharing := make([]bool, len(c.Pools))
	for i := range jobs {
		pool := c.Partitions[jobs[i].part].Pool
		sharing[pool] = sharing[pool] || jobs[i].shares(int32(c.Pools[pool].GPUsPerNode))
	}
	return sharing
}

// preemptsIn reports whether any job of the pool may preempt another.
func (c *conf) preemptsIn(pool int) bool {
	for i, p := range c.Partitions {
		if p.Pool == pool && c.mayPreempt[i] {
			return true
		}
	}
	return false
}
