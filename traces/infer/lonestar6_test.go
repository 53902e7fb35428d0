package infer_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/infer"
)

func load(t *testing.T, name string) []segue.Job {
	t.Helper()
	h, err := traces.Load(shared.Path(t, "traces/"+name), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h.Jobs
}

// TestLonestar6GivesItsRulesAway holds the inference to what was measured by
// hand on the same log. Its published counts are of a log that is a month
// longer: there 26 users reach exactly 8 running jobs, 10 reach exactly 40.
func TestLonestar6GivesItsRulesAway(t *testing.T) {
	t.Parallel()
	jobs := load(t, "ls6-a100-to-2023-02.log")
	r := infer.Infer(jobs, infer.Config{})

	t.Run("at most eight running jobs a user", func(t *testing.T) {
		t.Parallel()
		got := r.Limits.MaxRunning
		want := infer.Limit{Found: true, Value: 8, UsersAt: 21, UsersNear: 39, WaitingShare: 0.16}
		ignored := cmpopts.IgnoreFields(infer.Limit{}, "Chance", "HoursAt", "Expected")
		if diff := cmp.Diff(want, got, ignored, cmpopts.EquateApprox(0, 0.005)); diff != "" {
			t.Errorf("limit on running jobs (-want +got):\n%s", diff)
		}
	})
	t.Run("at most forty queued and running jobs a user", func(t *testing.T) {
		t.Parallel()
		got := r.Limits.MaxQueued
		want := infer.Limit{Found: true, Value: 40, UsersAt: 8, UsersNear: 11}
		ignored := cmpopts.IgnoreFields(infer.Limit{}, "Chance", "HoursAt", "Expected")
		if diff := cmp.Diff(want, got, ignored); diff != "" {
			t.Errorf("limit on queued and running jobs (-want +got):\n%s", diff)
		}
	})
	t.Run("at most sixteen nodes a user", func(t *testing.T) {
		t.Parallel()
		got := r.Limits.MaxNodes
		want := infer.Limit{Found: true, Value: 16, UsersAt: 13, UsersNear: 26, UsersPast: 1, WaitingShare: 0.007}
		ignored := cmpopts.IgnoreFields(infer.Limit{}, "Chance", "HoursAt", "Expected")
		if diff := cmp.Diff(want, got, ignored, cmpopts.EquateApprox(0, 0.005)); diff != "" {
			t.Errorf("limit on nodes (-want +got):\n%s", diff)
		}
	})
	t.Run("chains of one's own", func(t *testing.T) {
		t.Parallel()
		c := r.Chains
		if !c.Found || c.Waited != 5393 || c.Coincided != 1394 {
			t.Errorf("found %v: %d of %d jobs start after an own job's end, want 1394 of 5393", c.Found, c.Coincided, c.Waited)
		}
		if c.CoincidedShare < 0.36 || c.CoincidedShare > 0.38 || c.AnytimeLevel < 0.01 || c.AnytimeLevel > 0.015 {
			t.Errorf("they hold %.3f of the waiting at a chance level of %.4f, want about 0.37 and 0.011", c.CoincidedShare, c.AnytimeLevel)
		}
	})
	t.Run("the dimer chain, link by link", func(t *testing.T) {
		t.Parallel()
		links := 0
		for _, d := range r.Dependencies {
			switch jobs[d.Job].Name {
			case "dimer.13", "dimer.14", "dimer.15":
				links++
			}
		}
		if links < 3 {
			t.Errorf("found %d dependencies of dimer.13 to dimer.15, want at least 3", links)
		}
	})
	t.Run("seventy-two to eighty nodes in service", func(t *testing.T) {
		t.Parallel()
		var counts []int
		for _, d := range r.Nodes {
			if d.Day >= segue.Seconds(1671580800) && d.Day < segue.Seconds(1677628800) && d.InService > 0 { // 2022-12-21 to 2023-02-28
				counts = append(counts, d.InService)
			}
		}
		slices.Sort(counts)
		tenth, most := counts[len(counts)/10], counts[len(counts)-1]
		if tenth < 72 || most != 80 {
			t.Errorf("on %d days: nine in ten at least %d, at most %d, want 72 and 80", len(counts), tenth, most)
		}
	})
}

// TestWaitsGrowWithTheJobsThatOneHasPending reproduces the published table (mean
// hours 1.4, 7.7, 16.8, 16.6, of a log that is a month longer) within a tenth.
func TestWaitsGrowWithTheJobsThatOneHasPending(t *testing.T) {
	t.Parallel()
	r := infer.Infer(load(t, "ls6-a100-to-2023-02.log"), infer.Config{})
	want := []float64{1.4, 7.7, 16.8, 16.6}
	var got []float64
	for _, row := range r.OwnPending {
		got = append(got, row.Mean)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0.1, 0)); diff != "" {
		t.Errorf("mean hours by own pending jobs 0, 1-2, 3-10, more (-want +got):\n%s", diff)
	}
	first := r.OwnPending[0]
	if first.Jobs < 12_900 || first.Jobs > 13_100 || first.Median > 0.01 || first.P90 < 2.4 || first.P90 > 2.6 {
		t.Errorf("without own pending jobs: %d jobs, median %.3f h, p90 %.2f h, want about 13,005, 0, 2.5", first.Jobs, first.Median, first.P90)
	}
}

// TestKTHHasNoSuchRules infers from a machine of the nineties: some user filled
// all of its 100 nodes, and nobody chained jobs. Of its 28,481 jobs 18 started
// after later ones of their users that asked for no less.
func TestKTHHasNoSuchRules(t *testing.T) {
	t.Parallel()
	r := infer.Infer(load(t, "KTH-SP2-1996.swf"), infer.Config{})
	if diff := cmp.Diff(found{}, findings(r)); diff != "" || r.Blocked > 18 {
		t.Errorf("%d self-blocked jobs, findings (-want +got):\n%s", r.Blocked, diff)
	}
}
