package traces

import (
	"slices"

	"github.com/segue-project/segue"
)

// Queue is the moment at which most jobs waited, of those that waited over ten
// minutes in the end. Jobs is 0 and At NoTime where none did.
type Queue struct {
	Jobs int64
	At   segue.Time
}

// queueline holds the seconds at which long waits began and ended: seconds times
// two, plus one for a beginning, so that at one instant ends come first.
type queueline []int64

func (q *queueline) add(j *segue.Job) {
	if j.Wait() > longWait {
		*q = append(*q, clampSecond(j.Submit)<<1|1, clampSecond(j.Start)<<1)
	}
}

// longest sweeps over the events in order of time.
func (q queueline) longest() Queue {
	slices.Sort(q)
	most := Queue{At: segue.NoTime}
	waiting := int64(0)
	for _, e := range q {
		waiting += 2*(e&1) - 1
		if waiting > most.Jobs {
			most = Queue{Jobs: waiting, At: segue.Seconds(e >> 1)}
		}
	}
	return most
}
