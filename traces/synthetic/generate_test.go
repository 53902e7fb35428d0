package synthetic_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/traces/synthetic"
)

func jobsOf(t testing.TB, cfg synthetic.Config) []segue.Job {
	t.Helper()
	jobs, err := synthetic.Jobs(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return jobs
}

func TestEqualSeedsGiveEqualHistories(t *testing.T) {
	t.Parallel()
	cfg := synthetic.Config{Seed: 7, Jobs: 3000, PartNode: 0.3}
	jobs, err := synthetic.Generate(cfg)
	if err != nil {
		t.Fatal(err)
	}
	first, again := slices.Collect(jobs), slices.Collect(jobs)
	if diff := gocmp.Diff(first, again); diff != "" {
		t.Errorf("the same sequence read twice (-first +again):\n%s", diff)
	}
	if diff := gocmp.Diff(first, jobsOf(t, cfg)); diff != "" {
		t.Errorf("the same seed again (-first +again):\n%s", diff)
	}
	cfg.Seed = 8
	if other := jobsOf(t, cfg); gocmp.Equal(first, other) {
		t.Error("seeds 7 and 8 give the same history")
	}
}

func TestAHistoryHasAsManyRowsAsAskedFor(t *testing.T) {
	t.Parallel()
	if got := len(jobsOf(t, synthetic.Config{Jobs: 1234})); got != 1234 {
		t.Errorf("got %d rows, want 1234", got)
	}
}

func TestSubmissionsEndWithTheDuration(t *testing.T) {
	t.Parallel()
	start := segue.Seconds(1_700_000_000)
	jobs := jobsOf(t, synthetic.Config{Start: start, Duration: 10 * 24 * time.Hour})
	first, last := jobs[0].Submit, jobs[len(jobs)-1].Submit
	if first < start || last >= start.Add(10*24*time.Hour) || last < start.Add(9*24*time.Hour) {
		t.Errorf("submissions from %s to %s, want them over the ten days from %s", first, last, start)
	}
}

func TestReadingMayStopEarly(t *testing.T) {
	t.Parallel()
	jobs, err := synthetic.Generate(synthetic.Config{Jobs: 1 << 40}) // more than anybody could wait for
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for range jobs {
		if read++; read == 100 {
			break
		}
	}
	if read != 100 {
		t.Errorf("read %d rows, want 100", read)
	}
}

func TestImpossibleConfigurationsAreRefusedByField(t *testing.T) {
	t.Parallel()
	tests := map[string]synthetic.Config{
		"Start":       {Start: segue.NoTime},
		"Duration":    {Duration: -1},
		"Jobs":        {Jobs: -1},
		"Nodes":       {Nodes: -4},
		"GPUsPerNode": {GPUsPerNode: 65},
		"CPUsPerNode": {CPUsPerNode: -1},
		"Users":       {Users: 100000},
		"Load":        {Load: -0.5},
		"PartNode":    {PartNode: 1.5},
		"MaxRunning":  {MaxRunning: -2},
		"MaxQueued":   {MaxQueued: -2},
	}
	for field, cfg := range tests {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			_, err := synthetic.Jobs(cfg)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), field) {
				t.Errorf("got error %v (kind %s), want one of kind invalid that names %s", err, segue.KindOf(err), field)
			}
		})
	}
}

// TestSchedulesAreReal draws small clusters and holds every history to what a
// scheduler guarantees.
func TestSchedulesAreReal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := synthetic.Config{
			Seed:        rapid.Uint64().Draw(t, "seed"),
			Jobs:        300,
			Nodes:       rapid.IntRange(1, 80).Draw(t, "nodes"),
			GPUsPerNode: rapid.IntRange(1, 8).Draw(t, "GPUs"),
			Users:       rapid.IntRange(1, 60).Draw(t, "users"),
			Load:        rapid.Float64Range(0.2, 3).Draw(t, "load"),
			PartNode:    rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "part"),
			MaxRunning:  rapid.SampledFrom([]int{1, 3, 8, synthetic.NoLimit}).Draw(t, "running"),
			MaxQueued:   rapid.SampledFrom([]int{1, 10, 40, synthetic.NoLimit}).Draw(t, "queued"),
		}
		jobs, err := synthetic.Jobs(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSortedFunc(jobs, func(a, b segue.Job) int { return cmp.Compare(a.Submit, b.Submit) }) {
			t.Fatal("rows are not in order of submission")
		}
		for _, j := range jobs {
			checkRow(t, cfg, j)
		}
		if most := peak(jobs, gpus); most > cfg.Nodes*cfg.GPUsPerNode {
			t.Fatalf("%d GPUs in use at once, want at most %d x %d", most, cfg.Nodes, cfg.GPUsPerNode)
		}
		for user, own := range byUser(jobs) {
			if most := peak(own, running); cfg.MaxRunning != synthetic.NoLimit && most > cfg.MaxRunning {
				t.Fatalf("%s runs %d jobs at once, want at most %d", user, most, cfg.MaxRunning)
			}
			if most := peak(own, queued); cfg.MaxQueued != synthetic.NoLimit && most > cfg.MaxQueued {
				t.Fatalf("%s has %d jobs queued and running, want at most %d", user, most, cfg.MaxQueued)
			}
		}
	})
}

