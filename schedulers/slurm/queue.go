package slurm

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Fields are separated by the ASCII unit separator, records by the record separator.
// Users may put both into the names and comments of their jobs, also on purpose: so one of
// squeue ends with a word besides that nobody knows. It is in the environment of squeue,
// which is its user's alone to see, and not on its command line, which everybody sees.
const (
	unit   = "\x1f"
	record = "\x1e"
)

// queueFormat is the variable that tells squeue what --Format does.
const queueFormat = "SQUEUE_FORMAT2"

// secret returns a word that cannot be guessed.
func secret() string { return rand.Text()[:16] }

// queueFields are what squeue is asked for. What users write comes last, from Account on,
// so that a separator in it spoils nothing else.
var queueFields = []string{
	"JobArrayID", "State", "UserID", "UserName", "Partition", "NumNodes", "TimeLimit", "SubmitTime", "EligibleTime", "StartTime", "EndTime",
	"PriorityLong", "Reason", "tres-alloc", "NodeList", "Requeue", "RestartCnt", "exit_code", "NumTasks",
	"Account", "QOS", "tres-per-node", "tres-per-job", "tres-per-task", "tres-per-socket", "Name", "Comment",
}

// nodeFields are what sinfo is asked for: a record for every node and partition.
var nodeFields = []string{"NodeList", "PartitionName", "StateComplete", "Gres"}

// format returns the value of --Format that asks for fields without padding, and
// for the end after the last one.
func format(fields []string, end string) string {
	var b strings.Builder
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f + ":0" + map[bool]string{true: end, false: unit}[i == len(fields)-1])
	}
	return b.String()
}

// State asks squeue, and sinfo when what it said last is older than
// Config.NodesFresh. Jobs that have ended and are still remembered are in it too,
// with their state.
func (d *Driver) State(ctx context.Context) (schedulers.State, error) {
	s := schedulers.State{At: d.cfg.Now()}
	end := record + secret()
	jobs, err := d.runWith(ctx, []string{queueFormat + "=" + format(queueFields, end)}, "squeue", "--noheader", "--array", "--all", "--states=all")
	if err != nil {
		return s, err
	}
	nodes, err := d.showNodes(ctx, s.At)
	if err != nil {
		return s, err
	}
	if err := records(jobs, end, len(queueFields), &s, func(f []string) error { return addJob(&s, f) }); err != nil {
		return s, fmt.Errorf("squeue: %w", err)
	}
	doubtTwins(s.Jobs)
	s.Nodes = nodes.Nodes
	s.Skipped += nodes.Skipped
	s.Problems = append(s.Problems, nodes.Problems...)
	return s, nil
}

// doubtTwins has nobody believe records of one number, of which only one can be true.
func doubtTwins(jobs []schedulers.Job) {
	first := make(map[segue.JobID]int, len(jobs))
	for i := range jobs {
		if twin, twice := first[jobs[i].ID]; twice {
			for _, k := range []int{twin, i} {
				jobs[k].State, jobs[k].User = segue.StateUnknown, ""
			}
		} else {
			first[jobs[i].ID] = i
		}
	}
}

// showNodes returns a state of nodes only, which nobody may change.
func (d *Driver) showNodes(ctx context.Context, now segue.Time) (schedulers.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.nodes.Nodes) > 0 && now.Sub(d.nodes.At).Abs() < d.cfg.NodesFresh {
		return d.nodes, nil
	}
	s := schedulers.State{At: now}
	out, err := d.run(ctx, "sinfo", "--noheader", "--Node", "--all", "--Format="+format(nodeFields, record))
	if err != nil {
		return s, err
	}
	if err := records(out, record, len(nodeFields), &s, func(f []string) error { return addNode(&s, f) }); err != nil {
		return s, fmt.Errorf("sinfo: %w", err)
	}
	if len(s.Nodes) == 0 {
		return s, segue.Errorf(segue.Unavailable, "sinfo shows no node: %s", spelling.Excerpt(out))
	}
	d.nodes = s
	return s, nil
}

// maxProblems bounds how many bad records are told.
const maxProblems = 5

