package simulator_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue/simulator"
)

// slurmParameters are those of the real Slurm, and slurmConfig says the same to the
// simulator. slurmctld looks once a second whether a main pass is due, at whatever
// moment of it; the simulator makes one after each change.
const slurmParameters = "bf_interval=3,bf_resolution=60,bf_window=1440,bf_max_job_test=500,default_queue_depth=100,sched_interval=3,batch_sched_delay=1"

func slurmConfig() simulator.Config {
	return simulator.Config{
		Pools:    []simulator.Pool{{Name: "batch", Nodes: 8, GPUsPerNode: 4}},
		Backfill: simulator.SlurmBackfill, CleanUp: cleanUp,
		Slurm: simulator.SlurmParameters{
			MainInterval: -1, CycleInterval: 3 * time.Second, BackfillInterval: 3 * time.Second,
			Window: 24 * time.Hour, Resolution: time.Minute, RoundOutward: true, MaxJobTest: 500, QueueDepth: 100,
		},
	}
}

// batchDelay is batch_sched_delay: so long slurmctld waits after a submission for
// others, before it looks at them.
const batchDelay = time.Second

// cleanUp is for how long after its end a job's nodes cannot be used: the
// completing state, and until slurmctld looks again. Its nodes are idle from 0 to 3
// seconds, by whole ones, when there is a job for them.
const cleanUp = 500 * time.Millisecond

// Over 200 short jobs on a real Slurm of 8 nodes, whose starts the simulator
// computes from what was submitted when, and how long it ran. It takes ten
// minutes; SEGUE_RECORD names a file for what sacct tells, SEGUE_SEED draws other
// jobs.
func TestTheSimulatorAgainstARealSlurm(t *testing.T) {
	t.Parallel()
	if os.Getenv("SEGUE_E2E") != "fidelity" {
		return // `make e2e-slurm FIDELITY=1` asks for it
	}
	seed := uint64(1)
	if s := os.Getenv("SEGUE_SEED"); s != "" {
		seed = uint64(number64(t, s))
	}
	l := startSlurm(t)
	jobs := plannedJobs(210, seed)
	l.submit(jobs)
	l.untilIdle()
	r := l.record()
	if len(r) != len(jobs) {
		t.Errorf("sacct tells of %d jobs, want %d", len(r), len(jobs))
	}
	if path := os.Getenv("SEGUE_RECORD"); path != "" {
		var b strings.Builder
		if err := r.write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	judgeFidelity(t, r)
}

// The same of recordings of Slurm 22.05.8, wherever there is no Slurm.
func TestTheSimulatorAgainstRecordedSlurms(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/slurm-22.05/*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			judgeFidelity(t, readSlurmRecord(t, f))
		})
	}
}

// judgeFidelity prints how near simulators come, and wants the one of the same
// configuration near.
//
// The bounds are loose on purpose. Where jobs run for seconds one start that is a
// second late changes who starts next: two simulations of the same jobs that differ
// by a second in when backfill looks, or by two tenths in the clean-up, may be as far
// from each other as from the real Slurm (the rows "against itself"), and what one
// of them says of one job is partly chance. So the mean start of many is judged
// more strictly than any single one. Wrong rules are further off than either: in
// strict order, with EASY, or rounded as published.
func judgeFidelity(t *testing.T, r slurmRecord) {
	t.Helper()
	t.Log(turnaround(r))
	t.Log(comparisonHeading)
	inOrder, easy, published, idleAtOnce := slurmConfig(), slurmConfig(), slurmConfig(), slurmConfig()
	inOrder.Backfill, easy.Backfill = simulator.NoBackfill, simulator.EASY
	easy.CleanUp, idleAtOnce.CleanUp = 0, 0
	published.Slurm.RoundOutward = false
	t.Log(compare(r, r.replay(t, inOrder, 0)).row("strictly in order"))
	t.Log(compare(r, r.replay(t, easy, 0)).row("EASY at every event"))
	t.Log(compare(r, r.replay(t, published, 0)).row("the same configuration, rounded as published"))
	t.Log(compare(r, r.replay(t, idleAtOnce, 0)).row("the same configuration, no clean-up"))
	one := r.replay(t, slurmConfig(), 0)
	wantNear(t, "**the same configuration**", r, one, 0.75)
	mean := r.meanStarts(t)
	wantNear(t, "**the mean of 15 simulations**", r, mean, 0.85)
	t.Log(compare(r.startedAt(one), r.replay(t, slurmConfig(), 2)).row("against itself, backfill a second earlier"))
	longer := slurmConfig()
	longer.CleanUp += 200 * time.Millisecond
	t.Log(compare(r.startedAt(one), r.replay(t, longer, 0)).row("against itself, clean-up 0.2 s longer"))
	t.Logf("Late or early by kind of job, of the mean: %s", byKind(r, mean))
	t.Logf("The ten jobs that are the furthest off, of the one:\n%s", largest(r, one, 10))
}

// wantNear prints a row, and wants the waits to correlate at least so much, half of
// the starts to differ by less than three tenths of the mean wait, and 92 of 100
// pairs of jobs to start in their order.
func wantNear(t *testing.T, name string, r slurmRecord, starts []int64, least float64) {
	t.Helper()
	c := compare(r, starts)
	t.Log(c.row(name))
	if c.r < least || c.median > 0.3*c.waitReal || c.inversions > 0.08 {
		t.Errorf("%s: the waits, of %.0f s on average, correlate at %.3f, the median difference is %.0f s, and %.1f %% of the pairs start in another order; "+
			"want at least %g, at most three tenths, and 8 %%", name, c.waitReal, c.r, c.median, 100*c.inversions, least)
	}
}

// meanStarts returns the mean start of each job over simulations that differ in
// what the configuration leaves open: when the backfill looks, and how long it takes
// to clean up, about cleanUp.
func (r slurmRecord) meanStarts(tb testing.TB) []int64 {
	tb.Helper()
	sum, n := make([]int64, len(r)), int64(0)
	for phase := range int64(3) {
		for tenths := -2; tenths <= 2; tenths++ {
			cfg := slurmConfig()
			cfg.CleanUp += time.Duration(tenths) * 100 * time.Millisecond
			for i, at := range r.replay(tb, cfg, phase) {
				sum[i] += at
			}
			n++
		}
	}
	for i := range sum {
		sum[i] /= n
	}
	return sum
}

// startedAt returns the record of a Slurm that starts its jobs at other times.
func (r slurmRecord) startedAt(starts []int64) slurmRecord {
	other := slices.Clone(r)
	for i := range other {
		other[i].start = starts[i]
	}
	return other
}
