package simulator_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/internal/slurmtest"
)

// planned is a job to submit on the real Slurm.
type planned struct {
	pause       time.Duration // after the one before
	nodes, gpus int
	limit       int // minutes
	run         time.Duration
}

// plannedJobs draws jobs that congest 8 nodes: two in five take part of a node, one
// in twenty most of the cluster, and now and then many come at once. Runs are short
// beside their limits, as they are on real clusters, so that there are holes to
// fill.
func plannedJobs(n int, seed uint64) []planned {
	rng := rand.New(rand.NewPCG(seed, 4))
	var jobs []planned
	burst := 0
	for range n {
		j := planned{nodes: 1, gpus: 4, limit: 1 + rng.IntN(5)}
		switch kind := rng.Float64(); {
		case kind < 0.40:
			j.gpus = 1 + rng.IntN(3)
		case kind < 0.68:
		case kind < 0.86:
			j.nodes = 2 + rng.IntN(2)
		case kind < 0.95:
			j.nodes = 4 + rng.IntN(2)
		default:
			j.nodes, j.limit = 6+rng.IntN(3), 5
		}
		j.run = time.Duration(2 * math.Pow(30, math.Pow(rng.Float64(), 2)) * float64(time.Second))
		if j.run > 50*time.Second {
			j.limit = max(j.limit, 2) // a launch takes its time too
		}
		switch {
		case burst > 0:
			burst--
		case rng.Float64() < 0.08:
			burst = 5 + rng.IntN(6)
		default:
			j.pause = time.Duration(rng.ExpFloat64() * 3 * float64(time.Second))
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// live is a real Slurm under load.
type live struct {
	t     *testing.T
	slurm *slurmtest.Slurm
}

func startSlurm(t *testing.T) *live {
	t.Helper()
	return &live{t, slurmtest.Start(t, slurmtest.Config{Accounting: true, Parameters: slurmParameters})}
}

// submit submits the jobs, each when it is time.
func (l *live) submit(jobs []planned) {
	l.t.Helper()
	for i, j := range jobs {
		pause(l.t.Context(), j.pause)
		out, err := l.slurm.Command(l.t.Context(), "sbatch", "-o/dev/null", fmt.Sprintf("-N%d", j.nodes), fmt.Sprintf("--gres=gpu:%d", j.gpus),
			fmt.Sprintf("-t%d", j.limit), fmt.Sprintf("--wrap=exec sleep %.1f", j.run.Seconds())).CombinedOutput()
		if err != nil {
			l.t.Fatalf("sbatch of job %d: %v: %s", i+1, err, out)
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// untilIdle waits until the queue is empty, and longer than slurmdbd is told
// later.
func (l *live) untilIdle() {
	l.t.Helper()
	for {
		out, err := l.slurm.Command(l.t.Context(), "squeue", "-h").Output()
		if err == nil && len(bytes.TrimSpace(out)) == 0 {
			pause(l.t.Context(), 5*time.Second)
			return
		}
		if pause(l.t.Context(), 2*time.Second); l.t.Context().Err() != nil {
			l.t.Fatal("the queue has not emptied")
		}
	}
}

// record returns what sacct and slurmctld.log tell of the jobs.
func (l *live) record() slurmRecord {
	l.t.Helper()
	cmd := l.slurm.Command(l.t.Context(), "sacct", "-X", "-n", "-P", "-S", "now-1hours", "-o", "JobID,NNodes,AllocTRES,TimelimitRaw,Submit,Start,End,NodeList,State")
	cmd.Env = append(cmd.Env, "SLURM_TIME_FORMAT=%s")
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("sacct: %v", err)
	}
	by := l.startedBy()
	var r slurmRecord
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 9 {
			l.t.Fatalf("sacct says %q", line)
		}
		_, gpus, _ := strings.Cut(f[2], "gres/gpu=")
		gpus, _, _ = strings.Cut(gpus, ",")
		nodes := number64(l.t, f[1])
		r = append(r, slurmJob{
			id: number64(l.t, f[0]), nodes: int32(nodes), gpus: int32(number64(l.t, gpus) / nodes), limit: 60 * number64(l.t, f[3]),
			submit: number64(l.t, f[4]), start: number64(l.t, f[5]), end: number64(l.t, f[6]), hosts: nodeNames(f[7]), by: by[f[0]],
		})
		if f[8] != "COMPLETED" {
			l.t.Errorf("job %s ended as %s", f[0], f[8])
		}
	}
	return r
}

var (
	allocated  = regexp.MustCompile(`sched: Allocate JobId=(\d+) `)
	backfilled = regexp.MustCompile(`Started JobId=(\d+) in `)
)

// startedBy tells which pass started each job.
func (l *live) startedBy() map[string]string {
	l.t.Helper()
	log, err := os.Open(filepath.Join(l.slurm.Dir, "slurmctld.log"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	by := map[string]string{}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := allocated.FindStringSubmatch(lines.Text()); m != nil {
			by[m[1]] = "main"
		}
		if m := backfilled.FindStringSubmatch(lines.Text()); m != nil {
			by[m[1]] = "backfill"
		}
	}
	return by
}

// nodeNames reads "n[1-3,5]", or "n4".
func nodeNames(list string) []string {
	inside, ranged := strings.CutPrefix(list, "n[")
	if !ranged {
		return []string{list}
	}
	var names []string
	for part := range strings.SplitSeq(strings.TrimSuffix(inside, "]"), ",") {
		from, to, _ := strings.Cut(part, "-")
		a, _ := strconv.Atoi(from)
		b, _ := strconv.Atoi(to)
		for n := a; n <= max(a, b); n++ {
			names = append(names, fmt.Sprintf("n%d", n))
		}
	}
	return names
}
