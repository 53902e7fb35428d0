package infer

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func TestNamesThatCountOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		earlier, name string
		want          bool
	}{
		"a trailing number":       {"dimer.10", "dimer.11", true},
		"over a power of ten":     {"run9", "run10", true},
		"leading zeros":           {"part-009", "part-010", true},
		"a number within":         {"step3.sh", "step4.sh", true},
		"the last number counts":  {"v2-step3", "v2-step4", true},
		"two at once":             {"x.10", "x.12", false},
		"backwards":               {"x.11", "x.10", false},
		"another base":            {"x.10", "y.11", false},
		"no numbers":              {"train", "train", false},
		"a number that appears":   {"train", "train1", false},
		"nothing":                 {"", "", false},
		"too many digits to read": {"x99999999999999999998", "x99999999999999999999", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := continues(test.earlier, test.name); got != test.want {
				t.Errorf("continues(%q, %q) = %v, want %v", test.earlier, test.name, got, test.want)
			}
		})
	}
}

func TestBinomialTailByHand(t *testing.T) {
	t.Parallel()
	tests := []struct {
		n, k int
		p    float64
		want float64
	}{
		{3, 0, 0.5, 1},
		{3, 1, 0.5, 0.875},
		{3, 3, 0.5, 0.125},
		{4, 2, 0.25, 1 - 0.31640625 - 0.421875},
		{5, 2, 1, 1},
		{5, 6, 0.5, 0},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("P(X>=%d) of %d trials at %g", test.k, test.n, test.p), func(t *testing.T) {
			t.Parallel()
			if got := binomialTail(test.n, test.k, test.p); math.Abs(got-test.want) > 1e-12 {
				t.Errorf("got %g, want %g", got, test.want)
			}
		})
	}
}

// at returns the instant h hours after the epoch.
func at(h float64) segue.Time { return segue.Time(h * 3600e6) }

func job(user string, submit, start, end float64) segue.Job {
	return segue.Job{User: user, Submit: at(submit), Eligible: segue.NoTime, Start: at(start), End: at(end), Limit: 10 * time.Hour, Nodes: 1}
}

// TestEligibleTimesByHand follows a user with a limit of one running job whose
// three jobs come at hour 0, and a chain of another user.
func TestEligibleTimesByHand(t *testing.T) {
	t.Parallel()
	jobs := []segue.Job{
		job("a", 0, 0, 2),
		job("a", 0, 2, 3),     // starts when the first ends
		job("a", 0, 3.5, 4),   // could from hour 3 on
		job("b", 0, 1, 2.5),   //
		job("b", 0, 2.51, 5),  // depends on the one before
		job("b", 2, 7, 8),     // recorded as eligible at hour 6
		job("b", 2, 2, 9),     // no wait
		job("c", 0, 0.005, 1), // held for 18 seconds
	}
	jobs[5].Eligible = at(6)
	jobs = append(jobs, segue.Job{User: "c", Submit: at(1), Eligible: at(4), Start: segue.NoTime, End: at(5), State: segue.Cancelled})

	h := newHistory(jobs)
	r := &Result{
		WaitingHours: h.waiting,
		Limits:       Limits{MaxRunning: Limit{Found: true, Value: 1}},
		Dependencies: []Dependency{{Job: 4, After: 3}},
	}
	isA := func(j *segue.Job) bool { return j.User == "a" }
	blocks := make([]segue.Time, len(jobs))
	for i := range blocks {
		blocks[i] = segue.NoTime
	}
	h.blockBy(r.Limits, isA, blocks)
	h.eligibility(r, blocks)

	want := []segue.Time{at(0), at(2), at(3), at(0), at(2.5), at(6), at(2), at(0), at(1)}
	if diff := cmp.Diff(want, r.Eligible); diff != "" {
		t.Errorf("eligible (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{false, true, true, false, true, false, false, false, false}, r.SelfBlocked); diff != "" {
		t.Errorf("self-blocked (-want +got):\n%s", diff)
	}
	// 2 and 3 hours by the limit, 2.5 by the dependency, of all that waited.
	all := 2 + 3.5 + 1 + 2.51 + 5 + 0.005 + 4
	for name, pair := range map[string][2]float64{
		"limits":       {5 / all, r.LimitShare},
		"dependencies": {2.5 / all, r.DependencyShare},
		"both":         {7.5 / all, r.BlockedShare},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9 {
			t.Errorf("%s explain %.4f of the waiting, want %.4f", name, pair[1], pair[0])
		}
	}
}

func TestOvertakenAsDefined(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]segue.Job, rapid.IntRange(0, 40).Draw(t, "jobs"))
		for i := range jobs {
			submit := rapid.IntRange(0, 50).Draw(t, "submit")
			start := submit + rapid.IntRange(0, 50).Draw(t, "wait")
			jobs[i] = job("u", float64(submit), float64(start), float64(start+1))
			jobs[i].Partition = rapid.SampledFrom([]string{"p", "q"}).Draw(t, "partition")
			jobs[i].Nodes = rapid.Int32Range(1, 5).Draw(t, "nodes")
			jobs[i].Limit = time.Duration(rapid.IntRange(1, 5).Draw(t, "limit")) * time.Hour
		}
		want := make([]bool, len(jobs))
		for i := range jobs {
			for k := range jobs {
				a, b := &jobs[i], &jobs[k]
				want[i] = want[i] || (a.Partition == b.Partition && b.Submit > a.Submit && b.Start < a.Start-microseconds(time.Minute) &&
					b.Nodes >= a.Nodes && b.Limit >= a.Limit)
			}
		}
		if diff := cmp.Diff(want, newHistory(jobs).overtaken(time.Minute)); diff != "" {
			t.Fatalf("overtaken (-want +got):\n%s", diff)
		}
	})
}

