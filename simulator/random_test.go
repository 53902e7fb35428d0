package simulator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// anyCluster draws a configuration with everything: pools with shared GPUs,
// partitions with tiers and preemption, every order and backfill, caps,
// outages.
func anyCluster(t *rapid.T) simulator.Config {
	backfill := simulator.Backfill(rapid.IntRange(0, 3).Draw(t, "backfill"))
	return cluster(t, backfill, drawEvents(t, backfill))
}

func cluster(t *rapid.T, backfill simulator.Backfill, events simulator.Events) simulator.Config {
	cfg := simulator.Config{
		Pools:        rapid.SliceOfN(rapid.Custom(drawPool), 1, 2).Draw(t, "pools"),
		Order:        drawOrder(t),
		Backfill:     backfill,
		Events:       events,
		RequeueDelay: time.Duration(rapid.IntRange(0, 3).Draw(t, "requeue delay")) * time.Minute,
		Seed:         rapid.Uint64().Draw(t, "seed"),
	}
	whole := cfg.Events == simulator.PerEvent
	for range rapid.IntRange(1, 4).Draw(t, "partitions") {
		cfg.Partitions = append(cfg.Partitions, simulator.Partition{
			Pool: rapid.IntRange(0, len(cfg.Pools)-1).Draw(t, "pool"),
			Tier: rapid.IntRange(0, 2).Draw(t, "tier"), Factor: rapid.Float64Range(0, 1).Draw(t, "factor"),
			Preempt: simulator.PreemptMode(rapid.SampledFrom(choices(whole, 0, 1, 2)).Draw(t, "preempt")),
		})
	}
	if cfg.Backfill == simulator.SlurmBackfill {
		cfg.Slurm = drawSlurm(t)
	}
	if rapid.Bool().Draw(t, "caps") {
		cfg.Limits = drawLimits(t)
		cfg.QOS = []simulator.QOS{{Name: "normal"}, {
			Name: "high", Factor: 1, Limits: drawLimits(t), GroupNodes: rapid.IntRange(0, 6).Draw(t, "group nodes"),
		}}
	}
	for p := range cfg.Pools {
		if whole {
			cfg.Pools[p].GPUsPerNode = 0
			continue
		}
		cfg.Outages = append(cfg.Outages, drawOutages(t, p, cfg.Pools[p].Nodes)...)
	}
	if cfg.CleanUp = drawCleanUp(t, cfg); cfg.CleanUp > 0 {
		cfg.Outages = nil
		for i := range cfg.Partitions {
			cfg.Partitions[i].Preempt = simulator.PreemptOff
		}
	}
	return cfg
}

// drawCleanUp draws a time to clean up for the rules that know it.
func drawCleanUp(t *rapid.T, cfg simulator.Config) time.Duration {
	if cfg.Events == simulator.PerEvent || cfg.Backfill == simulator.EASY || cfg.Backfill == simulator.Conservative {
		return 0
	}
	return time.Duration(rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(t, "clean-up")) * time.Minute
}

func drawEvents(t *rapid.T, backfill simulator.Backfill) simulator.Events {
	if backfill == simulator.SlurmBackfill {
		return simulator.PerInstant
	}
	return simulator.Events(rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "events"))
}

// choices returns all the values, or the first only.
func choices(first bool, values ...int) []int {
	if first {
		return values[:1]
	}
	return values
}

func drawPool(t *rapid.T) simulator.Pool {
	return simulator.Pool{Nodes: rapid.IntRange(1, 6).Draw(t, "nodes"), GPUsPerNode: rapid.SampledFrom([]int{0, 0, 2, 4}).Draw(t, "GPUs")}
}

func drawOrder(t *rapid.T) simulator.Order {
	if rapid.Bool().Draw(t, "first come") {
		return simulator.Order{}
	}
	weight := func(name string) float64 { return rapid.SampledFrom([]float64{0, 10, 1000}).Draw(t, name) }
	return simulator.Order{Multifactor: &simulator.Multifactor{
		Age: weight("age"), FairShare: weight("fair share"), JobSize: weight("size"), Partition: weight("partition"), QOS: weight("QOS"),
		MaxAge: 20 * time.Minute, CalcPeriod: 3 * time.Minute, HalfLife: 30 * time.Minute,
		AgeUncapped: rapid.Bool().Draw(t, "uncapped"), FavorSmall: rapid.Bool().Draw(t, "favor small"),
	}}
}

func drawSlurm(t *rapid.T) simulator.SlurmParameters {
	spans := func(name string, choice ...time.Duration) time.Duration {
		return rapid.SampledFrom(choice).Draw(t, name)
	}
	return simulator.SlurmParameters{
		MainInterval:     spans("main", -1, time.Minute, 4*time.Minute),
		CycleInterval:    spans("cycle", time.Minute, 7*time.Minute),
		BackfillInterval: spans("interval", 30*time.Second, time.Minute, 3*time.Minute, 10*time.Minute),
		Window:           spans("window", 5*time.Minute, 15*time.Minute, 24*time.Hour),
		Resolution:       spans("resolution", time.Second, time.Minute, 4*time.Minute),
		MaxJobTest:       rapid.SampledFrom([]int{1, 2, 5, 500}).Draw(t, "tests"),
		MaxJobUser:       rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "tests per user"),
		QueueDepth:       rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "depth"),
		RoundOutward:     rapid.Bool().Draw(t, "outward"),
	}
}

func drawLimits(t *rapid.T) simulator.Limits {
	limit := func(name string) int { return rapid.SampledFrom([]int{0, 0, 2, 3, 6}).Draw(t, name) }
	return simulator.Limits{MaxRunningJobs: limit("max running"), MaxNodes: 2 * limit("max nodes"), MaxSubmittedJobs: limit("max submitted")}
}

