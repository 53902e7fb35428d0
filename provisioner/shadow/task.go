package shadow

import (
	"cmp"

	"github.com/segue-project/segue"
)

// task is something to do at an instant of the history, for one hand-over.
type task struct {
	at       segue.Time
	handover int
	kind     taskKind
}

type taskKind uint8

const (
	tryUser  taskKind = iota // submit as the user did
	tryOther                 // submit as nobody did
	trySegue                 // submit as was advised at the time
	forecast                 // forecast the wait of the user's submission
	ask                      // ask whether to submit now
)

// tasks is a heap of tasks in the order of time.
type tasks []task

// Len implements heap.Interface.
func (t tasks) Len() int { return len(t) }

// Less implements heap.Interface.
func (t tasks) Less(i, j int) bool {
	a, b := t[i], t[j]
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.handover, b.handover), cmp.Compare(a.kind, b.kind)) < 0
}

// Swap implements heap.Interface.
func (t tasks) Swap(i, j int) { t[i], t[j] = t[j], t[i] }

// Push implements heap.Interface.
func (t *tasks) Push(x any) { *t = append(*t, x.(task)) }

// Pop implements heap.Interface.
func (t *tasks) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