// TestAnytimeIsThePartOfTheWaitAfterOwnEnds counts the seconds of the wait one
// by one.
func TestAnytimeIsThePartOfTheWaitAfterOwnEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var jobs []segue.Job
		for range rapid.IntRange(0, 8).Draw(t, "ends") {
			end := segue.Seconds(rapid.Int64Range(1, 400).Draw(t, "end"))
			jobs = append(jobs, segue.Job{User: "u", Submit: 0, Start: 0, End: end})
		}
		submit := rapid.Int64Range(0, 300).Draw(t, "submit")
		start := submit + rapid.Int64Range(1, 200).Draw(t, "wait")
		covered := 0
		for s := submit; s < start; s++ {
			for _, j := range jobs {
				if e := j.End.Unix(); e >= submit && e <= s && s < e+30 {
					covered++
					break
				}
			}
		}
		jobs = append(jobs, segue.Job{User: "u", Submit: 0, Start: 0, End: segue.NoTime}) // still running
		want := float64(covered) / float64(start-submit)
		got := newHistory(jobs).newEndings(30*time.Second).anytime(0, segue.Seconds(submit), segue.Seconds(start))
		if math.Abs(got-want) > 1e-9 {
			t.Fatalf("got %g, want %g", got, want)
		}
	})
}

// TestNodesInServiceByHand has three jobs of one node wait from hour 1 to hour
// 20 while 5 nodes are busy for most of that time and 6 for a moment.
func TestNodesInServiceByHand(t *testing.T) {
	t.Parallel()
	jobs := []segue.Job{job("a", 0, 0, 20), job("b", 0, 10, 10.2)}
	jobs[0].Nodes = 5
	for range 3 {
		jobs = append(jobs, job("c", 1, 20, 21))
	}
	h := newHistory(jobs)
	eligible := make([]segue.Time, len(jobs))
	for i := range jobs {
		eligible[i] = jobs[i].Submit
	}
	want := []NodeDay{{Day: 0, Date: "1970-01-01", Busiest: 6, CongestedHours: 19 - 1.0/6, InService: 5}}
	got := h.newOccupancy(eligible).perDay()
	for i := range got {
		got[i].CongestedHours = math.Round(got[i].CongestedHours*1e6) / 1e6
		want[i].CongestedHours = math.Round(want[i].CongestedHours*1e6) / 1e6
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
}

func TestPendingJobsOfOnesOwnAreCounted(t *testing.T) {
	t.Parallel()
	jobs := []segue.Job{
		job("a", 0, 5, 6), // none pending
		job("a", 1, 3, 4), // one
		job("a", 2, 2, 3), // two, and starts at once
		job("a", 4, 4, 5), // one: the second has started
		job("b", 2, 4, 5), // none of its own
	}
	rows := newHistory(jobs).ownPending()
	want := []PendingRow{
		{From: 0, To: 0, Jobs: 2, Mean: 3.5, Median: 5, P90: 5},
		{From: 1, To: 2, Jobs: 3, Mean: 2.0 / 3, Median: 0, P90: 2},
		{From: 3, To: 10},
		{From: 11, To: -1},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestMonthsSumUpTheDaysThatTell(t *testing.T) {
	t.Parallel()
	days := []NodeDay{
		{Date: "2023-01-30", InService: 73, CongestedHours: 5},
		{Date: "2023-01-31"},
		{Date: "2023-02-01", InService: 76, CongestedHours: 12},
		{Date: "2023-02-02", InService: 72, CongestedHours: 4},
		{Date: "2023-02-03", InService: 80, CongestedHours: 2},
		{Date: "2023-03-01"},
	}
	want := []NodeMonth{
		{Month: "2023-01", Days: 1, Least: 73, Median: 73, Most: 73},
		{Month: "2023-02", Days: 3, Least: 72, Median: 76, Most: 80},
	}
	if diff := cmp.Diff(want, Months(days)); diff != "" {
		t.Errorf("months (-want +got):\n%s", diff)
	}
	if got := TypicalNodes(days); got != 76 {
		t.Errorf("typically %d nodes, want 76", got)
	}
	if got := TypicalNodes(nil); got != 0 {
		t.Errorf("without days: %d nodes, want 0", got)
	}
}

// TestCenturiesOfWaitingAddUp has jobs that wait for over a thousand years
// together, more than a time.Duration holds.
func TestCenturiesOfWaitingAddUp(t *testing.T) {
	t.Parallel()
	var jobs []segue.Job
	const year = 365 * 24
	for i := range 1500 {
		jobs = append(jobs, job(fmt.Sprintf("u%d", i), 0, year, year+1))
	}
	if got := Infer(jobs, Config{}).WaitingHours; math.Abs(got-1500*year) > 1 {
		t.Errorf("all waited %.0f hours, want %d", got, 1500*year)
	}
}