// drawOutages draws outages of a pool of which at most half overlap, so that
// they never take more nodes than there are.
func drawOutages(t *rapid.T, pool, nodes int) []simulator.Outage {
	var all []simulator.Outage
	for lane := range min(2, nodes) {
		at := 0
		for range rapid.IntRange(0, 3).Draw(t, "outages") {
			from := at + rapid.IntRange(0, 20).Draw(t, "outage after")
			at = from + rapid.IntRange(1, 20).Draw(t, "outage length")
			size := max(nodes/2, 1)
			if lane == 1 {
				size = nodes - size
			}
			all = append(all, simulator.Outage{
				Pool: pool, From: minutes(from), Until: minutes(at), Nodes: rapid.IntRange(1, max(size, 1)).Draw(t, "nodes out"),
				Drain: rapid.Bool().Draw(t, "drain"),
			})
		}
	}
	return all
}

// anyJobs draws jobs that use everything, on a grid of minutes.
func anyJobs(t *rapid.T, cfg simulator.Config) []simulator.Job {
	n := rapid.IntRange(1, 40).Draw(t, "jobs")
	jobs := make([]simulator.Job, n)
	for i := range jobs {
		jobs[i] = drawJob(t, cfg, i)
		if n > 1 && rapid.IntRange(0, 4).Draw(t, "depends") == 0 {
			jobs[i].After = drawDependencies(t, i, n)
		}
	}
	return jobs
}

func drawJob(t *rapid.T, cfg simulator.Config, _ int) simulator.Job {
	limit := rapid.IntRange(1, 15).Draw(t, "limit")
	j := simulator.Job{
		Submit:    minutes(rapid.IntRange(0, 40).Draw(t, "submit")),
		Run:       time.Duration(rapid.IntRange(0, limit+1).Draw(t, "run")) * time.Minute,
		Limit:     time.Duration(limit) * time.Minute,
		User:      int32(rapid.IntRange(0, 3).Draw(t, "user")),
		Partition: int32(rapid.IntRange(0, max(len(cfg.Partitions), 1)-1).Draw(t, "partition")),
		QOS:       int32(rapid.IntRange(0, max(len(cfg.QOS), 1)-1).Draw(t, "QOS")),
		Nice:      int32(rapid.SampledFrom([]int{0, 0, 0, 5}).Draw(t, "nice")),
		Fails:     rapid.IntRange(0, 4).Draw(t, "fails") == 0,
	}
	pool := cfg.Pools[poolOf(cfg, &j)]
	j.Nodes = int32(rapid.IntRange(1, pool.Nodes).Draw(t, "nodes"))
	if pool.GPUsPerNode > 0 {
		j.GPUsPerNode = int32(rapid.IntRange(0, pool.GPUsPerNode).Draw(t, "GPUs"))
	}
	switch rapid.IntRange(0, 9).Draw(t, "rare") {
	case 0:
		j.Begin = j.Submit.Add(time.Duration(rapid.IntRange(0, 15).Draw(t, "begin")) * time.Minute)
	case 1:
		j.CancelAt = j.Submit.Add(time.Duration(rapid.IntRange(0, 15).Draw(t, "cancel")) * time.Minute)
	case 2, 3:
		j.Singleton = j.User + 1
	}
	return j
}

// drawDependencies draws conditions on other jobs, earlier or later ones.
func drawDependencies(t *rapid.T, job, jobs int) []simulator.Dependency {
	var all []simulator.Dependency
	for range rapid.IntRange(1, 3).Draw(t, "dependencies") {
		other := rapid.IntRange(0, jobs-2).Draw(t, "on")
		if other >= job {
			other++
		}
		all = append(all, simulator.Dependency{
			Job: simulator.Ref(other), Kind: simulator.DependencyKind(rapid.IntRange(0, 2).Draw(t, "kind")),
			Delay: time.Duration(rapid.IntRange(0, 5).Draw(t, "delay")) * time.Minute,
		})
	}
	return all
}

func TestInvariantsHoldOnAnyClusterAndAnyJobs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyCluster(t)
		jobs := anyJobs(t, cfg)
		got, err := simulator.Replay(cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkUse(t, cfg, jobs, got)
	})
}

func TestEqualSeedsGiveEqualResults(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyCluster(t)
		jobs := anyJobs(t, cfg)
		first, err := simulator.Replay(cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := simulator.Replay(cfg, jobs, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("two replays differ:\n%s", diff)
		}
	})
}

func TestForksOfForksLiveTheSameFuture(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyCluster(t)
		checkForks(t, cfg, anyJobs(t, cfg))
	})
}

func TestForksChangeNothingInTheirParent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyCluster(t)
		jobs := anyJobs(t, cfg)
		want, err := simulator.Replay(cfg, jobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := simulator.New(cfg, jobs)
		if err != nil {
			t.Fatal(err)
		}
		var fork *simulator.Sim
		for more := true; more; _, more = s.Step() {
			fork = s.Fork(fork)
			if rapid.Bool().Draw(t, "stop arrivals") {
				fork.StopArrivals()
			}
			extra := drawJob(t, cfg, 0)
			extra.Begin, extra.CancelAt, extra.Singleton, extra.Nice = 0, 0, 0, 0
			ref, err := fork.Submit(extra)
			if err != nil {
				t.Fatal(err)
			}
			if start, ok := fork.RunUntilStarted(ref, segue.Never); ok && start < s.Now() {
				t.Fatalf("submitted at %s, started at %s", clock(s.Now()), clock(start))
			}
		}
		if diff := cmp.Diff(want, s.Result()); diff != "" {
			t.Errorf("the forks changed their parent (-without +with):\n%s", diff)
		}
	})
}
