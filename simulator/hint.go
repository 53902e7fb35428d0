package simulator

import "slices"

// hint is the earliest slot of a shape of job, when it was last asked for.
type hint struct {
	nodes  int32
	length int64
	at     int64
}

// hints are what the searches of a pass have found, the latest slot first.
// Within a pass the free nodes only become fewer, so that a job fits nowhere
// before the slot of one that needed no more. A hint from which nothing follows
// that does not follow from another is dropped.
type hints []hint

// mostHints bounds the list: reading more costs what it saves.
const mostHints = 32

// bound returns an instant before which the job fits nowhere; false if nothing
// is known.
func (h hints) bound(nodes int32, length int64) (int64, bool) {
	for i := range h {
		if h[i].nodes <= nodes && h[i].length <= length {
			return h[i].at, true
		}
	}
	return 0, false
}

// learn adds what a search has found beyond its bound.
func (h *hints) learn(n hint) {
	list := *h
	i := 0
	for i < len(list) && list[i].at > n.at {
		i++
	}
	kept := i
	for k := i; k < len(list); k++ {
		if list[k].nodes < n.nodes || list[k].length < n.length {
			list[kept] = list[k]
			kept++
		}
	}
	list = list[:min(kept, mostHints-1)]
	*h = slices.Insert(list, min(i, len(list)), n)
}
