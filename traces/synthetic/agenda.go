package synthetic

import "github.com/segue-project/segue"

// agenda is a binary heap of what happens when; what is entered first for an
// instant comes out first.
type agenda[T any] struct {
	items   []entry[T]
	entered int64
}

type entry[T any] struct {
	at       segue.Time
	sequence int64
	what     T
}

func (e *entry[T]) before(f *entry[T]) bool {
	return e.at < f.at || (e.at == f.at && e.sequence < f.sequence)
}

// next returns the instant of the next entry, Never if there is none.
func (a *agenda[T]) next() segue.Time {
	if len(a.items) == 0 {
		return segue.Never
	}
	return a.items[0].at
}

func (a *agenda[T]) add(at segue.Time, what T) {
	a.entered++
	a.items = append(a.items, entry[T]{at, a.entered, what})
	for i := len(a.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !a.items[i].before(&a.items[parent]) {
			return
		}
		a.items[i], a.items[parent] = a.items[parent], a.items[i]
		i = parent
	}
}

func (a *agenda[T]) take() T {
	first := a.items[0].what
	last := len(a.items) - 1
	a.items[0] = a.items[last]
	a.items[last] = entry[T]{}
	a.items = a.items[:last]
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < last; child++ {
			if a.items[child].before(&a.items[least]) {
				least = child
			}
		}
		if least == i {
			return first
		}
		a.items[i], a.items[least] = a.items[least], a.items[i]
		i = least
	}
}
