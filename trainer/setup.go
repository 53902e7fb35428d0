package trainer

import (
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/simulator"
)

// Setup says which chain is probed on which cluster. Zero fields but Cluster,
// Jobs and Pair have defaults.
type Setup struct {
	Cluster simulator.Config // of one pool
	Jobs    []simulator.Job  // the replayed history
	Pair    segue.Shape      // both jobs of a pair
	Grid    outcomes.Grid    // default every 30 minutes, up to the whole limit
	// MonteCarlo sets up that forecaster.
	MonteCarlo predictor.MonteCarloConfig
	// Forecasters names those to ask; default all.
	Forecasters []string
	// Known is the cluster as the forecasters believe it to be; default Cluster.
	// A stress run changes one and not the other. KnownJobs likewise are the jobs
	// with the priorities that they are shown; default Jobs.
	Known     *simulator.Config
	KnownJobs []simulator.Job
	// Describe adds the features that learned forecasts and policies read. The
	// forecasters of predictor.Sources are asked then in any case.
	Describe bool
	Workers  int // default the number of processors
}

func (s Setup) withDefaults() Setup {
	if s.Workers == 0 {
		s.Workers = runtime.GOMAXPROCS(0)
	}
	users := int(s.owner())
	names := append([]string(nil), s.Cluster.Users...)
	for i := len(names); i < users; i++ {
		names = append(names, strconv.Itoa(i))
	}
	s.Cluster.Users = append(names[:users:users], owner)
	known := s.Cluster
	if s.Known != nil {
		known = *s.Known
		known.Users = s.Cluster.Users
	}
	s.Known = &known
	return s
}

// owner returns the index of the user whose chain is probed: one that the
// history does not know.
func (s Setup) owner() int32 {
	users := int32(0)
	for i := range s.Jobs {
		users = max(users, s.Jobs[i].User+1)
	}
	return users
}

func (s Setup) validate() error {
	switch {
	case len(s.Cluster.Pools) != 1:
		return segue.Errorf(segue.Invalid, "the cluster has %d pools, want 1", len(s.Cluster.Pools))
	case len(s.Jobs) == 0:
		return segue.Errorf(segue.Invalid, "the history has no jobs")
	case s.Workers < 0:
		return segue.Errorf(segue.Invalid, "%d workers, want 1 or more, or 0 for as many as there are processors", s.Workers)
	case s.Pair.Limit == segue.Unlimited:
		return segue.Errorf(segue.Invalid, "a pair without a time limit, of which neither job ever ends")
	case s.Pair.Nodes > s.Cluster.Pools[0].Nodes:
		return segue.Errorf(segue.Invalid, "a pair of %d nodes on a cluster of %d", s.Pair.Nodes, s.Cluster.Pools[0].Nodes)
	}
	if err := s.Grid.Validate(); err != nil {
		return err
	}
	return s.request().Validate()
}

// owner is the name of the user whose chain is probed. It has a space, which no
// user of a cluster's history has.
const owner = "the chain"

// link returns a job of the pair.
func (s Setup) link() simulator.Job {
	return simulator.Job{
		Run: s.Pair.Limit, Limit: s.Pair.Limit, Nodes: int32(s.Pair.Nodes), GPUsPerNode: int32(s.Pair.GPUsPerNode),
		User: s.owner(), QOS: qosFor(s.Cluster, s.Pair.Nodes),
	}
}

func (s Setup) request() segue.Request {
	r := segue.Request{Shape: s.Pair, User: owner}
	if len(s.Cluster.QOS) > 0 {
		r.QOS = s.Cluster.QOS[s.link().QOS].Name
	}
	return r
}

// forecasters returns a worker's own set, in a fixed order.
func (s Setup) forecasters() ([]predictor.Forecaster, error) {
	list, err := predictor.NewSources(*s.Known, s.MonteCarlo)
	if err != nil {
		return nil, err
	}
	clairvoyant, err := predictor.NewForward(*s.Known, trueRunTimes{s.Jobs})
	if err != nil {
		return nil, err
	}
	list = append(list, clairvoyant)
	if s.Forecasters == nil {
		return list, nil
	}
	wanted := slices.Clone(s.Forecasters)
	if slices.Contains(wanted, policy.Corrected) {
		wanted = append(wanted, predictor.MonteCarloName)
	}
	if s.Describe {
		wanted = append(wanted, predictor.Sources()...)
	}
	return slices.DeleteFunc(list, func(f predictor.Forecaster) bool { return !slices.Contains(wanted, f.Name()) }), nil
}

// trueRunTimes knows what nobody can know: how long each job will run. It shows
// how much of the loss is due to run times; its name says so.
type trueRunTimes struct{ jobs []simulator.Job }

// Name returns "true".
func (trueRunTimes) Name() string { return "true" }

// Suppose implements predictor.RunTimes.
func (t trueRunTimes) Suppose(now *predictor.Present, out []time.Duration) []time.Duration {
	out = out[:0]
	for _, list := range [2][]segue.QueuedJob{now.Snapshot.Running, now.Snapshot.Pending} {
		for i := range list {
			run := list[i].Limit
			if n := list[i].ID.Number; n < int64(len(t.jobs)) {
				run = min(t.jobs[n].Run, run)
			}
			out = append(out, run)
		}
	}
	return out
}

// believe returns the snapshot with the number of nodes in service and the
// priorities that the forecasters believe in.
func (s Setup) believe(snap segue.Snapshot) segue.Snapshot {
	snap.Nodes += s.Known.Pools[0].Nodes - s.Cluster.Pools[0].Nodes
	for i := range snap.Pending {
		if n := snap.Pending[i].ID.Number; n < int64(len(s.KnownJobs)) {
			snap.Pending[i].Priority = -int64(s.KnownJobs[n].Nice)
		}
	}
	return snap
}
