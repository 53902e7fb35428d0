package schedulers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// Partitions may share nodes: what runs on them is in the way, wherever it was
// submitted to.
func TestASnapshotShowsOnePartition(t *testing.T) {
	t.Parallel()
	job := func(id int64, partition string, state segue.JobState, nodes ...string) schedulers.Job {
		j := schedulers.Job{State: state, Nodes: nodes}
		j.ID, j.Partition = segue.JobID{Number: id}, partition
		return j
	}
	s := schedulers.State{
		At: noon,
		Nodes: []schedulers.Node{
			{Name: "n1", Partitions: []string{"gpu", "spot"}, GPUs: 4, InService: true},
			{Name: "n2", Partitions: []string{"gpu"}, GPUs: 4, InService: false},
			{Name: "n3", Partitions: []string{"cpu"}, InService: true},
		},
		Jobs: []schedulers.Job{
			job(1, "gpu", segue.Running, "n1"), job(2, "spot", segue.Running, "n1"), job(3, "cpu", segue.Running, "n3"),
			job(4, "gpu", segue.Pending), job(5, "cpu", segue.Pending), job(6, "gpu", segue.Completed, "n1"), job(7, "gpu", segue.StateUnknown),
		},
	}
	ids := func(list []segue.QueuedJob) []int64 {
		var out []int64
		for _, q := range list {
			out = append(out, q.ID.Number)
		}
		return out
	}
	gpu, all := s.Snapshot("gpu"), s.Snapshot("")
	if gpu.Nodes != 1 || gpu.GPUsPerNode != 4 || gpu.At != noon || all.Nodes != 2 {
		t.Errorf("%d nodes of %d GPUs in gpu, %d in all; want 1 of 4, and 2", gpu.Nodes, gpu.GPUsPerNode, all.Nodes)
	}
	for name, tt := range map[string]struct{ want, got []int64 }{
		"running in gpu": {[]int64{1, 2}, ids(gpu.Running)}, "pending in gpu": {[]int64{4}, ids(gpu.Pending)},
		"running in all": {[]int64{1, 2, 3}, ids(all.Running)}, "pending in all": {[]int64{4, 5}, ids(all.Pending)},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
