package simulator

import "iter"

// waiting is one eligible job in a pool's queue, with what the passes read.
type waiting struct {
	key      float64 // of the order; ascending is first
	limit    int64
	eligible int64
	planned  int64 // start of the reservation that Conservative keeps
	nodes    int32
	ref      Ref
}

// queue holds the waiting jobs of a pool in order. It is cut into blocks, so
// that a job goes in or out by moving no more than one block, and a pass can
// skip the blocks in which no job is small or short enough.
type queue struct {
	blocks []block // none is empty but the only one of an empty queue
	n      int
}

type block struct {
	jobs []waiting
	// At least so many nodes does every job take, and so long is its limit. After
	// a removal it may be more, until the block is measured.
	fewest   int32
	shortest int64
	measured bool
}

const blockSize = 64

// cursor is the place of a job in a queue. It stays valid until a job is put in
// or taken out.
type cursor struct{ block, i int }

func (c cursor) before(d cursor) bool { return c.block < d.block || (c.block == d.block && c.i < d.i) }

func (q *queue) len() int { return q.n }

func (q *queue) at(c cursor) *waiting { return &q.blocks[c.block].jobs[c.i] }

// has reports whether c is the place of a job; the one after the last is not.
func (q *queue) has(c cursor) bool {
	return c.block < len(q.blocks) && c.i < len(q.blocks[c.block].jobs)
}

func (q *queue) next(c cursor) cursor {
	if c.i++; c.i == len(q.blocks[c.block].jobs) {
		return cursor{c.block + 1, 0}
	}
	return c
}

// previous returns the place before c, which is not the first.
func (q *queue) previous(c cursor) cursor {
	if c.i == 0 {
		return q.endOf(c.block - 1)
	}
	return cursor{c.block, c.i - 1}
}

// endOf returns the last place of a block.
func (q *queue) endOf(block int) cursor { return cursor{block, len(q.blocks[block].jobs) - 1} }

// nth returns the place of the job with n jobs before it, or of the last job.
func (q *queue) nth(n int) cursor {
	n = min(n, q.n-1)
	for b := range q.blocks {
		if k := len(q.blocks[b].jobs); n >= k {
			n -= k
			continue
		}
		return cursor{b, n}
	}
	return cursor{}
}

// all yields the jobs in order.
func (q *queue) all() iter.Seq[*waiting] {
	return func(yield func(*waiting) bool) {
		for b := range q.blocks {
			for i := range q.blocks[b].jobs {
				if !yield(&q.blocks[b].jobs[i]) {
					return
				}
			}
		}
	}
}

// find returns the place of a job; false if it does not wait here.
func (q *queue) find(ref Ref) (cursor, bool) {
	for b := range q.blocks {
		for i := range q.blocks[b].jobs {
			if q.blocks[b].jobs[i].ref == ref {
				return cursor{b, i}, true
			}
		}
	}
	return cursor{}, false
}

// nextBackfill returns the first place from c on of a job that EASY may start:
// it takes at most the idle nodes, and either lasts at most slack or takes at
// most the extra nodes.
func (q *queue) nextBackfill(c cursor, idle int32, slack int64, extra int32) cursor {
	for ; c.block < len(q.blocks); c = (cursor{c.block + 1, 0}) {
		b := &q.blocks[c.block]
		b.measure()
		if b.fewest > idle || (b.shortest > slack && b.fewest > extra) {
			continue
		}
		for ; c.i < len(b.jobs); c.i++ {
			if w := &b.jobs[c.i]; w.nodes <= idle && (w.limit <= slack || w.nodes <= extra) {
				return c
			}
		}
	}
	return c
}

// lastSmall returns the last place up to c of a job with at most the given
// nodes; false if there is none.
func (q *queue) lastSmall(c cursor, nodes int32) (cursor, bool) {
	for {
		if b := &q.blocks[c.block]; b.fewest <= nodes {
			for ; c.i >= 0; c.i-- {
				if b.jobs[c.i].nodes <= nodes {
					return c, true
				}
			}
		}
		if c.block == 0 {
			return c, false
		}
		c = q.endOf(c.block - 1)
	}
}

// lastFitting returns the last place from first to c of a job that needs no more
// nodes than are idle from now to the end of its limit, and how many are idle
// then beside its own; false if there is none.
func (q *queue) lastFitting(first, c cursor, now int64, idle []low) (cursor, int32, bool) {
	for ; !c.before(first); c = q.endOf(c.block - 1) {
		jobs := q.blocks[c.block].jobs
		for ; c.i >= 0; c.i-- {
			w := &jobs[c.i]
			margin := idle[0].free - w.nodes
			for k := 1; margin >= 0 && k < len(idle) && idle[k].at < now+w.limit; k++ {
				margin = idle[k].free - w.nodes
			}
			if margin >= 0 {
				return c, margin, !c.before(first)
			}
		}
		if c.block == 0 {
			break
		}
	}
	return c, 0, false
}
