package simulator

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRunningJobsAgreeWithASortedSlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var jobs runningJobs
		var naive []running
		inOrder := func(a, b running) int { return cmp.Or(cmp.Compare(a.est, b.est), cmp.Compare(a.ref, b.ref)) }
		for k := range rapid.IntRange(1, 600).Draw(t, "steps") {
			if len(naive) > 0 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				i := rapid.IntRange(0, len(naive)-1).Draw(t, "which")
				if got := jobs.remove(naive[i].est, naive[i].ref); got != naive[i] {
					t.Fatalf("removed %+v, want %+v", got, naive[i])
				}
				naive = slices.Delete(naive, i, i+1)
				continue
			}
			r := running{est: rapid.Int64Range(0, 40).Draw(t, "end"), ref: Ref(k), nodes: 1}
			jobs.insert(r)
			naive = append(naive, r)
			slices.SortFunc(naive, inOrder)
		}
		var d runningJobs
		jobs.copyInto(&d)
		for _, l := range []*runningJobs{&jobs, &d} {
			var got []running
			for r := range l.all() {
				got = append(got, *r)
			}
			if !slices.Equal(got, naive) || l.len() != len(naive) {
				t.Fatalf("%d jobs %v, want %v", l.len(), got, naive)
			}
		}
	})
}
