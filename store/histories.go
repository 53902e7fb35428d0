package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/segue-project/segue"
)

// JobQuery says which jobs of a cluster: those that meet all fields that are not
// zero.
type JobQuery struct {
	Cluster string
	// From and Until bound the instants by which the answer is sorted: from From on,
	// before Until. Zero and NoTime are no bound.
	From, Until segue.Time
	User        string
	Partition   string
	Nodes       int
	Limit       time.Duration
}

const readJobColumns = `submit, number, sub, kind, restarts, eligible, start_at, end_at, time_limit, priority, ` +
	`nodes, cpus, gpus, exit_code, signal, state, name, username, account, partition, qos`

// Jobs returns the jobs that were submitted in the window of q, in the order of
// their submission, as they come from the database. The sequence ends with an
// error if it fails. It holds a connection until it is left.
func (s *Store) Jobs(ctx context.Context, q JobQuery) iter.Seq2[segue.Job, error] {
	return func(yield func(segue.Job, error) bool) {
		fail := func(err error) {
			yield(segue.Job{}, s.explain(err, "read jobs of cluster %s", q.Cluster))
		}
		w := q.where("submit")
		rows, err := s.read.QueryContext(ctx, `SELECT `+readJobColumns+` FROM jobs`+w.clause()+` ORDER BY submit, number, sub, kind, restarts`, w.args...)
		if err != nil {
			fail(err)
			return
		}
		defer rows.Close() //nolint:errcheck // rows.Err says it
		for rows.Next() {
			j, err := scanJob(rows)
			if err != nil {
				fail(err)
				return
			}
			if !yield(j, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			fail(err)
		}
	}
}

// Started returns the n jobs that started last in the window of q, the latest
// first. With a user, or with nodes and a limit, or with none of them, an index
// finds them, however many jobs there are.
func (s *Store) Started(ctx context.Context, q JobQuery, n int) (jobs []segue.Job, err error) {
	defer s.wrap(&err, "read jobs of cluster %s that started last", q.Cluster)
	query, args := startedQuery(q, n)
	return collect(ctx, s.read, scanJob, query, args...)
}

func startedQuery(q JobQuery, n int) (query string, args []any) {
	w := q.where("start_at")
	w.conditions = append(w.conditions, "start_at IS NOT NULL")
	return `SELECT ` + readJobColumns + ` FROM jobs` + w.clause() + fmt.Sprintf(` ORDER BY start_at DESC LIMIT %d`, n), w.args
}

// Waits returns how long the jobs that started in the window of q had waited since
// their submission, in no order: all of a week, where Started would be slow.
func (s *Store) Waits(ctx context.Context, q JobQuery) (waits []time.Duration, err error) {
	defer s.wrap(&err, "read waits of cluster %s", q.Cluster)
	w := q.where("start_at")
	w.conditions = append(w.conditions, "start_at IS NOT NULL")
	return collect(ctx, s.read, func(row scanner) (time.Duration, error) {
		var us int64
		err := row.Scan(&us)
		return spanOf(us), err
	}, `SELECT start_at - submit FROM jobs`+w.clause(), w.args...)
}

func (q JobQuery) where(instant string) *where {
	var w where
	w.and("cluster = (SELECT id FROM clusters WHERE name = ", text(q.Cluster))
	w.conditions[0] += ")"
	if q.From.Known() && q.From != 0 {
		w.and(instant+" >= ", int64(q.From))
	}
	if q.Until.Known() && q.Until != 0 {
		w.and(instant+" < ", int64(q.Until))
	}
	if q.User != "" {
		w.and("username = ", text(q.User))
	}
	if q.Partition != "" {
		w.and("partition = ", text(q.Partition))
	}
	if q.Nodes != 0 {
		w.and("nodes = ", q.Nodes)
	}
	if q.Limit != 0 {
		w.and("time_limit = ", span(q.Limit))
	}
	return &w
}

// History is what the store holds of a cluster.
type History struct {
	Cluster string
	Jobs    int64
	// First and Last are the earliest and the latest submission of a job, NoTime
	// where there is none; Seen is the latest snapshot, and up to Accounted the
	// accounting was asked.
	First, Last, Seen, Accounted segue.Time
}

// Histories returns what the store holds of each cluster, by name. It counts the
// jobs, which takes a moment where there are millions.
func (s *Store) Histories(ctx context.Context) (all []History, err error) {
	defer s.wrap(&err, "list histories")
	return collect(ctx, s.read, func(row scanner) (h History, err error) {
		err = row.Scan(&h.Cluster, &h.Jobs, toInstant{&h.First}, toInstant{&h.Last}, toInstant{&h.Seen}, toInstant{&h.Accounted})
		return h, err
	}, `SELECT name, (SELECT count(*) FROM jobs WHERE cluster = id), (SELECT min(submit) FROM jobs WHERE cluster = id),
		(SELECT max(submit) FROM jobs WHERE cluster = id), seen, accounted FROM clusters ORDER BY name`)
}

// Accounted returns up to when the accounting of a cluster was asked for its jobs:
// NoTime for never.
func (s *Store) Accounted(ctx context.Context, cluster string) (until segue.Time, err error) {
	defer s.wrap(&err, "look how far the history of cluster %s goes", cluster)
	found, err := collect(ctx, s.read, func(row scanner) (until segue.Time, err error) {
		err = row.Scan(toInstant{&until})
		return until, err
	}, `SELECT accounted FROM clusters WHERE name = $1`, text(cluster))
	if err != nil || len(found) == 0 {
		return segue.NoTime, err
	}
	return found[0], nil
}

// SetAccounted notes that the accounting was asked up to an instant. It never goes
// back.
func (s *Store) SetAccounted(ctx context.Context, cluster string, until segue.Time) (err error) {
	defer s.wrap(&err, "note how far the history of cluster %s goes", cluster)
	id, err := s.clusterID(ctx, cluster)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		_, err := t.exec(`UPDATE clusters SET accounted = $1 WHERE id = $2 AND (accounted IS NULL OR accounted < $1)`, int64(until), id)
		return err
	})
}
