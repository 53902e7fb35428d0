package simulator_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

func TestImpossibleClustersAndJobsAreRefusedByName(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*simulator.Config, *simulator.Job)
		want   string // in the message
	}{
		"no pool":              {func(c *simulator.Config, _ *simulator.Job) { c.Pools = nil }, "Pools is empty"},
		"pool without nodes":   {func(c *simulator.Config, _ *simulator.Job) { c.Pools[0].Nodes = 0 }, "Pools[0].Nodes is 0"},
		"partition of no pool": {func(c *simulator.Config, _ *simulator.Job) { c.Partitions = []simulator.Partition{{Pool: 1}} }, "Partitions[0].Pool is 1"},
		"negative limit":       {func(c *simulator.Config, _ *simulator.Job) { c.Limits.MaxNodes = -1 }, "negative limit"},
		"negative clean-up":    {func(c *simulator.Config, _ *simulator.Job) { c.CleanUp = -1 }, "CleanUp"},
		"clean-up under EASY": {func(c *simulator.Config, _ *simulator.Job) {
			c.CleanUp, c.Backfill = time.Minute, simulator.EASY
		}, "CleanUp"},
		"negative requeue delay": {func(c *simulator.Config, _ *simulator.Job) { c.RequeueDelay = -1 }, "RequeueDelay"},
		"endless outage backwards": {func(c *simulator.Config, _ *simulator.Job) {
			c.Outages = []simulator.Outage{{Nodes: 1, From: 5, Until: 5}}
		}, "Outages[0] ends"},
		"outage at no time": {func(c *simulator.Config, _ *simulator.Job) {
			c.Outages = []simulator.Outage{{Nodes: 1, From: segue.NoTime}}
		}, "out of range"},
		"interval under a tick": {func(c *simulator.Config, _ *simulator.Job) { c.Slurm.BackfillInterval = 1 }, "Slurm.BackfillInterval is 1ns"},
		"negative window":       {func(c *simulator.Config, _ *simulator.Job) { c.Slurm.Window = -1 }, "Slurm.Window"},
		"no number as a weight": {func(c *simulator.Config, _ *simulator.Job) {
			c.Order.Multifactor = &simulator.Multifactor{Age: math.NaN()}
		}, "Multifactor.Age is NaN"},
		"period under a tick": {func(c *simulator.Config, _ *simulator.Job) {
			c.Order.Multifactor = &simulator.Multifactor{CalcPeriod: 1}
		}, "CalcPeriod is 1ns"},
		"slurm event by event": {func(c *simulator.Config, _ *simulator.Job) {
			c.Backfill, c.Events = simulator.SlurmBackfill, simulator.PerEvent
		}, "PerEvent"},
		"parts of nodes per event":  {func(c *simulator.Config, j *simulator.Job) { c.Events, j.GPUsPerNode = simulator.PerEvent, 1 }, "a job takes whole nodes"},
		"too many nodes":            {func(_ *simulator.Config, j *simulator.Job) { j.Nodes = 3 }, "job 0: 3 nodes"},
		"too many GPUs":             {func(_ *simulator.Config, j *simulator.Job) { j.GPUsPerNode = 5 }, "job 0: 5 GPUs"},
		"no time limit":             {func(_ *simulator.Config, j *simulator.Job) { j.Limit = 0 }, "job 0: time limit"},
		"negative run time":         {func(_ *simulator.Config, j *simulator.Job) { j.Run = -1 }, "job 0: run time"},
		"submission at no time":     {func(_ *simulator.Config, j *simulator.Job) { j.Submit = segue.NoTime }, "job 0: submission"},
		"dependency on itself":      {func(_ *simulator.Config, j *simulator.Job) { j.After = []simulator.Dependency{{}} }, "job 0: dependency on itself"},
		"dependency on no job":      {func(_ *simulator.Config, j *simulator.Job) { j.After = []simulator.Dependency{{Job: 9}} }, "job 0: dependency on job 9"},
		"dependency before a start": {func(_ *simulator.Config, j *simulator.Job) { j.After = []simulator.Dependency{{Job: 1, Delay: -1}} }, "delay"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := simulator.Config{Pools: []simulator.Pool{{Nodes: 2, GPUsPerNode: 4}}}
			jobs := []simulator.Job{hours(1), hours(1)}
			test.change(&cfg, &jobs[0])
			_, err := simulator.New(cfg, jobs)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want an invalid one with %q", err, test.want)
			}
		})
	}
}

func TestHistoryBecomesAWorkloadByTheRulesOfTheReferences(t *testing.T) {
	t.Parallel()
	at := minutes
	history := []segue.Job{
		{User: "ann", Submit: at(0), Start: at(5), End: at(65), Limit: 2 * time.Hour, Nodes: 2},
		{User: "bob", Submit: at(1), Start: segue.NoTime, End: at(2), Limit: time.Hour, Nodes: 1},
		{User: "ann", Submit: at(2), Start: at(3), End: at(63), Limit: 30 * time.Minute, Nodes: 99, ExitCode: 1},
		{User: "bob", Submit: at(3), Start: at(4), End: at(64), Limit: segue.Unlimited, Nodes: 1},
	}
	w, err := simulator.FromHistory(history, 4)
	if err != nil {
		t.Fatal(err)
	}
	want := []simulator.Job{
		{Submit: at(0), Run: time.Hour, Limit: 2 * time.Hour, Nodes: 2, User: 0},
		{Submit: at(1), Run: time.Second, Limit: time.Second, Nodes: 1, User: 1},
		{Submit: at(2), Run: 30 * time.Minute, Limit: time.Hour, Nodes: 4, User: 0, Fails: true},
		{Submit: at(3), Run: time.Hour, Limit: time.Hour, Nodes: 1, User: 1},
	}
	for i := range want {
		if got := w.Jobs[i]; got.Run != want[i].Run || got.Limit != want[i].Limit || got.Nodes != want[i].Nodes || got.User != want[i].User || got.Fails != want[i].Fails {
			t.Errorf("job %d is %+v, want %+v", i, got, want[i])
		}
	}
	if w.Instants != 1 || w.Clipped != 1 || w.Unlimited != 1 {
		t.Errorf("%d instants, %d clipped, %d unlimited, want one of each", w.Instants, w.Clipped, w.Unlimited)
	}
	if _, err := simulator.FromHistory([]segue.Job{{Submit: segue.NoTime}}, 4); segue.KindOf(err) != segue.Invalid {
		t.Errorf("error %v, want an invalid one", err)
	}
}
