package spelling

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

var noon = segue.Seconds(1676376000)

func TestListsOfNodes(t *testing.T) {
	t.Parallel()
	tests := map[string][]string{
		"":                    nil,
		"n1":                  {"n1"},
		"n[1-3,07-08],login":  {"n1", "n2", "n3", "n07", "n08", "login"},
		"r[1-2]n[3-4]":        {"r1n3", "r2n3", "r1n4", "r2n4"},
		"n[098-101]-ib":       {"n098-ib", "n099-ib", "n100-ib", "n101-ib"},
		"n[1-99999999999999]": {"n[1-99999999999999]"},
		"n[3-1]":              {"n[3-1]"},
		"n[1-2":               {"n[1-2"},
	}
	for list, want := range tests {
		if diff := cmp.Diff(want, Hosts(list)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", list, diff)
		}
	}
}

// Report 18 and the many spellings of one thing.
func TestFields(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"cpu=8,gres/gpu=4": 4, "gres/gpu=4,gres/gpu:a100=4": 4, "gres/gpu:a100=2,gres/gpu:t4=1": 3, "cpu=1": 0, "": 0, "gres/gpumem=80G": 0,
	} {
		if got := GPUs(s); got != want {
			t.Errorf("%q has %d GPUs, want %d", s, got, want)
		}
	}
	for asked, want := range map[Asked]int{
		{PerNode: "gres:gpu:4"}: 4, {PerNode: "gres:gpu"}: 1, {PerNode: "gres/gpu:a100=2,gres/shard=8"}: 2, {PerNode: "gpu:a100:2(S:0)"}: 2,
		{PerJob: "gres:gpu:3"}: 2, {PerTask: "gres:gpu:1", Tasks: 6}: 3, {PerTask: "gres:gpu:1"}: 1, {PerSocket: "gres:gpu:2"}: 2,
		{PerNode: "N/A", PerJob: "(null)"}: 0, {}: 0,
	} {
		if got := asked.GPUsPerNode(2); got != want {
			t.Errorf("%+v is %d GPUs on each of two nodes, want %d", asked, got, want)
		}
	}
	for s, want := range map[string][2]int{"0": {0, 0}, "256": {1, 0}, "9": {0, 9}, "3:0": {3, 0}, "0:15": {0, 15}, "": {0, 0}, "x": {0, 0}} {
		if code, signal := ExitStatus(s); code != want[0] || signal != want[1] {
			t.Errorf("exit status %q is %d and signal %d, want %v", s, code, signal, want)
		}
	}
	for s, want := range map[string]segue.Time{
		"1676376000": noon, "2023-02-14T12:00:00": noon, "N/A": segue.NoTime, "Unknown": segue.NoTime, "": segue.NoTime, "0": segue.NoTime,
	} {
		if got, err := Instant(s); err != nil || got != want {
			t.Errorf("time %q is %s, %v; want %s", s, got, err, want)
		}
	}
	if _, err := Instant("noon"); err == nil {
		t.Error("noon is read as a time")
	}
}

func TestStatesOfOneWordAndOfSeveral(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[segue.JobState][][]string{
		segue.Running:      {{"RUNNING"}, {"running"}, {"COMPLETING"}, {"CANCELLED", "COMPLETING"}, {"RUNNING", "CONFIGURING"}, {"RUNNING", "POWER_UP_NODE"}},
		segue.Pending:      {{"PENDING"}, {"PENDING", "LAUNCH_FAILED"}},
		segue.Requeued:     {{"REQUEUED"}, {"PENDING", "REQUEUED"}, {"PENDING", "REQUEUE_HOLD"}, {"SPECIAL_EXIT"}},
		segue.Cancelled:    {{"CANCELLED"}, {"CANCELLED by 1000"}, {"CANCELLED", "REVOKED"}},
		segue.OutOfMemory:  {{"OUT_OF_MEMORY"}},
		segue.StateUnknown: {{"COMPLETINGINVALID"}, {""}, {}, {"SOMETHING_NEW"}},
	} {
		for _, words := range spellings {
			if got := JobState(words...); got != want {
				t.Errorf("%q is %s, want %s", words, got, want)
			}
		}
	}
}

func TestNodesInWordsAndInSymbols(t *testing.T) {
	t.Parallel()
	tests := []struct {
		words           []string
		inService, idle bool
	}{
		{[]string{"IDLE"}, true, true},
		{[]string{"IDLE", "CLOUD", "DYNAMIC_NORM"}, true, true},
		{[]string{"MIXED", "PLANNED"}, true, false},
		{[]string{"ALLOCATED", "COMPLETING"}, true, false},
		{[]string{"IDLE", "COMPLETING"}, true, false},
		{[]string{"IDLE", "DRAIN"}, false, false},
		{[]string{"DOWN+DRAIN"}, false, false},
		{[]string{"IDLE", "MAINTENANCE", "RESERVED"}, false, false},
		{[]string{"IDLE", "POWERED_DOWN"}, false, false},
		{[]string{"IDLE", "REBOOT_ISSUED"}, false, false},
		{[]string{"IDLE", "INVALID_REG"}, false, false},
		{[]string{"FUTURE"}, false, false},
		{[]string{"idle*"}, false, false},
		{nil, false, false},
	}
	for _, tt := range tests {
		if inService, idle := NodeState(tt.words...); inService != tt.inService || idle != tt.idle {
			t.Errorf("%q: in service %t, idle %t; want %t, %t", tt.words, inService, idle, tt.inService, tt.idle)
		}
	}
}

// Some of what there is no answer to may have been done all the same, and all of
// it is no answer.
func TestMessages(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind      segue.Kind
		arrived   bool
		temporary bool
	}{
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation":                                {kind: segue.Unavailable, arrived: true},
		"Zero Bytes were transmitted or received":                                                                            {kind: segue.Unavailable, arrived: true},
		"Unexpected message received":                                                                                        {kind: segue.Unavailable, arrived: true},
		"slurm_load_jobs error: Unable to contact slurm controller (connect failure)":                                        {kind: segue.Unavailable},
		"Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)": {kind: segue.Other, temporary: true},
		"Invalid job id specified":                                                                                           {kind: segue.NotFound},
		"Job/step already completing or completed":                                                                           {kind: segue.Conflict},
		"Invalid partition name specified":                                                                                   {kind: segue.Invalid},
		"Access/permission denied":                                                                                           {kind: segue.Invalid},
	}
	for message, want := range tests {
		if kind, arrived, temporary := KindOf(message), MayHaveArrived(message), Temporary(message); kind != want.kind || arrived != want.arrived || temporary != want.temporary {
			t.Errorf("%q: kind %s, arrived %t, temporary %t; want %s, %t, %t", message, kind, arrived, temporary, want.kind, want.arrived, want.temporary)
		}
	}
}
