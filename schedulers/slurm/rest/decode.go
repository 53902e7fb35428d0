package rest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// jobRecord is a job as slurmctld shows it, in all versions. What else is there is
// not read.
type jobRecord struct {
	JobID        number  `json:"job_id"`
	ArrayJobID   number  `json:"array_job_id"`
	ArrayTaskID  number  `json:"array_task_id"`
	ArrayTasks   text    `json:"array_task_string"` // "1-3,7%2": pending tasks that share a record
	HetJobID     number  `json:"het_job_id"`
	HetJobOffset number  `json:"het_job_offset"`
	State        words   `json:"job_state"`
	UserName     text    `json:"user_name"`
	UserID       text    `json:"user_id"`
	Account      text    `json:"account"`
	Partition    text    `json:"partition"`
	QOS          text    `json:"qos"`
	NodeCount    number  `json:"node_count"`
	TimeLimit    number  `json:"time_limit"` // minutes
	SubmitTime   number  `json:"submit_time"`
	EligibleTime number  `json:"eligible_time"`
	StartTime    number  `json:"start_time"`
	EndTime      number  `json:"end_time"`
	Priority     number  `json:"priority"`
	StateReason  text    `json:"state_reason"`
	TRESAlloc    text    `json:"tres_alloc_str"`
	TRESReq      text    `json:"tres_req_str"`
	PerNode      text    `json:"tres_per_node"`
	PerJob       text    `json:"tres_per_job"`
	PerTask      text    `json:"tres_per_task"`
	PerSocket    text    `json:"tres_per_socket"`
	Tasks        number  `json:"tasks"`
	Nodes        text    `json:"nodes"`
	Requeue      truth   `json:"requeue"`
	RestartCnt   number  `json:"restart_cnt"`
	ExitCode     exit    `json:"exit_code"`
	Name         text    `json:"name"`
	Comment      comment `json:"comment"`
}

// nodeRecord is a node. 22.05 writes its flags beside its state.
type nodeRecord struct {
	Name       text  `json:"name"`
	Partitions words `json:"partitions"`
	State      words `json:"state"`
	StateFlags words `json:"state_flags"`
	Gres       text  `json:"gres"`
}

// decodeState reads the answers to the questions for jobs and for nodes. An error
// is Unavailable: a list is not there, or nothing in it can be read. An empty list
// of jobs is an idle cluster; an empty list of nodes is none.
func decodeState(jobs, nodes *answer, at segue.Time) (schedulers.State, error) {
	s := schedulers.State{At: at}
	switch {
	case jobs.Jobs == nil:
		return s, segue.Errorf(segue.Unavailable, "slurmrestd: an answer without a list of jobs")
	case len(nodes.Nodes) == 0:
		return s, segue.Errorf(segue.Unavailable, "slurmrestd: an answer without nodes")
	}
	unreadJobs := decodeEach(&s, jobs.Jobs, func(r *jobRecord) error { return r.add(&s) })
	unreadNodes := decodeEach(&s, nodes.Nodes, func(r *nodeRecord) error { return r.add(&s) })
	if len(unreadJobs) > 0 && len(unreadJobs) == len(jobs.Jobs) || len(unreadNodes) == len(nodes.Nodes) {
		return schedulers.State{At: at}, segue.Errorf(segue.Unavailable, "slurmrestd: none of %d jobs or of %d nodes can be read: %s",
			len(jobs.Jobs), len(nodes.Nodes), strings.Join(s.Problems, "; "))
	}
	for _, raw := range unreadJobs {
		addUnread(&s, raw)
	}
	return s, nil
}

// maxProblems bounds how many bad records are told.
const maxProblems = 5

// decodeEach hands out the records of a list. What cannot be read is skipped and
// counted, and returned.
func decodeEach[R any](s *schedulers.State, list []json.RawMessage, use func(*R) error) (unread []json.RawMessage) {
	for _, raw := range list {
		record := new(R)
		err := json.Unmarshal(raw, record)
		if err == nil {
			err = use(record)
		}
		if err == nil {
			continue
		}
		unread = append(unread, raw)
		s.Skipped++
		if len(s.Problems) < maxProblems {
			s.Problems = append(s.Problems, fmt.Sprintf("%s: %v", spelling.Excerpt(raw), err))
		}
	}
	return unread
}

