package trainer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestBlendAveragesQuantiles(t *testing.T) {
	t.Parallel()
	asked := everyHour(2, func(int) time.Duration { return hour })
	short, long := always(asked, "short", 0, 2*hour), always(asked, "long", 10*hour)
	long.Forecasts[1].Waits = nil
	got := Blend(asked, "both", short, long).Forecasts
	if !got[1].Empty() {
		t.Errorf("one says nothing, the blend %v", got[1].Waits)
	}
	if median := got[0].Quantile(0.5); (median - 5*hour - 30*minute).Abs() > minute {
		t.Errorf("the median is %s, want 5h30m, the mean of 1h and 10h", median)
	}
	if got[0].Source != "both" {
		t.Errorf("it is by %s, want both", got[0].Source)
	}
}

// The forecasters learn at midnight what the history gave away: by then the
// cluster was seen to have six nodes, whatever was said.
func TestForecastersLearnTheNodesInServiceFromThePast(t *testing.T) {
	t.Parallel()
	var jobs []segue.Job
	for d := 1; d <= 5; d++ {
		for k := range 60 { // six at a time, two hours each, all submitted in the morning
			submit := midnight(d).Add(time.Duration(k) * time.Second)
			start := midnight(d).Add(time.Duration(k/6)*2*hour + minute)
			jobs = append(jobs, segue.Job{
				ID: segue.JobID{Number: int64(len(jobs))}, User: string(rune('a' + k%20)), Nodes: 1, Limit: 2 * hour,
				Submit: submit, Eligible: segue.NoTime, Start: start, End: start.Add(2 * hour), State: segue.Completed,
			})
		}
	}
	cfg := RecordedConfig{History: jobs, Cluster: busyReplay(1, 1).Cluster}
	tests := map[string]struct {
		at   segue.Time
		want int
	}{
		"before the first job the number given": {midnight(1), 8},
		"afterwards those that were seen":       {midnight(4), 6},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := cfg.believe(tt.at).cluster.Pools[0].Nodes; got != tt.want {
				t.Errorf("%d nodes, want %d", got, tt.want)
			}
		})
	}
}

func TestPrioritiesAsTheyWereKnown(t *testing.T) {
	t.Parallel()
	job := func(n int, user string, priority int64) segue.Job {
		return segue.Job{ID: segue.JobID{Number: int64(n)}, User: user, Priority: priority, Submit: midnight(n)}
	}
	p := newPriorities([]segue.Job{job(3, "ada", 900), job(1, "ada", 1200), job(2, "ben", 1000), job(4, "cleo", 0)})
	type known struct{ Ada, Ben, Nobody, Job1, Job3 int64 }
	at := func(t segue.Time) known {
		p.until(t)
		return known{p.of("ada"), p.of("ben"), p.of("nobody"), p.ofJob(segue.JobID{Number: 1}, "ada"), p.ofJob(segue.JobID{Number: 3}, "ada")}
	}
	for _, tt := range []struct {
		at   segue.Time
		want known
	}{
		{midnight(1), known{}},
		{midnight(2), known{Ada: 1200, Ben: 1200, Nobody: 1200, Job1: 1200, Job3: 1200}},
		{midnight(3), known{Ada: 1200, Ben: 1000, Nobody: 1200, Job1: 1200, Job3: 1200}},
		{midnight(5), known{Ada: 900, Ben: 1000, Nobody: 1000, Job1: 1200, Job3: 900}},
	} {
		if diff := cmp.Diff(tt.want, at(tt.at)); diff != "" {
			t.Errorf("at %s (-want +got):\n%s", tt.at, diff)
		}
	}
}
