package infer

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/segue-project/segue"
)

// overtaken returns, by job, whether another job that was submitted later and
// asked for no less (nodes or GPUs, and time limit) in the same partition
// started more than a window before it: then it was not room that was missing.
func (h *history) overtaken(window time.Duration) []bool {
	partitions := map[string][]int{}
	for i := range h.jobs {
		if h.started[i] && h.jobs[i].Limit > 0 {
			p := h.jobs[i].Partition
			partitions[p] = append(partitions[p], i)
		}
	}
	over := make([]bool, len(h.jobs))
	for _, jobs := range partitions {
		h.overtakenWithin(jobs, microseconds(window), over)
	}
	return over
}

// overtakenWithin goes through the jobs from the last submitted to the first,
// keeping the earliest start of those already seen by what they asked for.
func (h *history) overtakenWithin(jobs []int, window segue.Time, over []bool) {
	sizes := make([]int64, len(jobs))
	limits := make([]int64, len(jobs))
	for k, i := range jobs {
		sizes[k], limits[k] = size(&h.jobs[i]), int64(h.jobs[i].Limit)
	}
	bySize, byLimit := newScale(sizes), newScale(limits)
	earliest := newMinima(len(bySize), len(byLimit))
	slices.SortFunc(jobs, func(a, b int) int { return cmp.Compare(h.jobs[b].Submit, h.jobs[a].Submit) })
	for k := 0; k < len(jobs); {
		end := k
		for end < len(jobs) && h.jobs[jobs[end]].Submit == h.jobs[jobs[k]].Submit {
			j := &h.jobs[jobs[end]]
			first := earliest.atLeast(bySize.ceil(size(j)), byLimit.ceil(int64(j.Limit)))
			over[jobs[end]] = first < j.Start-window
			end++
		}
		for ; k < end; k++ {
			j := &h.jobs[jobs[k]]
			earliest.add(bySize.floor(size(j)), byLimit.floor(int64(j.Limit)), j.Start)
		}
	}
}

// size is what a job takes of a cluster, in the unit that the history knows.
func size(j *segue.Job) int64 {
	if j.GPUs > 0 {
		return int64(j.GPUs)
	}
	return int64(j.Nodes)
}

// scale is at most scaleSteps ascending values that stand for all values of a
// column: its frequent ones, and always the largest.
type scale []int64

const scaleSteps = 64

func newScale(values []int64) scale {
	sorted := slices.Sorted(slices.Values(values))
	distinct := slices.Compact(slices.Clone(sorted))
	if len(distinct) <= scaleSteps {
		return distinct
	}
	steps := make(scale, scaleSteps)
	for i := range steps {
		steps[i] = sorted[(i+1)*len(sorted)/scaleSteps-1]
	}
	return slices.Compact(steps)
}

// ceil returns the first step that is not below v, which is at most the largest
// value.
func (s scale) ceil(v int64) int {
	return sort.Search(len(s), func(i int) bool { return s[i] >= v })
}

// floor returns the last step that is not above v, -1 if all are.
func (s scale) floor(v int64) int {
	return sort.Search(len(s), func(i int) bool { return s[i] > v }) - 1
}

// minima is a two-dimensional binary indexed tree (Fenwick, 1994) of earliest
// instants over suffixes.
type minima struct {
	rows, columns int
	first         []segue.Time
}

func newMinima(rows, columns int) *minima {
	m := &minima{rows: rows, columns: columns, first: make([]segue.Time, (rows+1)*(columns+1))}
	for i := range m.first {
		m.first[i] = segue.Never
	}
	return m
}

// add enters an instant at a row and column; a negative one stands for too
// little to compare with and is left out.
func (m *minima) add(row, column int, at segue.Time) {
	if row < 0 || column < 0 {
		return
	}
	for r := m.rows - row; r <= m.rows; r += r & -r {
		for c := m.columns - column; c <= m.columns; c += c & -c {
			cell := &m.first[r*(m.columns+1)+c]
			*cell = min(*cell, at)
		}
	}
}

// atLeast returns the earliest instant entered at that row and column or beyond.
func (m *minima) atLeast(row, column int) segue.Time {
	first := segue.Never
	for r := m.rows - row; r > 0; r -= r & -r {
		for c := m.columns - column; c > 0; c -= c & -c {
			first = min(first, m.first[r*(m.columns+1)+c])
		}
	}
	return first
}
