package infer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestALimitOnNodesHoldsJobsThatDoNotFitBesideEachOther(t *testing.T) {
	t.Parallel()
	h := newHistory([]segue.Job{
		own("first", 15, 0, 1, 10),
		own("second", 15, 0, 12, 20), // 15 + 15 pass the limit of 16 until 10
		own("small", 1, 0, 2, 9),     // fits beside the first
		own("large", 64, 0, 30, 40),  // let in by another rule
	})
	got := h.limitBlocks(&Result{Limits: Limits{MaxNodes: Limit{Found: true, Value: 16}}})
	want := []segue.Time{segue.NoTime, hours(10), segue.NoTime, segue.NoTime}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocked until (-want +got):\n%s", diff)
	}
}
