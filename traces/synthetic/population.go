package synthetic

import (
	"fmt"
	"math"
	"time"

	"github.com/segue-project/segue"
)

// user is one person: how much they do, with which scripts.
type user struct {
	name    string
	account string
	// activity is the rate of the user's sessions beside that of others; engaged
	// says whether the user works on the cluster this week at all.
	activity float64
	engaged  bool
	chains   bool // submits chains of jobs
	scripts  []script
	pick     table   // over scripts
	cost     float64 // expected node-hours of a session

	running, queued int // jobs now, by the scheduler
	campaigns       int // chains begun, for their names
}

// script is one job script: what it asks for, and how its runs turn out.
type script struct {
	name  string
	nodes int
	gpus  int // of one shared node; 0 takes whole nodes
	limit time.Duration

	fast    float64 // probability that a run ends within a minute
	timeout float64 // probability that it runs into its limit
	power   float64 // otherwise run/limit is u^power, u uniform
}

// sizes are the nodes of a job, and how often (per mille) each is asked for.
var sizes = []weighted[int]{
	{1, 800}, {2, 66}, {3, 33}, {4, 77}, {6, 3}, {8, 6}, {12, 5}, {16, 8}, {32, 1}, {64, 0.3},
}

// limits are the time limits of jobs, in minutes, and how often each is asked
// for: round values, a quarter of them the longest that there is.
var limits = []weighted[int]{
	{2880, 225},
	{30, 99},
	{120, 85},
	{1440, 82},
	{60, 67},
	{90, 48},
	{720, 33},
	{180, 29},
	{240, 29},
	{300, 25},
	{600, 24},
	{1200, 21},
	{360, 19},
	{480, 18},
	{10, 16},
	{5, 13},
	{2160, 10},
	{450, 9},
	{210, 7},
	{20, 7},
	{15, 7},
	{1800, 6},
}

type weighted[T any] struct {
	value  T
	weight float64
}

func weightsOf[T any](of []weighted[T]) []float64 {
	w := make([]float64, len(of))
	for i := range of {
		w[i] = of[i].weight
	}
	return w
}

// newPopulation draws the users of a cluster.
func newPopulation(cfg Config, s stream) []*user {
	nodes := sizes
	for len(nodes) > 1 && nodes[len(nodes)-1].value > cfg.Nodes {
		nodes = nodes[:len(nodes)-1]
	}
	d := scriptDrawer{cfg: cfg, stream: s, nodes: nodes, byNodes: newTable(weightsOf(nodes)), byLimit: newTable(weightsOf(limits))}
	accounts := 1 + cfg.Users/8
	users := make([]*user, cfg.Users)
	for i := range users {
		u := &user{
			name:     fmt.Sprintf("u%05d", i),
			account:  fmt.Sprintf("team%03d", int(float64(accounts)*math.Pow(s.Float64(), 2))),
			activity: math.Exp(1.6 * min(s.NormFloat64(), 1.8)),
			engaged:  s.chance(engagedShare),
			chains:   s.chance(0.06),
		}
		u.scripts = d.scripts(min(int(s.lognormal(3, 0.9))+1, 30))
		preference := make([]float64, len(u.scripts))
		for k := range preference {
			preference[k] = 1 / float64(1+k)
		}
		u.pick = newTable(preference)
		users[i] = u
	}
	return users
}

type scriptDrawer struct {
	cfg              Config
	stream           stream
	nodes            []weighted[int]
	byNodes, byLimit table
}

// scripts draws n scripts of one user, most of them of the same size.
func (d scriptDrawer) scripts(n int) []script {
	usual := d.nodes[d.byNodes.draw(d.stream)].value
	scripts := make([]script, n)
	for i := range scripts {
		nodes := usual
		if d.stream.chance(0.1) {
			nodes = d.nodes[d.byNodes.draw(d.stream)].value
		}
		limit := time.Duration(limits[d.byLimit.draw(d.stream)].value) * time.Minute
		scripts[i] = d.script(nodes, limit)
	}
	return scripts
}

func (d scriptDrawer) script(nodes int, limit time.Duration) script {
	s := d.stream
	fast, timeout := 0.11, 0.14
	switch {
	case limit < 30*time.Minute:
		fast = 0.38
	case limit < 2*time.Hour:
		fast = 0.25
	}
	power := 1.5 + 3*s.Float64()
	if nodes >= 8 { // large jobs are more often trials
		fast, timeout, power = 2*fast, timeout/2, power+1.5
	}
	sc := script{
		name:    scriptNames[s.IntN(len(scriptNames))],
		nodes:   nodes,
		limit:   limit,
		fast:    min(s.lognormal(fast, 0.5), 0.8),
		timeout: min(s.lognormal(timeout, 0.7), 0.6),
		power:   power,
	}
	if nodes == 1 && d.cfg.GPUsPerNode > 1 && s.chance(d.cfg.PartNode) {
		sc.gpus = 1 + s.IntN(d.cfg.GPUsPerNode-1)
	}
	return sc
}

var scriptNames = []string{
	"train", "finetune", "eval", "sweep", "md", "dock", "jupyter", "interactive", "bash", "infer",
	"pretrain", "relax", "openmm", "cfd", "ablation", "preprocess", "test", "debug", "render", "fold",
}

// outcome is how one run of a script turns out, once it starts.
type outcome struct {
	run   time.Duration
	state segue.JobState
	exit  int16
}

// run draws the outcome of one run.
func (sc script) run(s stream) outcome {
	u := s.Float64()
	switch {
	case u < sc.fast:
		run := min(s.duration(12*time.Second, 1.1), time.Minute, sc.limit)
		if s.chance(0.4) {
			return outcome{run: run, state: segue.Failed, exit: 1}
		}
		return outcome{run: run, state: segue.Completed}
	case u < sc.fast+sc.timeout:
		// Slurm notices an expired limit up to half a minute late.
		return outcome{run: sc.limit + time.Duration(s.IntN(31))*time.Second, state: segue.Timeout}
	}
	run := wholeSeconds(sc.limit.Seconds() * math.Pow(s.Float64(), sc.power))
	switch v := s.Float64(); {
	case v < 0.08:
		return outcome{run: run, state: segue.Failed, exit: int16(1 + s.IntN(2))}
	case v < 0.16:
		return outcome{run: run, state: segue.Cancelled}
	}
	return outcome{run: run, state: segue.Completed}
}

// link draws the outcome of one link of a chain: most run into the limit.
func (sc script) link(s stream) outcome {
	sc.fast, sc.timeout, sc.power = 0.05, 0.8, 0.5
	return sc.run(s)
}

// nodeHours returns what a run takes from the cluster.
func (sc script) nodeHours(run time.Duration, gpusPerNode int) float64 {
	if sc.gpus > 0 {
		return run.Hours() * float64(sc.gpus) / float64(gpusPerNode)
	}
	return run.Hours() * float64(sc.nodes)
}
