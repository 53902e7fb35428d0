package simulator

import (
	"testing"

	"pgregory.net/rapid"
)

func TestHintsChangeNoSlot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var f plan
		f.whole.reset(0, 0)
		for at := range int64(60) {
			f.whole.release(at, rapid.Int32Range(0, 3).Draw(t, "released"))
		}
		for range rapid.IntRange(1, 80).Draw(t, "jobs") {
			j := job{nodes: rapid.Int32Range(1, 12).Draw(t, "nodes"), limit: rapid.Int64Range(1, 20).Draw(t, "limit")}
			want, _ := f.whole.earliest(position{}, j.nodes, j.limit)
			got := f.earliestWhole(j.nodes, j.limit)
			if got != want {
				t.Fatalf("%d nodes for %d from %d, want %d; hints %v", j.nodes, j.limit, got, want, f.hints)
			}
			if len(f.hints) > mostHints {
				t.Fatalf("%d hints, want at most %d", len(f.hints), mostHints)
			}
			if got != never && rapid.Bool().Draw(t, "book") {
				f.book(&pool{}, &j, got, got+j.limit, nil, nil)
			}
		}
	})
}