// addUnread adds what is left of a job whose record cannot be read, where there is
// its ID: that it is there, and that its state is not known. Without that it would
// be taken for gone.
func addUnread(s *schedulers.State, raw json.RawMessage) {
	var r struct {
		JobID        number `json:"job_id"`
		ArrayJobID   number `json:"array_job_id"`
		ArrayTaskID  number `json:"array_task_id"`
		HetJobID     number `json:"het_job_id"`
		HetJobOffset number `json:"het_job_offset"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return
	}
	if id, err := jobID(r.JobID, r.ArrayJobID, r.ArrayTaskID, r.HetJobID, r.HetJobOffset); err == nil {
		q := segue.QueuedJob{ID: id, Submit: segue.NoTime, Eligible: segue.NoTime, Start: segue.NoTime}
		s.Jobs = append(s.Jobs, schedulers.Job{QueuedJob: q, EndTime: segue.NoTime})
	}
}

// maxNodes and maxTask are beyond what any Slurm has or allows, and maxTasks what
// a list of tasks may hold before it is left together.
const (
	maxNodes = 1 << 24
	maxTask  = 4_000_001
	maxTasks = 100_000
)

// add adds the job to a state; a record of several pending tasks of an array as so
// many jobs.
func (r *jobRecord) add(s *schedulers.State) error {
	j, err := r.job()
	if err != nil {
		return err
	}
	tasks := r.pendingTasks()
	if tasks == nil {
		s.Jobs = append(s.Jobs, j)
	}
	for _, task := range tasks {
		j.ID = segue.JobID{Number: r.ArrayJobID.value, Sub: task, Kind: segue.ArrayTask}
		s.Jobs = append(s.Jobs, j)
	}
	return nil
}

func (r *jobRecord) job() (schedulers.Job, error) {
	j := schedulers.Job{
		Name: string(r.Name), State: spelling.JobState(r.State...), Nodes: spelling.Hosts(string(r.Nodes)), EndTime: r.EndTime.instant(),
		Comment: string(r.Comment), ExitCode: r.ExitCode.code, Signal: r.ExitCode.signal, Requeueable: bool(r.Requeue),
	}
	if len(r.State) == 0 {
		return j, fmt.Errorf("a job without a state")
	}
	var err error
	if j.ID, err = jobID(r.JobID, r.ArrayJobID, r.ArrayTaskID, r.HetJobID, r.HetJobOffset); err != nil {
		return j, err
	}
	j.User, j.Account, j.Partition, j.QOS = string(r.UserName), string(r.Account), string(r.Partition), string(r.QOS)
	if j.User == "" {
		j.User = string(r.UserID)
	}
	if j.Request.Nodes, err = r.NodeCount.count("nodes", maxNodes); err != nil {
		return j, err
	}
	if j.Restarts, err = r.RestartCnt.count("restarts", 1<<31-1); err != nil {
		return j, err
	}
	j.GPUsPerNode = r.gpusPerNode(j.Request.Nodes)
	j.Limit = r.TimeLimit.minutes()
	j.Submit, j.Eligible, j.Start = r.SubmitTime.instant(), r.EligibleTime.instant(), r.StartTime.instant()
	if j.State == segue.Pending { // it shows when it is expected to start
		j.Start, j.EndTime = segue.NoTime, segue.NoTime
	}
	j.Priority, j.Reason = r.Priority.value, string(r.StateReason)
	return j, nil
}

// gpusPerNode reads the GPUs of what a job has, or asked for while it has nothing.
func (r *jobRecord) gpusPerNode(nodes int) int {
	resources := r.TRESAlloc
	if resources == "" {
		resources = r.TRESReq
	}
	if gpus := spelling.Spread(spelling.GPUs(string(resources)), nodes); gpus > 0 {
		return gpus
	}
	return spelling.Asked{
		PerNode: string(r.PerNode), PerJob: string(r.PerJob), PerTask: string(r.PerTask), PerSocket: string(r.PerSocket),
		Tasks: int(min(r.Tasks.value, math.MaxInt32)),
	}.GPUsPerNode(nodes)
}

// jobID returns a job's identity as squeue shows it.
func jobID(job, array, task, het, offset number) (segue.JobID, error) {
	switch {
	case array.value > 0 && task.set && task.value >= 0 && task.value < maxTask:
		return segue.JobID{Number: array.value, Sub: int32(task.value), Kind: segue.ArrayTask}, nil
	case het.value > 0 && offset.value >= 0 && offset.value < 1<<31:
		return segue.JobID{Number: het.value, Sub: int32(offset.value), Kind: segue.HetComponent}, nil
	case job.value > 0:
		return segue.JobID{Number: job.value}, nil
	}
	return segue.JobID{}, fmt.Errorf("a job without an ID")
}

// pendingTasks returns the tasks of an array that share the record; nil for any
// other job, and where they cannot be told.
func (r *jobRecord) pendingTasks() []int32 {
	if r.ArrayJobID.value <= 0 || r.ArrayTaskID.set || r.ArrayTasks == "" {
		return nil
	}
	var tasks []int32
	list, _, _ := strings.Cut(string(r.ArrayTasks), "%")
	for part := range strings.SplitSeq(list, ",") {
		if part == "..." { // Slurm cuts long lists short
			break
		}
		span, by, stepped := strings.Cut(part, ":")
		from, to, ranged := strings.Cut(span, "-")
		if !ranged {
			to = from
		}
		if !stepped {
			by = "1"
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		step, errStep := strconv.Atoi(by)
		if errA != nil || errB != nil || errStep != nil || a < 0 || step < 1 || b < a || b >= maxTask || len(tasks)+(b-a)/step > maxTasks {
			return nil
		}
		for n := a; n <= b; n += step {
			tasks = append(tasks, int32(n))
		}
	}
	return tasks
}

// add adds the node to a state.
func (r *nodeRecord) add(s *schedulers.State) error {
	if r.Name == "" {
		return fmt.Errorf("a node without a name")
	}
	n := schedulers.Node{Name: string(r.Name), Partitions: r.Partitions, GPUs: spelling.GPUsOfNode(string(r.Gres))}
	n.InService, n.Idle = spelling.NodeState(append(r.State, r.StateFlags...)...)
	s.Nodes = append(s.Nodes, n)
	return nil
}
