package published

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

const (
	minute = time.Minute
	hour   = time.Hour
)

// noon is the present of these tests.
var noon = segue.Seconds(1672574400)

// waiting returns a job that was submitted the age ago and waits.
func waiting(nodes int, limit, age time.Duration) segue.QueuedJob {
	return segue.QueuedJob{
		Request: segue.Request{Shape: segue.Shape{Nodes: nodes, Limit: limit}}, Submit: noon.Add(-age), Start: segue.NoTime, Eligible: segue.NoTime,
	}
}

// started returns a job that waited and has run for that long.
func started(nodes int, limit, wait, run time.Duration) segue.QueuedJob {
	q := waiting(nodes, limit, wait+run)
	q.Start = noon.Add(-run)
	return q
}

func TestQueueByHand(t *testing.T) {
	t.Parallel()
	zeros := func(n int) []float32 { return make([]float32, n) }
	tests := map[string]struct {
		pending, running []segue.QueuedJob
		want             []float32
	}{
		"an empty cluster": {want: zeros(34)},
		"one job waits": {
			pending: []segue.QueuedJob{waiting(3, 2*hour, 10*minute)},
			want: slices.Concat(
				[]float32{1, 3}, []float32{120, 120, 120, 120, 120}, []float32{600, 600, 600, 600, 600}, zeros(5),
				zeros(17)),
		},
		"two run: percentiles lie between them": {
			running: []segue.QueuedJob{started(2, 4*hour, 100*time.Second, hour), started(5, 2*hour, 20*time.Second, 2*hour)},
			want: slices.Concat(zeros(17),
				[]float32{2, 7}, []float32{120, 150, 180, 210, 240}, []float32{20, 40, 60, 80, 100}, []float32{3600, 4500, 5400, 6300, 7200}),
		},
		"four wait, one runs": {
			pending: []segue.QueuedJob{
				waiting(1, 40*minute, 0), waiting(1, 10*minute, minute), waiting(1, 30*minute, 2*minute), waiting(1, 20*minute, 10*minute),
			},
			running: []segue.QueuedJob{started(8, 48*hour, 0, 30*time.Second)},
			want: slices.Concat(
				[]float32{4, 4}, []float32{10, 17.5, 25, 32.5, 40}, []float32{0, 45, 90, 240, 600}, zeros(5),
				[]float32{1, 8}, []float32{2880, 2880, 2880, 2880, 2880}, zeros(5), []float32{30, 30, 30, 30, 30}),
		},
		"no limit is a year": {
			pending: []segue.QueuedJob{waiting(1, segue.Unlimited, 0)},
			want:    slices.Concat([]float32{1, 1}, []float32{525600, 525600, 525600, 525600, 525600}, zeros(27)),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d Describer
			got := d.Queue(&segue.Snapshot{At: noon, Pending: tt.pending, Running: tt.running}, nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("numbers differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPairByHand(t *testing.T) {
	t.Parallel()
	shape := segue.Shape{Nodes: 8, Limit: 48 * hour}
	tests := map[string]struct {
		pair Pair
		want []float32
	}{
		"it waits":            {Pair{shape, noon.Add(-hour), segue.NoTime}, []float32{2880, 8, 3600, 0, 2880, 8, 0, 0}},
		"it will start later": {Pair{shape, noon.Add(-hour), noon.Add(hour)}, []float32{2880, 8, 3600, 0, 2880, 8, 0, 0}},
		"it runs":             {Pair{shape, noon.Add(-3 * hour), noon.Add(-hour)}, []float32{2880, 8, 7200, 3600, 2880, 8, 0, 0}},
	}
	for name, tt := range tests {
		got := make([]float32, PairWidth)
		tt.pair.put(noon, got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEveryNumberHasAName(t *testing.T) {
	t.Parallel()
	names := Names()
	if len(names) != StepWidth {
		t.Fatalf("%d names of %d numbers", len(names), StepWidth)
	}
	for i, want := range map[int]string{
		0: "pending.jobs", 1: "pending.nodes", 2: "pending.limit_min.p0", 6: "pending.limit_min.p100", 7: "pending.queued_s.p0",
		12: "pending.run_s.p0", 17: "running.jobs", 29: "running.run_s.p0", 33: "running.run_s.p100", 34: "predecessor.limit_min",
		37: "predecessor.run_s", 41: "successor.run_s",
	} {
		if names[i] != want {
			t.Errorf("number %d is %s, want %s", i, names[i], want)
		}
	}
}

func TestTimelineGivesTheSnapshotsBefore(t *testing.T) {
	t.Parallel()
	var line Timeline
	for k := range Steps + 6 {
		at := line.Next(noon.Add(-3 * minute))
		if want := noon.Add(time.Duration(k) * Step); at != want {
			t.Fatalf("snapshot %d is of %s, want %s", k, at, want)
		}
		line.Record(&segue.Snapshot{At: at, Pending: make([]segue.QueuedJob, k)})
	}
	pair := Pair{Shape: segue.Shape{Nodes: 2, Limit: hour}, Submit: noon, Start: segue.NoTime}
	tests := map[string]struct {
		after       time.Duration // noon
		whole       bool
		first, last float32 // pending jobs in the first and the last snapshot
	}{
		"before the first":            {-minute, false, 0, 0},
		"a snapshot too few":          {143*Step - minute, false, 0, 0},
		"as many as are needed":       {143 * Step, true, 0, 143},
		"between two":                 {145*Step + 9*minute, true, 2, 145},
		"the last":                    {149 * Step, true, 6, 149},
		"after the last was recorded": {150 * Step, false, 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := make([]float32, StateWidth)
			if whole := line.State(pair, noon.Add(tt.after), state); whole != tt.whole {
				t.Fatalf("whole is %t, want %t", whole, tt.whole)
			}
			if !tt.whole {
				return
			}
			if first, last := state[0], state[(Steps-1)*StepWidth]; first != tt.first || last != tt.last {
				t.Errorf("from snapshot %v to %v, want %v to %v", first, last, tt.first, tt.last)
			}
			for k := range Steps {
				want := []float32{60, 2, float32(tt.after.Seconds()), 0, 60, 2, 0, 0}
				if diff := cmp.Diff(want, state[k*StepWidth+QueueWidth:(k+1)*StepWidth]); diff != "" {
					t.Fatalf("step %d: the pair differs (-want +got):\n%s", k, diff)
				}
			}
		})
	}
}

// It counts the allocations of the whole process, and so runs alone.
func TestStateAllocatesNothing(t *testing.T) {
	var line Timeline
	snap := segue.Snapshot{Pending: []segue.QueuedJob{waiting(1, hour, minute), waiting(2, 2*hour, hour)}}
	for range Steps {
		snap.At = line.Next(noon)
		line.Record(&snap)
	}
	state := make([]float32, StateWidth)
	pair := Pair{Shape: segue.Shape{Nodes: 2, Limit: hour}, Submit: noon, Start: segue.NoTime}
	at := noon.Add((Steps - 1) * Step)
	if n := testing.AllocsPerRun(20, func() { line.State(pair, at, state) }); n != 0 {
		t.Errorf("a state costs %v allocations", n)
	}
	var d Describer
	out := d.Queue(&snap, nil)
	if n := testing.AllocsPerRun(20, func() { out = d.Queue(&snap, out[:0]) }); n != 0 {
		t.Errorf("a snapshot costs %v allocations", n)
	}
}

func TestThresholdsGoFromTheEndToTheBeginning(t *testing.T) {
	t.Parallel()
	list := Thresholds()
	if !slices.Contains(list, Threshold) {
		t.Errorf("the published threshold is not among %v", list)
	}
	for i := 1; i < len(list); i++ {
		if list[i] >= list[i-1] {
			t.Errorf("threshold %v follows %v", list[i], list[i-1])
		}
	}
	for outcome, want := range map[float64]bool{-0.6: false, -0.5: true, 3: true, 500: true, 500.1: false, math.NaN(): false} {
		if got := Submits(outcome, Threshold); got != want {
			t.Errorf("at a foretold outcome of %v h it submits: %t, want %t", outcome, got, want)
		}
	}
}
