package simulator

import (
	"testing"

	"pgregory.net/rapid"
)

// span is the time over which a naive profile is counted.
const span = 400

func TestProfileAgreesWithCountingEveryInstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		free := rapid.Int32Range(0, 50).Draw(t, "free")
		naive := make([]int32, span)
		for i := range naive {
			naive[i] = free
		}
		var f profile
		f.reset(0, free)
		begin := int64(0)
		for range rapid.IntRange(0, 300).Draw(t, "changes") {
			start := rapid.Int64Range(begin, span-2).Draw(t, "start")
			end := rapid.Int64Range(start+1, span-1).Draw(t, "end")
			n := rapid.Int32Range(-5, 5).Draw(t, "n")
			f.take(start, end, n)
			for i := start; i < end; i++ {
				naive[i] -= n
			}
			if rapid.IntRange(0, 20).Draw(t, "forget") == 0 {
				begin = rapid.Int64Range(begin, span-2).Draw(t, "now")
				f.forget(begin)
			}
			if rapid.IntRange(0, 5).Draw(t, "look") == 0 {
				compareProfile(t, &f, naive, begin)
			}
		}
		var d profile
		f.copyInto(&d)
		compareProfile(t, &d, naive, begin)
	})
}

func compareProfile(t *rapid.T, f *profile, naive []int32, begin int64) {
	t.Helper()
	start := rapid.Int64Range(begin, span-2).Draw(t, "from")
	end := rapid.Int64Range(start+1, span-1).Draw(t, "to")
	n := rapid.Int32Range(-20, 60).Draw(t, "want")
	least := naive[start]
	for _, v := range naive[start:end] {
		least = min(least, v)
	}
	if got := f.least(start, end); got != least {
		t.Fatalf("least from %d to %d is %d, want %d", start, end, got, least)
	}
	if got := f.fits(start, end, n); got != (least >= n) {
		t.Fatalf("%d fit from %d to %d: %v, least is %d", n, start, end, got, least)
	}
	length := end - start
	want := never
	for at := int64(span - 1); at >= begin; at-- {
		fits := true
		for u := at; u < at+length && fits; u++ {
			fits = naive[min(u, span-1)] >= n
		}
		if fits {
			want = at
		}
	}
	if got, _ := f.earliest(position{}, n, length); got != want {
		t.Fatalf("earliest of %d for %d is %d, want %d", n, length, got, want)
	}
	low := int32(1<<31 - 1)
	lows := f.appendLows(nil)
	for at := begin; at < span && low > 0; at++ {
		low = min(low, naive[at])
		k := len(lows) - 1
		for k > 0 && lows[k].at > at {
			k--
		}
		if lows[k].free != low {
			t.Fatalf("the low until %d is %d, want %d", at, lows[k].free, low)
		}
	}
}

func TestQueueAgreesWithASlice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var naive []waiting
		for k := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if len(naive) > 0 && rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				naive = removeSome(t, &q, naive)
			} else {
				i := rapid.IntRange(0, len(naive)).Draw(t, "at")
				if rapid.Bool().Draw(t, "at the end") {
					i = len(naive)
				}
				w := waiting{ref: Ref(k), nodes: rapid.Int32Range(1, 9).Draw(t, "nodes"), limit: rapid.Int64Range(1, 9).Draw(t, "limit")}
				c := cursor{len(q.blocks), 0}
				if i < len(naive) {
					c = q.nth(i)
				}
				q.insert(c, w)
				naive = append(naive[:i:i], append([]waiting{w}, naive[i:]...)...)
			}
			compareQueue(t, &q, naive)
		}
		var d queue
		q.copyInto(&d)
		compareQueue(t, &d, naive)
	})
}

func removeSome(t *rapid.T, q *queue, naive []waiting) (rest []waiting) {
	var places []cursor
	c := cursor{}
	for i := range naive {
		if rapid.IntRange(0, 3).Draw(t, "this one") == 0 {
			places = append(places, c)
		} else {
			rest = append(rest, naive[i])
		}
		c = q.next(c)
	}
	q.remove(places)
	return rest
}

func compareQueue(t *rapid.T, q *queue, naive []waiting) {
	t.Helper()
	i := 0
	for c := (cursor{}); q.has(c); c = q.next(c) {
		if i == len(naive) || q.at(c).ref != naive[i].ref {
			t.Fatalf("job %d at position %d, want %v", q.at(c).ref, i, naive)
		}
		i++
	}
	if i != len(naive) || q.len() != len(naive) {
		t.Fatalf("%d jobs, says %d, want %d", i, q.len(), len(naive))
	}
	if len(naive) == 0 {
		return
	}
	idle, slack, extra := rapid.Int32Range(0, 9).Draw(t, "idle"), rapid.Int64Range(0, 9).Draw(t, "slack"), rapid.Int32Range(0, 9).Draw(t, "extra")
	lows := []low{{0, idle}, {slack, idle - extra}}
	first, last, fitting := -1, -1, -1
	for i, w := range naive {
		if first < 0 && w.nodes <= idle && (w.limit <= slack || w.nodes <= extra) {
			first = i
		}
		if w.nodes <= idle {
			last = i
		}
		if w.nodes <= idle && (w.limit <= slack || w.nodes <= idle-extra) {
			fitting = i
		}
	}
	if c := q.nextBackfill(cursor{}, idle, slack, extra); q.has(c) != (first >= 0) || (first >= 0 && q.at(c).ref != naive[first].ref) {
		t.Fatalf("the first to backfill is at %v, want position %d", c, first)
	}
	if c, some := q.lastSmall(q.nth(len(naive)), idle); some != (last >= 0) || (some && q.at(c).ref != naive[last].ref) {
		t.Fatalf("the last small one is at %v, want position %d", c, last)
	}
	end := q.nth(len(naive))
	if c, _, some := q.lastFitting(cursor{}, end, 0, lows); some != (fitting >= 0) || (some && q.at(c).ref != naive[fitting].ref) {
		t.Fatalf("the last that fits is at %v, want position %d", c, fitting)
	}
	if fitting < len(naive)-1 {
		if c, _, some := q.lastFitting(q.nth(fitting+1), end, 0, lows); some {
			t.Fatalf("one at %v fits, want none behind position %d", c, fitting)
		}
	}
}
