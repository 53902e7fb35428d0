package simulator

import (
	"iter"
	"slices"
)

// running is a running job. It started its limit before est.
type running struct {
	est    int64 // the end by its limit
	nodes  int32 // whole nodes; 0 for a job on shared nodes
	ref    Ref
	places int32 // first of its places on shared nodes, or noPlace
}

// runningJobs holds the running jobs of a pool by estimated end, then ref. Like
// a queue it is cut into blocks: on a large cluster thousands of jobs run, and
// each would move half of the others twice.
type runningJobs struct {
	blocks [][]running // none is empty
	n      int
}

const runningBlock = 128

func (l *runningJobs) len() int { return l.n }

// all yields the jobs in order. They must not change meanwhile.
func (l *runningJobs) all() iter.Seq[*running] {
	return func(yield func(*running) bool) {
		for _, jobs := range l.blocks {
			for i := range jobs {
				if !yield(&jobs[i]) {
					return
				}
			}
		}
	}
}

func (r *running) before(est int64, ref Ref) bool {
	return r.est < est || (r.est == est && r.ref < ref)
}

// find returns the block and the index in it at which a job is, or belongs.
func (l *runningJobs) find(est int64, ref Ref) (block, i int) {
	lo, hi := 0, len(l.blocks) // of blocks the last that begins no later
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) / 2); l.blocks[mid][0].before(est, ref) || l.blocks[mid][0].ref == ref {
			lo = mid
		} else {
			hi = mid
		}
	}
	block = lo
	jobs := l.blocks[block]
	lo, hi = 0, len(jobs)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); jobs[mid].before(est, ref) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return block, lo
}

func (l *runningJobs) insert(r running) {
	l.n++
	if len(l.blocks) == 0 {
		l.blocks = openAt(l.blocks, 0)
		l.blocks[0] = append(l.blocks[0][:0], r)
		return
	}
	k, i := l.find(r.est, r.ref)
	l.blocks[k] = slices.Insert(l.blocks[k], i, r)
	if len(l.blocks[k]) > runningBlock {
		l.blocks = openAt(l.blocks, k+1)
		jobs := l.blocks[k]
		l.blocks[k], l.blocks[k+1] = jobs[:runningBlock/2], append(l.blocks[k+1][:0], jobs[runningBlock/2:]...)
	}
}

// remove takes out a job, which is there, and returns it.
func (l *runningJobs) remove(est int64, ref Ref) running {
	k, i := l.find(est, ref)
	r := l.blocks[k][i]
	l.blocks[k] = slices.Delete(l.blocks[k], i, i+1)
	if len(l.blocks[k]) == 0 {
		l.blocks = closeAt(l.blocks, k)
	}
	l.n--
	return r
}

func (l *runningJobs) copyInto(d *runningJobs) {
	for len(d.blocks) < len(l.blocks) {
		d.blocks = openAt(d.blocks, len(d.blocks))
	}
	d.blocks = d.blocks[:len(l.blocks)]
	for k, jobs := range l.blocks {
		d.blocks[k] = append(d.blocks[k][:0], jobs...)
	}
	d.n = l.n
}
