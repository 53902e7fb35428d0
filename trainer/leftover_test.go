package trainer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestIdleNodesCountWhileThreeJobsWait(t *testing.T) {
	t.Parallel()
	h := func(hours float64) segue.Time { return segue.Seconds(1_672_531_200) + segue.Time(hours*3600e6) } // 2023-01-01
	o := newOccupancy()
	o.add(6, h(0), h(0), h(10))
	for range 3 { // eligible from 1 on, they count as waiting ten minutes later
		o.add(1, h(1), h(5), h(6))
	}
	o.add(2, h(0), h(5), h(6)) // a larger one does not count
	got := o.idle(func(segue.Time) int { return 8 }, h(100))
	const waited = 4 - 1.0/6
	if diff := cmp.Diff(map[string]idleTime{"2023-01": {waited: waited, idled: 2 * waited}}, got, cmp.AllowUnexported(idleTime{}), near()); diff != "" {
		t.Errorf("idle time (-want +got):\n%s", diff)
	}
	if got := o.idle(func(segue.Time) int { return 5 }, h(100))["2023-01"]; got.idled != 0 {
		t.Errorf("idled %g node hours with fewer nodes in service than busy, want 0", got.idled)
	}
}

func TestLeftoverAddsUpToTheWholeError(t *testing.T) {
	t.Parallel()
	history, plain := replayOf(40)
	starts := make([]segue.Time, len(history))
	for i := range history {
		history[i].User = []string{"a", "b"}[i%2]
		history[i].Nodes = int32(1 + 4*(i%2))
		starts[i] = history[i].Start
		if i%2 == 1 {
			starts[i] = history[i].Start + segue.Time(i*60e6)
		}
	}
	found := nothingHeld(len(history))
	found.SelfBlocked, found.Eligible = make([]bool, len(history)), make([]segue.Time, len(history))
	s := &study{FidelityConfig: FidelityConfig{History: history}, found: found, plain: plain}
	l := s.leftover(plain, starts)
	if len(l.Users) != 2 || l.Users[0].Name != "b" || l.Users[0].Share != 1 || l.Users[1].Share != 0 {
		t.Errorf("parts of users are %+v, want all of it at b", l.Users)
	}
	for _, parts := range [][]Part{l.Users, l.Months, l.Sizes} {
		sum := 0.0
		for _, p := range parts {
			sum += float64(p.Share)
		}
		if sum < 0.999 || sum > 1.001 {
			t.Errorf("parts %+v add up to %g, want 1", parts, sum)
		}
	}
	if len(l.Worst) != 20 || l.Worst[0].Simulated != 39.0/60 {
		t.Errorf("worst job is %+v of %d, want the last one of 20", l.Worst[0], len(l.Worst))
	}
}
