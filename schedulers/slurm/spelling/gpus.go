package spelling

import (
	"math"
	"strings"
)

var asNode = strings.NewReplacer("gres:", "", "gres/", "", "=", ":")

// Asked is what a job asked for beyond nodes: lists of generic resources for each
// of something, "gres:gpu:a100:2" or as later versions write it "gres/gpu:a100=2".
//
// Slurm counts GPUs among a job's trackable resources only where the site has
// AccountingStorageTRES=gres/gpu; these lists it shows everywhere.
type Asked struct {
	PerNode, PerJob, PerTask, PerSocket string

	Tasks int // of the whole job; one for a node where it is not known
}

// GPUsPerNode returns the GPUs that a job of so many nodes asked for on each, the
// largest where it asked in several ways. A socket counts as the only one of its
// node, since how many there are is not shown.
func (a Asked) GPUsPerNode(nodes int) int {
	if nodes <= 0 {
		return 0
	}
	tasks := a.Tasks
	if tasks <= 0 || tasks >= math.MaxInt32 { // Slurm's NO_VAL
		tasks = nodes
	}
	return max(
		gpusAsked(a.PerNode), gpusAsked(a.PerSocket),
		Spread(gpusAsked(a.PerJob), nodes), gpusAsked(a.PerTask)*Spread(tasks, nodes),
	)
}

func gpusAsked(list string) int { return GPUsOfNode(asNode.Replace(list)) }

// Spread returns how many of n things are on each of so many nodes, rounded up,
// and 0 without nodes.
func Spread(n, nodes int) int {
	if nodes <= 0 {
		return 0
	}
	return (n + nodes - 1) / nodes
}
