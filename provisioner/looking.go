package provisioner

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

const (
	lookEvery = 6 * time.Hour
	// lookPatience is how long a decision waits for the first hindsight.
	lookPatience = 5 * time.Second
	// longestLook bounds what looking back may take.
	longestLook = 5 * time.Minute
	// mostLooks bounds what is looked back at: users ask for what shapes they like.
	mostLooks = 32
)

// lookFor is what is looked back at: submissions to a partition, and where no model
// says for which pairs it was trained, of jobs like one.
type lookFor struct {
	partition string
	shape     segue.Shape
}

// classOf returns a shape to stand for those like it: of a power of two of nodes and
// of hours, no more than asked for.
func classOf(s segue.Shape) segue.Shape {
	class := segue.Shape{Nodes: 1, Limit: time.Hour}
	for 2*class.Nodes <= s.Nodes {
		class.Nodes *= 2
	}
	for 2*class.Limit <= min(s.Limit, maxClass) {
		class.Limit *= 2
	}
	return class
}

const maxClass = 1024 * time.Hour

// looking is a hindsight that is looked for anew now and then, while decisions go
// on by the one before.
type looking struct {
	found Hindsight
	began segue.Time
	ends  chan looked // nil while nobody looks
}

type looked struct {
	Hindsight
	err error
}

// hindsight returns how forecasts for a partition turned out, by what was known some
// hours ago. The first decision waits for that for a while, unless somebody looks
// back already, of whom there is one at a time; as long as there is none nothing is
// corrected or doubted.
func (l *Live) hindsight(ctx context.Context, now *segue.Snapshot, of lookFor, cluster simulator.Config) (Hindsight, error) {
	k, another := l.hindsights[of]
	if !another {
		if k = l.room(of, now.At); k == nil {
			return Hindsight{}, nil
		}
	}
	if k.ends == nil && (!k.began.Known() || now.At.Sub(k.began).Abs() >= lookEvery) && !l.looks() {
		k.began, k.ends = now.At, make(chan looked, 1)
		go l.look(context.WithoutCancel(ctx), l.jobs, now, of, cluster, k.ends)
	}
	if k.ends == nil {
		return k.found, nil
	}
	patience := time.NewTimer(lookPatience)
	if another {
		patience.Reset(0)
	}
	defer patience.Stop()
	select {
	case end := <-k.ends:
		k.ends = nil
		switch {
		case errors.Is(end.err, context.DeadlineExceeded): // the one before stands
		case end.err != nil:
			return k.found, end.err
		default:
			k.found = end.Hindsight
		}
	case <-patience.C:
	case <-ctx.Done():
		return k.found, ctx.Err()
	}
	return k.found, nil
}

// room makes room for another hindsight, nil where there is none: the one that is
// out of date goes.
func (l *Live) room(of lookFor, now segue.Time) *looking {
	if len(l.hindsights) >= mostLooks {
		for other, k := range l.hindsights {
			if k.ends == nil && now.Sub(k.began).Abs() >= lookEvery {
				delete(l.hindsights, other)
				break
			}
		}
	}
	if len(l.hindsights) >= mostLooks {
		return nil
	}
	k := &looking{began: segue.NoTime}
	l.hindsights[of] = k
	return k
}

// looks reports whether somebody looks back.
func (l *Live) looks() bool {
	for _, k := range l.hindsights {
		if k.ends != nil && len(k.ends) == 0 {
			return true
		}
	}
	return false
}

// look looks back while others decide: it reads what nobody changes, jobs and the
// snapshot.
func (l *Live) look(
	ctx context.Context, jobs []segue.Job, now *segue.Snapshot, of lookFor, cluster simulator.Config, ends chan<- looked,
) {
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	by := Trained{Pairs: []segue.Shape{of.shape}}
	if l.cfg.By != nil {
		by = *l.cfg.By
	}
	found, err := LookBack(ctx, by, seenIn(of.partition, jobs, now), now.At, cluster, l.cfg.Monte)
	ends <- looked{found, err}
}

// seenIn returns the records of a partition and who waits for it now, in order of
// submission. What a record says of a wait that is not over is as old as the record:
// that is the queue's to say.
func seenIn(partition string, records []segue.Job, now *segue.Snapshot) []segue.Job {
	elsewhere := func(j segue.Job) bool { return partition != "" && j.Partition != partition }
	jobs := slices.DeleteFunc(slices.Clone(records), func(j segue.Job) bool { return elsewhere(j) || !leftQueue(&j).Known() })
	for i := range now.Pending {
		q := &now.Pending[i]
		j := segue.Job{
			ID: q.ID, User: q.User, Account: q.Account, Partition: q.Partition, QOS: q.QOS, Nodes: int32(q.Nodes), Limit: q.Limit,
			Submit: q.Submit, Eligible: q.Eligible, Start: segue.NoTime, End: segue.NoTime, State: segue.Pending,
		}
		if !q.Eligible.Known() {
			j.Eligible = segue.Never // as far as one knows
		}
		if !elsewhere(j) {
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b segue.Job) int { return cmp.Compare(a.Submit, b.Submit) })
	return jobs
}
