package trainer

import (
	"github.com/segue-project/segue/simulator"
)

// Replay is a history made ready for a simulated cluster.
type Replay struct {
	// Name is stable: "plain" for the jobs as they were submitted, "faithful"
	// for the replay that also knows the inferred caps and dependencies.
	Name    string
	Cluster simulator.Config // of one pool
	Jobs    []simulator.Job
}
