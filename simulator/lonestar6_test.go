package simulator_test

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
)

// ls6History reads the Lonestar6 log; its local times are taken as UTC. (The
// package traces reads it too; it may not be asked by what it builds on.)
func ls6History(tb testing.TB) []segue.Job {
	tb.Helper()
	f, err := os.Open(shared.Path(tb, "traces/ls6-a100-to-2023-02.log"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var jobs []segue.Job
	lines := bufio.NewScanner(f)
	for n := 0; lines.Scan(); n++ {
		if n < 2 { // the heading
			continue
		}
		c := strings.Split(lines.Text(), "\t")
		jobs = append(jobs, segue.Job{
			ID: segue.JobID{Number: number64(tb, c[0])}, User: c[2],
			Start: instant(tb, c[3]), Submit: instant(tb, c[4]), End: instant(tb, c[5]),
			Limit: time.Duration(number64(tb, c[7])) * time.Minute, Nodes: int32(number64(tb, c[9])),
		})
	}
	return jobs
}

func instant(tb testing.TB, text string) segue.Time {
	tb.Helper()
	t, err := time.Parse("2006-01-02T15:04:05", text)
	if err != nil {
		tb.Fatal(err)
	}
	return segue.TimeOf(t)
}

func number64(tb testing.TB, text string) int64 {
	tb.Helper()
	v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// ls6Nodes is the number of nodes with which a replay comes nearest to the log.
const ls6Nodes = 76

func ls6Jobs(tb testing.TB) []simulator.Job {
	tb.Helper()
	w, err := simulator.FromHistory(ls6History(tb), ls6Nodes)
	if err != nil {
		tb.Fatal(err)
	}
	return w.Jobs
}

// ls6Cluster is Lonestar6 under the scheduler of the published provisioner's
// simulator.
func ls6Cluster() simulator.Config {
	return simulator.Config{
		Pools:    []simulator.Pool{{Name: "gpu-a100", Nodes: ls6Nodes, GPUsPerNode: 3}},
		Backfill: simulator.SlurmBackfill, Slurm: simulator.Published(), Order: simulator.PublishedOrder(),
	}
}
