package simulator_test

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// slurmJob is a job of a real Slurm as its accounting tells, in seconds since the
// epoch.
type slurmJob struct {
	id                        int64
	nodes, gpus               int32 // GPUs on each node
	limit, submit, start, end int64
	hosts                     []string
	by                        string // the pass that started it, by slurmctld.log: main, backfill
}

// slurmRecord is what a real Slurm of 8 nodes with 4 GPUs each did, by job number.
type slurmRecord []slurmJob

const recordHeading = "job\tnodes\tgpus\tlimit_s\tsubmit\tstart\tend\thosts\tby"

func (r slurmRecord) write(w io.Writer) error {
	if _, err := fmt.Fprintln(w, recordHeading); err != nil {
		return err
	}
	for _, j := range r {
		_, err := fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n",
			j.id, j.nodes, j.gpus, j.limit, j.submit, j.start, j.end, strings.Join(j.hosts, ","), j.by)
		if err != nil {
			return err
		}
	}
	return nil
}

func readSlurmRecord(tb testing.TB, from io.Reader) slurmRecord {
	tb.Helper()
	var r slurmRecord
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if lines.Text() == recordHeading || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 9 {
			tb.Fatalf("%d fields in %q, want 9", len(f), lines.Text())
		}
		r = append(r, slurmJob{
			id: number64(tb, f[0]), nodes: int32(number64(tb, f[1])), gpus: int32(number64(tb, f[2])), limit: number64(tb, f[3]),
			submit: number64(tb, f[4]), start: number64(tb, f[5]), end: number64(tb, f[6]), hosts: strings.Split(f[7], ","), by: f[8],
		})
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return r
}

// replay returns when the simulator starts each job of the record, in seconds, given
// what the scheduler was given, and how long each really ran. All is moved by phase
// seconds against the grid of the passes.
func (r slurmRecord) replay(tb testing.TB, cfg simulator.Config, phase int64) []int64 {
	tb.Helper()
	jobs := make([]simulator.Job, len(r))
	for i := range r {
		jobs[i] = r[i].simulated()
		jobs[i].Submit = jobs[i].Submit.Add(seconds(phase))
		jobs[i].Begin = jobs[i].Begin.Add(seconds(phase))
	}
	result, err := simulator.Replay(cfg, jobs, nil)
	if err != nil {
		tb.Fatal(err)
	}
	starts := make([]int64, len(jobs))
	for i, at := range result.Starts {
		if !at.Known() {
			tb.Fatalf("the simulator never starts job %d", r[i].id)
		}
		starts[i] = at.Std().Unix() - phase
	}
	return starts
}

// simulated returns the job for the simulator. A limit that the real job outran
// (Slurm looks at limits twice a minute) is as long as the run.
func (j *slurmJob) simulated() simulator.Job {
	run := seconds(j.end - j.start)
	submit := segue.Seconds(j.submit)
	return simulator.Job{
		Submit: submit, Begin: submit.Add(batchDelay), Run: run, Limit: max(seconds(j.limit), run), Nodes: j.nodes, GPUsPerNode: j.gpus,
	}
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
