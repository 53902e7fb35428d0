package schedulers

import (
	"slices"

	"github.com/segue-project/segue"
)

// Snapshot returns what the state shows of one partition: its nodes in service,
// and the jobs that wait for it or run on its nodes, from whatever partition.
// An empty partition is all nodes and jobs.
func (s *State) Snapshot(partition string) segue.Snapshot {
	snap := segue.Snapshot{At: s.At}
	own := map[string]bool{}
	for _, n := range s.Nodes {
		if partition != "" && !slices.Contains(n.Partitions, partition) {
			continue
		}
		own[n.Name] = true
		if n.InService {
			snap.Nodes++
			snap.GPUsPerNode = max(snap.GPUsPerNode, n.GPUs)
		}
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		here := partition == "" || j.Partition == partition || slices.ContainsFunc(j.Nodes, func(n string) bool { return own[n] })
		switch {
		case !here:
		case j.State == segue.Running || j.State == segue.Suspended:
			snap.Running = append(snap.Running, j.QueuedJob)
		case j.State == segue.Pending || j.State == segue.Requeued:
			snap.Pending = append(snap.Pending, j.QueuedJob)
		}
	}
	return snap
}

// Carrying returns the jobs whose comment carries the token.
func (s *State) Carrying(token string) []segue.JobID {
	var found []segue.JobID
	for i := range s.Jobs {
		if t, _, _, _, ok := segue.FindToken(s.Jobs[i].Comment); ok && t == token {
			found = append(found, s.Jobs[i].ID)
		}
	}
	return found
}
