package simulator

import (
	"time"

	"github.com/segue-project/segue"
)

// Workload is a job history made ready for a replay.
type Workload struct {
	Jobs []Job
	// History holds, for each of Jobs, its index in the history.
	History []int
	// Users names what the jobs hold as indices, for Config.Users.
	Users []string
	// Instants counts records with neither run time nor processors: they
	// replay as one-second jobs.
	Instants int
	// Clipped counts jobs that asked for more nodes than there are.
	Clipped int
	// Unlimited counts jobs without a known limit; their run time is taken.
	Unlimited int
}

// FromHistory turns a history into a workload for one pool of nodes.
//
// The rules are those of the reference schedules: a record without run time or
// nodes becomes a job of one second and one node at least; otherwise the limit
// is at least the run time, and both are at least one second. Nodes are clipped
// to the pool. A job without a known limit, or with none, gets its run time. A
// record without a submission instant is an error of kind Invalid.
func FromHistory(history []segue.Job, nodes int) (Workload, error) {
	w := Workload{Jobs: make([]Job, 0, len(history)), History: make([]int, 0, len(history))}
	users := map[string]int32{}
	for i := range history {
		h := &history[i]
		if !h.Submit.Known() {
			return Workload{}, segue.Errorf(segue.Invalid, "history: job %s has no submission time", h.ID)
		}
		w.Jobs = append(w.Jobs, w.convert(h, nodes, w.user(users, h.User)))
		w.History = append(w.History, i)
	}
	return w, nil
}

func (w *Workload) convert(h *segue.Job, nodes int, user int32) Job {
	j := Job{Submit: h.Submit, Run: h.Run(), Limit: h.Limit, Nodes: h.Nodes, User: user, Fails: h.ExitCode != 0 || h.Signal != 0}
	if j.Run <= 0 || j.Nodes <= 0 {
		w.Instants++
		j.Run, j.Limit, j.Nodes = time.Second, time.Second, max(j.Nodes, 1)
	}
	if j.Limit <= 0 || j.Limit == segue.Unlimited {
		w.Unlimited++
		j.Limit = j.Run
	}
	run := max(min(j.Run, j.Limit), time.Second)
	j.Limit = max(j.Limit, j.Run, time.Second)
	j.Run = run
	if int(j.Nodes) > nodes {
		w.Clipped++
		j.Nodes = int32(nodes)
	}
	return j
}

func (w *Workload) user(index map[string]int32, name string) int32 {
	i, ok := index[name]
	if !ok {
		i = int32(len(w.Users))
		index[name] = i
		w.Users = append(w.Users, name)
	}
	return i
}
