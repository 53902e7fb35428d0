package server

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/schedulers"
)

// newWithoutScheduler returns a server on the histories of a store.
func newWithoutScheduler(t *testing.T) (*Server, *clock) {
	t.Helper()
	clock := &clock{at: t0}
	srv, err := New(openStore(t), Config{Now: clock.now, Holder: "one", User: "segue", Advice: AdviceConfig{Replicas: 3}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return srv, clock
}

// What somebody asked about one history says nothing about which one the next asker
// means.
func TestWithSeveralHistoriesOneIsToBeNamedWhoeverAskedBefore(t *testing.T) {
	t.Parallel()
	srv, clock := newWithoutScheduler(t)
	keepHistory(t, srv.store, "ls6", t0.Add(-48*time.Hour), 200)
	keepHistory(t, srv.store, "frontera", t0.Add(-48*time.Hour), 200)
	ask := func(cluster string) error {
		q := aQuestion()
		q.Cluster = cluster
		_, err := srv.advisor.Advise(t.Context(), q)
		return err
	}
	for _, before := range []string{"", "ls6", "frontera"} {
		if before != "" && ask(before) != nil {
			t.Errorf("%s: %v", before, ask(before))
		}
		if err := ask(""); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "frontera, ls6") {
			t.Errorf("after a question about %q: error %v, want one of kind invalid with the clusters", before, err)
		}
	}
	if err := ask("stampede"); segue.KindOf(err) != segue.NotFound {
		t.Errorf("another one: error %v, want one of kind not found", err)
	}
	keepHistory(t, srv.store, "stampede", t0, 50) // by another process
	clock.advance(countsFresh)
	if err := ask("stampede"); err != nil {
		t.Errorf("once there is one: %v", err)
	}
}

// keepPartitions keeps jobs of four hours that come every ten minutes and run for two, each of one node, in
// turns in the partitions.
func keepPartitions(t *testing.T, srv *Server, n int, partitions ...string) {
	t.Helper()
	jobs := func(yield func(segue.Job, error) bool) {
		for i := range n {
			at := t0.Add(time.Duration(i-n) * 10 * time.Minute)
			j := segue.Job{
				ID: segue.JobID{Number: int64(i + 1)}, User: "ada", Partition: partitions[i%len(partitions)], Nodes: 1, Limit: 4 * time.Hour,
				Submit: at, Eligible: at, Start: at, End: at.Add(2 * time.Hour), State: segue.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	if _, err := srv.store.ImportJobs(t.Context(), "ls6", jobs); err != nil {
		t.Fatal(err)
	}
}

func TestThePartitionsOfAHistoryCount(t *testing.T) {
	t.Parallel()
	srv, _ := newWithoutScheduler(t)
	keepPartitions(t, srv, 240, "gpu", "cpu", "cpu", "cpu,big") // 12 run at once: 3 on gpu, 9 on cpu, 3 of these on big too
	ask := func(partition string, nodes, gpus int) (api.Outlook, error) {
		r := segue.Request{Shape: segue.Shape{Nodes: nodes, GPUsPerNode: gpus, Limit: 48 * time.Hour}, User: "ada", Partition: partition}
		return srv.advisor.Forecast(t.Context(), "", r)
	}
	running := map[string]int{}
	for _, partition := range []string{"", "gpu", "cpu", "big"} {
		o, err := ask(partition, 1, 0)
		if err != nil || len(o.Notes) > 0 {
			t.Errorf("%q: notes %v, %v; want none", partition, o.Notes, err)
		}
		running[partition] = o.Running
	}
	if diff := cmp.Diff(map[string]int{"": 12, "gpu": 3, "cpu": 9, "big": 3}, running); diff != "" {
		t.Errorf("running jobs (-want +got):\n%s", diff)
	}
	if _, err := ask("gpu", 9, 0); segue.KindOf(err) != segue.Invalid {
		t.Errorf("9 nodes of gpu: error %v, want one of kind invalid: it has 3", err)
	}
	if _, err := ask("cpu", 9, 0); err != nil {
		t.Errorf("9 nodes of cpu: %v", err)
	}
	if _, err := ask("gpus", 1, 0); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "big, cpu, gpu") {
		t.Errorf("a partition that is none: error %v, want one of kind invalid with those that are", err)
	}
	o, err := ask("gpu", 1, 4)
	if diff := cmp.Diff([]string{"A history knows whole nodes: gpus_per_node does not count."}, o.Notes); err != nil || diff != "" {
		t.Errorf("%v, notes (-want +got):\n%s", err, diff)
	}
}

func TestAHistoryWithoutPartitionsSaysThatNoneCounts(t *testing.T) {
	t.Parallel()
	srv, _ := newWithoutScheduler(t)
	keepHistory(t, srv.store, "ls6", t0.Add(-48*time.Hour), 200)
	q := aQuestion()
	q.Request.Partition = "gpu"
	a, err := srv.advisor.Advise(t.Context(), q)
	want := []string{"The history of ls6 names no partitions: all of its jobs and nodes count."}
	if diff := cmp.Diff(want, a.Notes); err != nil || diff != "" {
		t.Errorf("%v, notes (-want +got):\n%s", err, diff)
	}
}

// divided is a cluster of two partitions, on the first of which all jobs run.
type divided struct{ fileCluster }

func (d divided) State(ctx context.Context) (schedulers.State, error) {
	state, err := d.fileCluster.State(ctx)
	for i := range state.Nodes {
		state.Nodes[i].Partitions = []string{[]string{"old", "new"}[i%2]}
	}
	for i := range state.Jobs {
		state.Jobs[i].Partition, state.Jobs[i].Nodes = "old", []string{state.Nodes[0].Name}
	}
	return state, err
}

func TestThePredecessorMayRunInAnotherPartition(t *testing.T) {
	t.Parallel()
	clock := &clock{at: t0}
	cluster := divided{fileCluster{t.TempDir(), clock.now}}
	srv, err := New(openStore(t), Config{
		Now: clock.now, Holder: "one", User: "segue", Driver: cluster, Exists: func(string, string) bool { return false },
		Advice: AdviceConfig{Replicas: 3}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	request := segue.Request{Shape: segue.Shape{Nodes: 1, Limit: 48 * time.Hour}, User: "ada"}
	job, err := cluster.Submit(t.Context(), schedulers.Submission{Token: "t", Request: request})
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(40 * time.Hour)
	q := api.Question{Request: request, Predecessor: &job.Job, Prefer: segue.Balanced}
	q.Request.Partition = "new"
	a, err := srv.advisor.Advise(t.Context(), q)
	if err != nil || a.Decision.Remaining != 8*time.Hour || a.Running != 0 {
		t.Errorf("%s remain, %d jobs run, %v; want 8h of the job in the other partition, where alone one runs", a.Decision.Remaining, a.Running, err)
	}
	q.Request.Partition = "newest"
	if _, err := srv.advisor.Advise(t.Context(), q); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "new, old") {
		t.Errorf("a partition that is none: error %v, want one of kind invalid with those that are", err)
	}
}
