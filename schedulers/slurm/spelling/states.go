package spelling

import (
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// JobState returns the state of a job that Slurm describes by one word or by
// several, a base state and flags: "RUNNING", or "CANCELLED" and "COMPLETING". A
// job on its way between states is still there. Of words that are not known none
// counts.
func JobState(words ...string) segue.JobState {
	base := segue.StateUnknown
	for _, w := range words {
		if s := segue.ParseJobState(strings.ToUpper(w)); base == segue.StateUnknown {
			base = s
		}
	}
	for _, way := range passing {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(way.words, strings.ToUpper(w)) }) {
			return way.state
		}
	}
	return base
}

// passing are the flags of jobs on their way between states. The first that a job
// has counts, as for squeue.
var passing = []struct {
	words []string
	state segue.JobState
}{
	{[]string{"COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING"}, segue.Running},
	{[]string{"REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}, segue.Requeued},
	{[]string{"STOPPED", "SIGNALING"}, segue.Running},
}

// NodeState tells whether a node takes jobs, and whether it has none, by the
// words of its state: "idle+drain", "mixed*", or "IDLE" and "DRAIN".
func NodeState(words ...string) (inService, idle bool) {
	base, flags := strings.ToLower(strings.Join(words, "+")), ""
	if i := strings.IndexAny(base, "+*~#!%$@^-"); i > 0 {
		base, flags = base[:i], base[i:]
	}
	switch base {
	case "idle", "allocated", "mixed", "completing", "planned", "blocked":
		inService = !strings.ContainsAny(flags, "*$@^!%~#") &&
			!slices.ContainsFunc(outOfService, func(f string) bool { return strings.Contains(flags, f) })
	}
	return inService, inService && (base == "idle" || base == "planned") && !strings.Contains(flags, "completing")
}

// outOfService are parts of the flags of nodes that take no jobs.
var outOfService = []string{"drain", "maint", "down", "fail", "not_responding", "power", "reboot_issued", "invalid"}
