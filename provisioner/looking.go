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
)

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

// hindsight returns how the model's forecasts for a partition turned out, by what was
// known some hours ago. The first decision waits for that for a while; as long as
// there is none the model is neither corrected nor doubted.
func (l *Live) hindsight(ctx context.Context, now *segue.Snapshot, partition string, cluster simulator.Config) (Hindsight, error) {
	k, another := l.hindsights[partition]
	if !another {
		k = &looking{began: segue.NoTime}
		l.hindsights[partition] = k
	}
	if k.ends == nil && (!k.began.Known() || now.At.Sub(k.began) >= lookEvery) {
		k.began, k.ends = now.At, make(chan looked, 1)
		go l.look(context.WithoutCancel(ctx), l.jobs, now, partition, cluster, k.ends)
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

// look looks back while others decide: it reads what nobody changes, jobs and the
// snapshot.
func (l *Live) look(
	ctx context.Context, jobs []segue.Job, now *segue.Snapshot, partition string, cluster simulator.Config, ends chan<- looked,
) {
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	found, err := LookBack(ctx, *l.cfg.By, seenIn(partition, jobs, now), now.At, cluster, l.cfg.Monte)
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
