package simulator

// ending is the future end of a running job.
type ending struct {
	end, est int64 // when it really ends; when its limit ends
	ref      Ref
	pool     int32
}

// The order of ends at one instant is by job.
func (e *ending) before(f *ending) bool {
	return e.end < f.end || (e.end == f.end && e.ref < f.ref)
}

// endHeap is a binary heap, the next end first. It is written out because
// container/heap costs an interface call per comparison in the hottest loop.
type endHeap []ending

func (h *endHeap) push(e ending) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

func (h *endHeap) pop() ending {
	old := *h
	e := old[0]
	n := len(old) - 1
	old[0] = old[n]
	*h = old[:n]
	if n > 1 {
		h.down(0)
	}
	return e
}

// remove takes out the end of ref, if it is there.
func (h *endHeap) remove(ref Ref) {
	q := *h
	for i := range q {
		if q[i].ref != ref {
			continue
		}
		n := len(q) - 1
		q[i] = q[n]
		*h = q[:n]
		if i < n {
			h.down(i)
			h.up(i)
		}
		return
	}
}

func (h *endHeap) init() {
	for i := len(*h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *endHeap) up(i int) {
	q := *h
	e := q[i]
	for i > 0 {
		parent := (i - 1) / 2
		if !e.before(&q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = e
}

func (h *endHeap) down(i int) {
	q := *h
	e := q[i]
	for {
		child := 2*i + 1
		if child >= len(q) {
			break
		}
		if child+1 < len(q) && q[child+1].before(&q[child]) {
			child++
		}
		if !q[child].before(&e) {
			break
		}
		q[i] = q[child]
		i = child
	}
	q[i] = e
}
