package sbatch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
)

// request reads what the job asks for. What only the scheduler knows stays zero
// and is named in Open.
func (j *Job) request() {
	s := j.Settings
	r := &j.Request
	r.Account, r.Partition, r.QOS = s.Value("account"), s.Value("partition"), s.Value("qos")
	j.nodes()
	j.gpus()
	if !s.Has("time") {
		j.Open = append(j.Open, "time limit")
		return
	}
	limit, err := segue.ParseLimit(s.Value("time"))
	if err != nil {
		j.Refused = append(j.Refused, s["time"].Place+": "+err.Error())
		return
	}
	r.Limit = limit
}

// nodes reads the number of nodes. Of a range the least is taken: that many the
// scheduler waits for, and more it gives only when they are free.
func (j *Job) nodes() {
	s := j.Settings
	tasks, tasksKnown := count(s, "ntasks")
	perNode, perNodeKnown := count(s, "ntasks-per-node")
	switch {
	case s.Has("nodes"):
		least, most, err := parseNodes(s.Value("nodes"))
		switch {
		case err != nil:
			j.Refused = append(j.Refused, s["nodes"].Place+": "+err.Error())
		case most != least:
			j.Open = append(j.Open, fmt.Sprintf("nodes (%d to %d)", least, most))
		}
		j.Request.Nodes = least
	case s.Has("nodelist") || s.Has("nodefile"):
		j.Open = append(j.Open, "nodes")
	case tasksKnown && perNodeKnown:
		j.Request.Nodes = (tasks + perNode - 1) / perNode
	case tasksKnown && tasks > 1 || s.Has("gpus") || s.Has("gpus-per-task"):
		j.Open = append(j.Open, "nodes")
	default:
		j.Request.Nodes = 1
	}
}

// parseNodes reads "4", "2-4" or "1k". Newer versions take lists of counts such
// as "2,4,8" and steps "2-8:2" too.
func parseNodes(text string) (least, most int, err error) {
	for i, part := range strings.Split(text, ",") {
		part, _, _ = strings.Cut(part, ":")
		from, to, isRange := strings.Cut(part, "-")
		low, okLow := nodeCount(from)
		high, okHigh := low, okLow
		if isRange {
			high, okHigh = nodeCount(to)
		}
		if from == "" && isRange { // "-4" is 1 to 4
			low, okLow = 1, true
		}
		if !okLow || !okHigh || high < low {
			return 0, 0, segue.Errorf(segue.Invalid, "%q nodes, want a number or a range such as 2-4", text)
		}
		if i == 0 {
			least = low
		}
		least, most = min(least, low), max(most, high)
	}
	return least, most, nil
}

// nodeCount reads a number of nodes, of which k is 1024 and m its square.
func nodeCount(text string) (int, bool) {
	unit := 1
	if text != "" {
		switch text[len(text)-1] {
		case 'k', 'K':
			text, unit = text[:len(text)-1], 1<<10
		case 'm', 'M':
			text, unit = text[:len(text)-1], 1<<20
		}
	}
	n, err := strconv.ParseUint(text, 10, 31-10)
	return int(n) * unit, err == nil
}

// gpus reads the number of GPUs on each node: 0 for whole nodes or for none. A
// number for all nodes or for each task is divided up when that comes out even.
func (j *Job) gpus() {
	s := j.Settings
	tasks, tasksKnown := count(s, "ntasks")
	perNode, perNodeKnown := count(s, "ntasks-per-node")
	nodes := j.Request.Nodes
	unknown := func() { j.Open = append(j.Open, "GPUs on each node") }
	var gpus int
	switch {
	case s.Has("gpus-per-node"):
		gpus = gpuCount(s.Value("gpus-per-node"))
	case gresGPUs(s.Value("gres")) > 0:
		gpus = gresGPUs(s.Value("gres"))
	case s.Has("gpus-per-task"):
		each := gpuCount(s.Value("gpus-per-task"))
		switch {
		case perNodeKnown:
			gpus = each * perNode
		case tasksKnown && nodes > 0 && tasks%nodes == 0:
			gpus = each * (tasks / nodes)
		case nodes > 0 && !tasksKnown: // one task on each node
			gpus = each
		default:
			unknown()
		}
	case s.Has("gpus"):
		all := gpuCount(s.Value("gpus"))
		if nodes == 0 || all%nodes != 0 {
			unknown()
			return
		}
		gpus = all / nodes
	case s.Has("gpus-per-socket") || s.Has("tres-per-task") || s.Has("tres-per-node"):
		unknown()
	}
	if s.Has("exclusive") && s.Value("exclusive") == "" && gpus > 0 {
		gpus = 0 // whole nodes are taken, whatever is asked of them
	}
	j.Request.GPUsPerNode = gpus
}

// gpuCount adds up "4", "a100:4", "a100" (1) and lists of these.
func gpuCount(text string) int {
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		sum += lastNumber(part)
	}
	return sum
}

// gresGPUs adds up the GPUs of a list of generic resources: "gpu:4",
// "gpu:a100:4,lustre:1", "gres/gpu:2", "gpu" (1).
func gresGPUs(text string) int {
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimPrefix(strings.TrimPrefix(part, "gres:"), "gres/")
		part, _, _ = strings.Cut(part, "(") // "(S:0)" names sockets
		name, rest, more := strings.Cut(strings.Replace(part, "=", ":", 1), ":")
		switch {
		case name != "gpu":
		case !more:
			sum++
		default:
			sum += lastNumber(rest)
		}
	}
	return sum
}

// lastNumber returns the number after the last colon, or 1 when that is a name.
func lastNumber(text string) int {
	text = strings.Replace(text, "=", ":", 1)
	n, err := strconv.ParseUint(text[strings.LastIndexByte(text, ':')+1:], 10, 20)
	if err != nil {
		return min(1, len(text))
	}
	return int(n)
}

// count returns the value of an option that is a number of 1 or more.
func count(s Settings, option string) (int, bool) {
	n, err := strconv.ParseUint(s.Value(option), 10, 30)
	return int(n), err == nil && n > 0
}
