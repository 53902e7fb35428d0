package simulator

import "slices"

// insert puts w at the place c, before the job that is there.
func (q *queue) insert(c cursor, w waiting) {
	if c.i == 0 && c.block > 0 { // which is also the end of the block before
		c = cursor{c.block - 1, len(q.blocks[c.block-1].jobs)}
	}
	if len(q.blocks) == 0 {
		q.open(0)
	}
	if len(q.blocks[c.block].jobs) == blockSize {
		c = q.split(c)
	}
	b := &q.blocks[c.block]
	b.jobs = append(b.jobs, waiting{})
	copy(b.jobs[c.i+1:], b.jobs[c.i:])
	b.jobs[c.i] = w
	b.fewest, b.shortest = min(b.fewest, w.nodes), min(b.shortest, w.limit)
	q.n++
}

// split moves half of the full block at c to a new one behind it, or nothing at
// the end of the queue, where most jobs come in. It returns where c is now.
func (q *queue) split(c cursor) cursor {
	keep := blockSize / 2
	if c.i == blockSize && c.block == len(q.blocks)-1 {
		keep = blockSize
	}
	q.open(c.block + 1)
	full, rest := &q.blocks[c.block], &q.blocks[c.block+1]
	rest.jobs = append(rest.jobs, full.jobs[keep:]...)
	full.jobs = full.jobs[:keep]
	full.measured, rest.measured = false, false
	if c.i > keep || keep == blockSize {
		return cursor{c.block + 1, c.i - keep}
	}
	return c
}

// open puts an empty block at index i.
func (q *queue) open(i int) {
	q.blocks = openAt(q.blocks, i)
	b := &q.blocks[i]
	if b.jobs == nil {
		b.jobs = make([]waiting, 0, blockSize)
	}
	b.jobs, b.fewest, b.shortest, b.measured = b.jobs[:0], maxNodes+1, never, true
}

// measure computes what the block says about its jobs.
func (b *block) measure() {
	if b.measured {
		return
	}
	b.fewest, b.shortest, b.measured = maxNodes+1, never, true
	for i := range b.jobs {
		b.fewest, b.shortest = min(b.fewest, b.jobs[i].nodes), min(b.shortest, b.jobs[i].limit)
	}
}

// remove takes out the jobs at the given places, which must ascend.
func (q *queue) remove(places []cursor) {
	if len(places) == 0 {
		return
	}
	for k := 0; k < len(places); {
		block := places[k].block
		b := &q.blocks[block]
		kept := places[k].i
		for k < len(places) && places[k].block == block {
			next := len(b.jobs)
			from := places[k].i + 1
			if k++; k < len(places) && places[k].block == block {
				next = places[k].i
			}
			kept += copy(b.jobs[kept:], b.jobs[from:next])
		}
		b.jobs, b.measured = b.jobs[:kept], false
	}
	if q.n -= len(places); q.n == 0 {
		q.blocks = q.blocks[:1] // which stays, empty: the next job comes soon
		return
	}
	for i, b := range slices.Backward(q.blocks) {
		if len(b.jobs) == 0 {
			q.blocks = closeAt(q.blocks, i)
		}
	}
}

// sort puts the jobs into the order ahead. The queue is nearly sorted already.
func (q *queue) sort(ahead func(v, w *waiting) bool) {
	var sorted []waiting
	for w := range q.all() {
		sorted = append(sorted, *w)
	}
	slices.SortFunc(sorted, func(v, w waiting) int {
		if ahead(&v, &w) {
			return -1
		}
		return 1
	})
	for b := range q.blocks {
		n := copy(q.blocks[b].jobs, sorted)
		sorted = sorted[n:]
		q.blocks[b].measured = false
	}
}

func (q *queue) copyInto(d *queue) {
	for len(d.blocks) < len(q.blocks) {
		d.open(len(d.blocks))
	}
	d.blocks = d.blocks[:len(q.blocks)]
	for i := range q.blocks {
		b := &q.blocks[i]
		jobs := append(d.blocks[i].jobs[:0], b.jobs...)
		d.blocks[i] = *b
		d.blocks[i].jobs = jobs
	}
	d.n = q.n
}

// openAt makes room at index i of a list whose elements own memory: the element
// that it puts there is the one beyond the list's end, if there ever was one.
func openAt[T any](list []T, i int) []T {
	n := len(list)
	if n < cap(list) {
		list = list[:n+1]
	} else {
		var zero T
		list = append(list, zero)
	}
	spare := list[n]
	copy(list[i+1:], list[i:n])
	list[i] = spare
	return list
}

// closeAt takes the element at index i out and keeps its memory beyond the end.
func closeAt[T any](list []T, i int) []T {
	n := len(list) - 1
	spare := list[i]
	copy(list[i:], list[i+1:])
	list[n] = spare
	return list[:n]
}