func checkRow(t *rapid.T, cfg synthetic.Config, j segue.Job) {
	switch {
	case j.Nodes < 1 || int(j.Nodes) > cfg.Nodes || j.GPUs < 1 || j.CPUs < 1 || j.Limit <= 0:
		t.Fatalf("job %s asks for %d nodes, %d GPUs, %d CPUs, %s", j.ID, j.Nodes, j.GPUs, j.CPUs, j.Limit)
	case !j.End.Known() || j.End < j.Submit || !j.State.Ended():
		t.Fatalf("job %s was submitted at %s and ends at %s, %s", j.ID, j.Submit, j.End, j.State)
	case !j.Start.Known() && j.State != segue.Cancelled:
		t.Fatalf("job %s never started, and is %s", j.ID, j.State)
	case j.Start.Known() && (j.Eligible < j.Submit || j.Start < j.Eligible || j.End <= j.Start):
		t.Fatalf("job %s: submit %s, eligible %s, start %s, end %s", j.ID, j.Submit, j.Eligible, j.Start, j.End)
	case j.Run() > j.Limit+31*time.Second:
		t.Fatalf("job %s ran %s with a limit of %s", j.ID, j.Run(), j.Limit)
	}
}

// use is what a job takes, and from when to when.
type use func(segue.Job) (amount int, from, to segue.Time)

func gpus(j segue.Job) (int, segue.Time, segue.Time)    { return int(j.GPUs), j.Start, j.End }
func running(j segue.Job) (int, segue.Time, segue.Time) { return 1, j.Start, j.End }

func queued(j segue.Job) (int, segue.Time, segue.Time) { return 1, j.Submit, j.End }

// peak returns the most that jobs take at once; what ends at an instant makes
// room for what begins there.
func peak(jobs []segue.Job, of use) int {
	type change struct {
		at segue.Time
		by int
	}
	var changes []change
	for _, j := range jobs {
		if amount, from, to := of(j); from.Known() {
			changes = append(changes, change{from, amount}, change{to, -amount})
		}
	}
	slices.SortFunc(changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by))
	})
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}

func byUser(jobs []segue.Job) map[string][]segue.Job {
	users := map[string][]segue.Job{}
	for _, j := range jobs {
		users[j.User] = append(users[j.User], j)
	}
	return users
}

func TestLinksOfAChainStartAfterOneAnother(t *testing.T) {
	t.Parallel()
	links := 0
	var before segue.Job
	for _, j := range jobsOf(t, synthetic.Config{Seed: 3}) {
		if !strings.Contains(j.Name, ".") { // only links have numbered names
			continue
		}
		links++
		sameChain := j.User == before.User && prefix(j.Name) == prefix(before.Name)
		if sameChain && j.Start.Known() && (j.Eligible < before.End || j.Limit != 48*time.Hour) {
			t.Fatalf("link %s is eligible at %s, before %s ends at %s", j.Name, j.Eligible, before.Name, before.End)
		}
		before = j
	}
	if links < 100 {
		t.Errorf("only %d links of chains in four months", links)
	}
}

func prefix(name string) string { return name[:strings.LastIndexByte(name, '.')] }

func TestAnUnscheduledHistoryHasNoWaits(t *testing.T) {
	t.Parallel()
	jobs := jobsOf(t, synthetic.Config{Seed: 5, Jobs: 5000, Load: 3, Unscheduled: true})
	for _, j := range jobs {
		if j.Start != j.Eligible || (j.Start != j.Submit && !strings.Contains(j.Name, ".")) {
			t.Fatalf("job %s (%s): submit %s, eligible %s, start %s", j.ID, j.Name, j.Submit, j.Eligible, j.Start)
		}
	}
}

func TestPartOfANodeIsTakenOnDemandOnly(t *testing.T) {
	t.Parallel()
	parts := func(cfg synthetic.Config) (n int) {
		for _, j := range jobsOf(t, cfg) {
			if j.GPUs < j.Nodes*4 {
				n++
			}
		}
		return n
	}
	if n := parts(synthetic.Config{Jobs: 2000, GPUsPerNode: 4}); n != 0 {
		t.Errorf("%d jobs take part of a node by default, want none", n)
	}
	if n := parts(synthetic.Config{Jobs: 2000, GPUsPerNode: 4, PartNode: 0.9}); n < 1000 {
		t.Errorf("%d of 2000 jobs take part of a node, want most", n)
	}
}

func TestMoreLoadMeansLongerWaits(t *testing.T) {
	t.Parallel()
	wait := func(load float64) (hours float64) {
		for seed := range uint64(3) {
			jobs := jobsOf(t, synthetic.Config{Seed: seed, Load: load})
			for _, j := range jobs {
				hours += j.Wait().Hours() / float64(len(jobs))
			}
		}
		return hours
	}
	calm, usual, congested := wait(0.4), wait(0.85), wait(1.3)
	if calm >= usual/1.5 || usual >= congested/1.5 {
		t.Errorf("summed mean waits are %.2f h at load 0.4, %.2f h at 0.85 and %.2f h at 1.3, want them to grow", calm, usual, congested)
	}
}