// records hands out the fields of every record of an answer, each of which ends with
// end. Records that cannot be read are skipped and counted; text before the first record (a site's
// banner) is dropped; an answer that ends within a record is an error.
func records(out []byte, end string, fields int, s *schedulers.State, use func(f []string) error) error {
	text := string(out)
	whole := strings.TrimRight(text, " \r\n")
	if whole != "" && !strings.HasSuffix(whole, end) {
		return segue.Errorf(segue.Unavailable, "the answer is not whole: it ends with %s", spelling.Excerpt([]byte(whole[max(0, len(whole)-40):])))
	}
	for rec := range strings.SplitSeq(whole, end) {
		if rec = strings.TrimLeft(rec, "\r\n"); rec == "" {
			continue
		}
		f := strings.SplitN(rec, unit, fields)
		if len(f) == fields {
			if i := strings.LastIndexByte(f[0], '\n'); i >= 0 {
				f[0] = f[0][i+1:]
			}
		}
		err := fmt.Errorf("%d fields, want %d", len(f), fields)
		if len(f) == fields {
			err = use(f)
		}
		if err != nil {
			s.Skipped++
			if len(s.Problems) < maxProblems {
				s.Problems = append(s.Problems, fmt.Sprintf("%s: %v", spelling.Excerpt([]byte(rec)), err))
			}
		}
	}
	return nil
}

// addJob adds a record of squeue. One of which only the number can be read is there
// all the same, in no known state, so that nobody takes the job for gone.
func addJob(s *schedulers.State, f []string) error {
	id, err := segue.ParseJobID(f[0])
	if err != nil {
		return err
	}
	j, err := readJob(id, f)
	if err != nil {
		j.State = segue.StateUnknown
	}
	s.Jobs = append(s.Jobs, j)
	return err
}

func readJob(id segue.JobID, f []string) (j schedulers.Job, err error) {
	j = schedulers.Job{Name: spelling.Text(f[25]), Comment: spelling.Text(f[26]), Requeueable: f[15] == "1" || f[15] == "yes"}
	j.ID = id
	j.State = spelling.JobState(f[1])
	j.User, j.Partition, j.Reason = userOf(f[2], spelling.Text(f[3])), spelling.Text(f[4]), spelling.Text(f[12])
	j.Account, j.QOS = spelling.Text(f[19]), spelling.Text(f[20])
	if j.Request.Nodes, err = strconv.Atoi(f[5]); err != nil {
		return j, fmt.Errorf("nodes %q", f[5])
	}
	if j.Limit, err = spelling.Limit(f[6]); err != nil {
		return j, err
	}
	for i, at := range []*segue.Time{&j.Submit, &j.Eligible, &j.Start, &j.EndTime} {
		if *at, err = spelling.Instant(f[7+i]); err != nil {
			return j, err
		}
	}
	j.Priority, _ = strconv.ParseInt(f[11], 10, 64)
	if j.GPUsPerNode = spelling.Spread(spelling.GPUs(f[13]), j.Request.Nodes); j.GPUsPerNode == 0 {
		asked := spelling.Asked{PerNode: f[21], PerJob: f[22], PerTask: f[23], PerSocket: f[24]}
		asked.Tasks, _ = strconv.Atoi(f[18])
		j.GPUsPerNode = asked.GPUsPerNode(j.Request.Nodes)
	}
	j.Nodes = spelling.Hosts(spelling.Text(f[14]))
	j.Restarts, _ = strconv.Atoi(f[16])
	j.ExitCode, j.Signal = spelling.ExitStatus(f[17])
	if j.State == segue.Pending { // squeue shows when it is expected to start
		j.Start, j.EndTime = segue.NoTime, segue.NoTime
	}
	return j, nil
}

// userOf returns the name of a user, empty where squeue does not know it. It then says
// nobody, or from 23.02 on the number, also of all users while the directory of users is
// away.
func userOf(number, name string) string {
	if name == number || name == "nobody" && number != "65534" && number != "99" {
		return ""
	}
	return name
}

// addNode adds a record of sinfo: a node has one for every partition.
func addNode(s *schedulers.State, f []string) error {
	if f[0] == "" {
		return fmt.Errorf("a node without a name")
	}
	partition := strings.TrimSuffix(f[1], "*")
	if n := len(s.Nodes); n > 0 && s.Nodes[n-1].Name == f[0] {
		s.Nodes[n-1].Partitions = append(s.Nodes[n-1].Partitions, partition)
		return nil
	}
	node := schedulers.Node{Name: f[0], Partitions: []string{partition}, GPUs: spelling.GPUsOfNode(f[3])}
	node.InService, node.Idle = spelling.NodeState(f[2])
	s.Nodes = append(s.Nodes, node)
	return nil
}
