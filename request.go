package segue

import (
	"fmt"
	"time"
)

// Shape is the part of a request that decides where a job fits.
type Shape struct {
	Nodes int
	// GPUsPerNode is the number of GPUs taken on each node; 0 takes whole
	// nodes.
	GPUsPerNode int
	Limit       time.Duration
}

// String returns for example "8 nodes x 48h0m0s" or "1 node (2 GPUs) x unlimited".
func (s Shape) String() string {
	gpus, limit := "", s.Limit.String()
	if s.GPUsPerNode > 0 {
		gpus = " (" + count(s.GPUsPerNode, "GPU") + ")"
	}
	if s.Limit == Unlimited {
		limit = "unlimited"
	}
	return count(s.Nodes, "node") + gpus + " x " + limit
}

// count returns for example "1 node" or "8 nodes".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Request is what a submission asks of the scheduler.
type Request struct {
	Shape
	User      string
	Account   string
	Partition string
	QOS       string
}

// Validate refuses a request that no cluster could run.
func (r Request) Validate() error {
	switch {
	case r.Nodes < 1:
		return Errorf(Invalid, "request: nodes is %d, want at least 1", r.Nodes)
	case r.GPUsPerNode < 0:
		return Errorf(Invalid, "request: GPUs per node is %d, want 0 (whole nodes) or more", r.GPUsPerNode)
	case r.Limit <= 0:
		return Errorf(Invalid, "request: time limit is %s, want more than 0", r.Limit)
	}
	return nil
}
