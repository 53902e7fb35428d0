package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/segue-project/segue/internal/slurmtest"
)

// BenchmarkOverhead submits a job with sbatch, with segue, and as the first link of a
// chain by turns, on a real Slurm, and reports the whole time of each process: the
// median and the least, and how many times as long segue takes.
func BenchmarkOverhead(b *testing.B) {
	program := buildSegue(b)
	slurm := slurmtest.Start(b, slurmtest.Config{Nodes: 1, Partitions: []string{"PartitionName=batch Nodes=ALL Default=YES State=DOWN"}})
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "job.sh"), []byte(directives("#SBATCH -J overhead")), 0o644); err != nil {
		b.Fatal(err)
	}
	slurm.Env = append(slurm.Env, "XDG_STATE_HOME="+filepath.Join(dir, "state"))
	var plain, ours, chains []time.Duration
	for b.Loop() {
		plain = append(plain, timed(b, slurm, dir, "sbatch", "job.sh"))
		ours = append(ours, timed(b, slurm, dir, program, "sbatch", "job.sh"))
		chains = append(chains, timed(b, slurm, dir, program, "sbatch", "--segue-chain", "job.sh"))
	}
	for _, times := range [][]time.Duration{plain, ours, chains} {
		slices.Sort(times)
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	middle := len(plain) / 2
	b.ReportMetric(ms(plain[0]), "ms-least-sbatch")
	b.ReportMetric(ms(ours[0]), "ms-least-segue")
	b.ReportMetric(ms(plain[middle]), "ms-sbatch")
	b.ReportMetric(ms(ours[middle]), "ms-segue")
	b.ReportMetric(ms(chains[middle]), "ms-chain")
	b.ReportMetric(ms(ours[middle])/ms(plain[middle]), "times")
	b.ReportMetric(ms(chains[middle])/ms(plain[middle]), "times-chain")
	b.ReportMetric(ms(chains[0])/ms(plain[0]), "times-least-chain")
	b.ReportMetric(ms(ours[0])/ms(plain[0]), "times-least")
}

// buildSegue builds segue as "make build" does.
func buildSegue(tb testing.TB) string {
	tb.Helper()
	program := filepath.Join(tb.TempDir(), "segue")
	build := exec.CommandContext(tb.Context(), "bash", "-c", `set -euo pipefail; . scripts/lib.sh; build_segue "$0"`, program)
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build segue: %v: %s", err, out)
	}
	return program
}

func timed(b *testing.B, slurm *slurmtest.Slurm, dir, program string, args ...string) time.Duration {
	b.Helper()
	cmd := slurm.Command(context.Background(), program, args...)
	cmd.Dir = dir
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", program, err, out)
	}
	return time.Since(start)
}
