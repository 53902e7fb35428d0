package store

import (
	"context"

	"github.com/segue-project/segue"
)

// Observed says what a snapshot changed.
type Observed struct {
	Appeared, Started, Requeued int
	Gone                        int // are history now
}

// RecordSnapshot notes what a scheduler showed, and so collects a history where
// there is no accounting. A job that the snapshot before showed and this one does
// not has ended: it becomes a job of the cluster's history, marked as estimated,
// which accounting may replace. Its end is the earlier of this snapshot and its
// limit, but not before the snapshot that showed it last; its state is
// segue.StateUnknown, or Requeued for one that pends again. A job that was never
// seen to run has no start.
//
// The snapshot must be whole. One that is not later than the last is refused with
// Conflict.
func (s *Store) RecordSnapshot(ctx context.Context, cluster string, snap segue.Snapshot) (seen Observed, err error) {
	defer s.wrap(&err, "record snapshot of cluster %s at %s", cluster, snap.At)
	id, err := s.clusterID(ctx, cluster)
	if err != nil {
		return Observed{}, err
	}
	err = s.change(ctx, func(t tx) error {
		before, err := t.nextSnapshot(id, &snap)
		if err != nil {
			return err
		}
		open, err := t.sightings(id)
		if err != nil {
			return err
		}
		look := look{t: t, cluster: id, at: snap.At, before: before, open: open}
		for _, jobs := range [][]segue.QueuedJob{snap.Pending, snap.Running} {
			for i := range jobs {
				if err := look.job(&jobs[i]); err != nil {
					return err
				}
			}
		}
		if err := look.gone(); err != nil {
			return err
		}
		seen = look.seen
		return nil
	})
	return seen, err
}

