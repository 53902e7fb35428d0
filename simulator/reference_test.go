package simulator_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/simulator"
)

// swfJobs reads the fields of a Standard Workload Format file by the rules of
// the reference schedules (their README).
func swfJobs(tb testing.TB, path string, machine int64) (jobs []simulator.Job, ids []int64) {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), ";") {
			continue
		}
		fields := strings.Fields(lines.Text())
		if len(fields) < 18 {
			continue
		}
		num := func(i int) int64 {
			v, err := strconv.ParseInt(fields[i-1], 10, 64)
			if err != nil {
				tb.Fatal(err)
			}
			return v
		}
		submit, run, procs, requested := num(2), num(4), num(5), num(9)
		estimate := max(requested, run, 1)
		run = max(min(requested, run), 1)
		if num(4) <= 0 || procs <= 0 || submit < 0 {
			run, estimate, procs, submit = 1, 1, max(1, procs), max(submit, 1)
		}
		jobs = append(jobs, simulator.Job{
			Submit: segue.Seconds(submit), Run: time.Duration(run) * time.Second,
			Limit: time.Duration(estimate) * time.Second, Nodes: int32(min(max(procs, 1), machine)),
		})
		ids = append(ids, num(1))
	}
	return jobs, ids
}

func referenceStarts(tb testing.TB, path string) map[int64]int64 {
	tb.Helper()
	f, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	want := map[int64]int64{}
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		var id, start int64
		if _, err := fmt.Sscanf(lines.Text(), "%d,%d", &id, &start); err != nil {
			tb.Fatal(err)
		}
		want[id] = start
	}
	return want
}

const kth, lublin = "traces/KTH-SP2-1996.swf", "traces/lublin-256.swf"

// references are the reference schedules, with the mean wait in seconds and the
// mean bounded slowdown that their README prints.
var references = []struct {
	name, trace    string
	nodes          int64
	backfill       simulator.Backfill
	events         simulator.Events
	clairvoyant    bool // the scheduler knows the run time
	wait, slowdown string
}{
	{"kth-sp2.fcfs", kth, 100, simulator.NoBackfill, simulator.PerInstant, false, "354002.3164", "6818.585291"},
	{"kth-sp2.easy.per-instant", kth, 100, simulator.EASY, simulator.PerInstant, false, "6887.6532", "92.788242"},
	{"kth-sp2.easy.per-event", kth, 100, simulator.EASY, simulator.PerEvent, false, "6889.9387", "92.677016"},
	{"kth-sp2.easy-clairvoyant.per-event", kth, 100, simulator.EASY, simulator.PerEvent, true, "6305.0491", "70.634980"},
	{"kth-sp2.conservative.per-event", kth, 100, simulator.Conservative, simulator.PerEvent, false, "7340.6428", "88.895309"},
	{"lublin-256.fcfs", lublin, 256, simulator.NoBackfill, simulator.PerInstant, false, "2388443.7601", "66502.475529"},
	{"lublin-256.easy", lublin, 256, simulator.EASY, simulator.PerInstant, false, "97155.9945", "590.053777"},
	{"lublin-256.easy", lublin, 256, simulator.EASY, simulator.PerEvent, false, "97155.9945", "590.053777"},
	{"lublin-256.conservative.per-event", lublin, 256, simulator.Conservative, simulator.PerEvent, false, "131567.5089", "489.201322"},
}

func TestScheduleAgreesJobByJobWithTheReferenceSimulators(t *testing.T) {
	t.Parallel()
	for _, tt := range references {
		t.Run(fmt.Sprintf("%s/%d", tt.name, tt.events), func(t *testing.T) {
			t.Parallel()
			jobs, ids := swfJobs(t, shared.Path(t, tt.trace), tt.nodes)
			want := referenceStarts(t, shared.Path(t, "reference/"+tt.name+".csv.gz"))
			if tt.clairvoyant {
				for i := range jobs {
					jobs[i].Limit = jobs[i].Run
				}
			}
			cfg := simulator.Config{
				Pools:    []simulator.Pool{{Name: "batch", Nodes: int(tt.nodes)}},
				Backfill: tt.backfill, Events: tt.events,
			}
			got, err := simulator.Replay(cfg, jobs, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) != len(jobs) {
				t.Fatalf("the reference has %d jobs, the trace %d", len(want), len(jobs))
			}
			differ := 0
			for i, id := range ids {
				if start := got.Starts[i].Unix(); start != want[id] {
					differ++
					if differ <= 5 {
						t.Errorf("job %d starts at %d, want %d", id, start, want[id])
					}
				}
			}
			if differ > 0 {
				t.Errorf("%d of %d starts differ", differ, len(ids))
			}
			summary, err := simulator.Summarise(cfg, jobs, got)
			if err != nil {
				t.Fatal(err)
			}
			if wait := fmt.Sprintf("%.4f", summary.All.Wait.Mean.Seconds()); wait != tt.wait {
				t.Errorf("mean wait %s s, want %s", wait, tt.wait)
			}
			if slowdown := fmt.Sprintf("%.6f", summary.All.Slowdown); slowdown != tt.slowdown {
				t.Errorf("mean bounded slowdown %s, want %s", slowdown, tt.slowdown)
			}
		})
	}
}