// nextSnapshot notes the snapshot itself and returns when the last one was.
func (t tx) nextSnapshot(cluster int64, snap *segue.Snapshot) (before segue.Time, err error) {
	if _, err := t.row([]any{toInstant{&before}}, `SELECT seen FROM clusters WHERE id = $1`+t.s.engine.forUpdate(), cluster); err != nil {
		return 0, err
	}
	if before.Known() && snap.At <= before {
		return 0, segue.Errorf(segue.Conflict, "there is one of %s", before)
	}
	if _, err := t.exec(`UPDATE clusters SET seen = $1 WHERE id = $2`, int64(snap.At), cluster); err != nil {
		return 0, err
	}
	_, err = t.exec(`INSERT INTO snapshots (cluster, at, nodes, gpus_per_node, running, pending, running_nodes, pending_nodes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, cluster, int64(snap.At), snap.Nodes, snap.GPUsPerNode,
		len(snap.Running), len(snap.Pending), nodesOf(snap.Running), nodesOf(snap.Pending))
	return before, err
}

func nodesOf(jobs []segue.QueuedJob) (n int64) {
	for i := range jobs {
		n += int64(jobs[i].Nodes)
	}
	return n
}

// sighting is a job that the latest snapshot showed.
type sighting struct {
	segue.QueuedJob
	restarts     int16
	firstPending segue.Time
	firstRunning segue.Time
}

const (
	sightingColumns = `number, sub, kind, restarts, submit, eligible, start_at, priority, nodes, gpus_per_node, time_limit, ` +
		`username, account, partition, qos, first_pending, first_running`
	sightingWidth = 17
)

func (t tx) sightings(cluster int64) (map[segue.JobID]*sighting, error) {
	if err := t.step(); err != nil {
		return nil, err
	}
	all, err := collect(t.ctx, t, scanSighting, `SELECT `+sightingColumns+` FROM sightings WHERE cluster = $1`, cluster)
	if err != nil {
		return nil, err
	}
	byID := make(map[segue.JobID]*sighting, len(all))
	for _, g := range all {
		byID[g.ID] = g
	}
	return byID, nil
}

func scanSighting(row scanner) (*sighting, error) {
	var g sighting
	return &g, row.Scan(&g.ID.Number, &g.ID.Sub, &g.ID.Kind, &g.restarts, toInstant{&g.Submit}, toInstant{&g.Eligible}, toInstant{&g.Start},
		&g.Priority, &g.Nodes, &g.GPUsPerNode, toSpan{&g.Limit}, &g.User, &g.Account, &g.Partition, &g.QOS,
		toInstant{&g.firstPending}, toInstant{&g.firstRunning})
}

// look is the reading of one snapshot.
type look struct {
	t       tx
	cluster int64
	at      segue.Time
	before  segue.Time // the last snapshot
	open    map[segue.JobID]*sighting
	ended   []segue.Job
	seen    Observed
}

// job notes a job that the snapshot shows, and takes it from what is open.
func (l *look) job(q *segue.QueuedJob) error {
	now := sighting{QueuedJob: *q, firstPending: segue.NoTime, firstRunning: segue.NoTime}
	if q.Start.Known() {
		now.firstRunning = l.at
	} else {
		now.firstPending = l.at
	}
	was := l.open[q.ID]
	delete(l.open, q.ID)
	switch {
	case was == nil:
		l.seen.Appeared++
		if !now.Submit.Known() {
			now.Submit = l.at
		}
		return l.insert(&now)
	case q.Submit.Known() && q.Submit != was.Submit: // the scheduler counts from the start again
		l.end(was, segue.StateUnknown)
		l.seen.Appeared++
		return l.replace(&now)
	case was.Start.Known() && q.Start != was.Start:
		l.end(was, segue.Requeued)
		l.seen.Requeued++
		now.Submit, now.restarts = was.Submit, was.restarts+1
		return l.replace(&now)
	case !was.Start.Known() && q.Start.Known():
		l.seen.Started++
		now.Submit, now.restarts, now.firstPending = was.Submit, was.restarts, was.firstPending
		return l.replace(&now)
	}
	return nil
}

func (l *look) replace(g *sighting) error {
	if err := l.remove(g.ID); err != nil {
		return err
	}
	return l.insert(g)
}

func (l *look) remove(id segue.JobID) error {
	_, err := l.t.exec(`DELETE FROM sightings WHERE cluster = $1 AND number = $2 AND sub = $3 AND kind = $4`, l.cluster, id.Number, id.Sub, int64(id.Kind))
	return err
}

func (l *look) insert(g *sighting) error {
	// It was taken for ended when it was merely not shown.
	_, err := l.t.exec(`DELETE FROM jobs WHERE cluster = $1 AND submit = $2 AND number = $3 AND sub = $4 AND kind = $5 AND restarts = $6 AND estimated = 1`,
		l.cluster, int64(g.Submit), g.ID.Number, g.ID.Sub, int64(g.ID.Kind), g.restarts)
	if err != nil {
		return err
	}
	_, err = l.t.exec(`INSERT INTO sightings (cluster, `+sightingColumns+`) VALUES (`+placeholders(1+sightingWidth)+`)`,
		l.cluster, g.ID.Number, g.ID.Sub, int64(g.ID.Kind), g.restarts, int64(g.Submit), instant(g.Eligible), instant(g.Start), g.Priority,
		g.Nodes, g.GPUsPerNode, span(g.Limit), text(g.User), text(g.Account), text(g.Partition), text(g.QOS),
		instant(g.firstPending), instant(g.firstRunning))
	return err
}

// gone makes history of the jobs that are still open: the snapshot lacks them.
func (l *look) gone() error {
	for id, g := range l.open {
		l.seen.Gone++
		l.end(g, segue.StateUnknown)
		if err := l.remove(id); err != nil {
			return err
		}
	}
	batch := newJobBatch(l.cluster, len(l.ended))
	for i := range l.ended {
		batch.add(&l.ended[i], true)
	}
	for _, row := range batch.rows {
		if _, err := l.t.exec(`INSERT INTO jobs (`+jobColumns+`) VALUES (`+placeholders(jobWidth)+`)`+jobConflict, row...); err != nil {
			return err
		}
	}
	return nil
}

// end notes that an attempt of a job is over.
func (l *look) end(g *sighting, state segue.JobState) {
	end := l.at
	if g.Start.Known() && g.Limit > 0 && g.Limit != segue.Unlimited {
		end = min(end, max(l.before, g.Start.Add(g.Limit)))
	}
	l.ended = append(l.ended, segue.Job{
		ID: g.ID, User: g.User, Account: g.Account, Partition: g.Partition, QOS: g.QOS,
		Submit: g.Submit, Eligible: g.Eligible, Start: g.Start, End: end, Limit: g.Limit,
		Nodes: int32(g.Nodes), GPUs: int32(g.Nodes * g.GPUsPerNode), Priority: g.Priority, State: state, Restarts: g.restarts,
	})
}

// Load is how busy a cluster was at the instant of a snapshot.
type Load struct {
	At                         segue.Time
	Nodes, GPUsPerNode         int // in service
	Running, Pending           int // jobs
	RunningNodes, PendingNodes int64
}

// Loads returns how busy a cluster was at its snapshots from an instant on, the
// earliest first.
func (s *Store) Loads(ctx context.Context, cluster string, from segue.Time) (loads []Load, err error) {
	defer s.wrap(&err, "list loads of cluster %s", cluster)
	return collect(ctx, s.read, func(row scanner) (l Load, err error) {
		err = row.Scan(toInstant{&l.At}, &l.Nodes, &l.GPUsPerNode, &l.Running, &l.Pending, &l.RunningNodes, &l.PendingNodes)
		return l, err
	}, `SELECT at, nodes, gpus_per_node, running, pending, running_nodes, pending_nodes FROM snapshots
		WHERE cluster = (SELECT id FROM clusters WHERE name = $1) AND at >= $2 ORDER BY at`, text(cluster), int64(from))
}
