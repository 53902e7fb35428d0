package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/segue-project/segue"
)

// Coverage says how well the history of a cluster covers its time.
type Coverage struct {
	// Days counts the jobs that were submitted on each day that has any, in UTC, the
	// earliest first.
	Days []DayCount
	// Estimated is how many jobs are known from snapshots only, whose end is a
	// guess.
	Estimated int64
	// Snapshots is how many looks at the queue there are, from FirstSnapshot on.
	Snapshots     int64
	FirstSnapshot segue.Time // NoTime for none
}

// DayCount is a day, by the instant at which it begins, and its jobs.
type DayCount struct {
	Day  segue.Time
	Jobs int64
}

// day is a day in microseconds.
const day = 24 * 3600 * 1e6

// Coverage returns how well the history of a cluster covers its time. It reads all
// of it, which takes a moment where there are millions of jobs.
func (s *Store) Coverage(ctx context.Context, cluster string) (c Coverage, err error) {
	defer s.wrap(&err, "look how well the history of cluster %s covers its time", cluster)
	c.Days, err = collect(ctx, s.read, func(row scanner) (d DayCount, err error) {
		var number int64
		err = row.Scan(&number, &d.Jobs)
		d.Day = segue.Time(number * day)
		return d, err
	}, `SELECT submit / 86400000000, count(*) FROM jobs
		WHERE cluster = (SELECT id FROM clusters WHERE name = $1) AND submit >= 0 GROUP BY 1 ORDER BY 1`, text(cluster))
	if err != nil {
		return Coverage{}, err
	}
	err = s.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM jobs WHERE cluster = c.id AND estimated = 1),
			(SELECT count(*) FROM snapshots WHERE cluster = c.id), (SELECT min(at) FROM snapshots WHERE cluster = c.id)
		FROM clusters c WHERE name = $1`, text(cluster)).Scan(&c.Estimated, &c.Snapshots, toInstant{&c.FirstSnapshot})
	if errors.Is(err, sql.ErrNoRows) {
		err = segue.Errorf(segue.NotFound, "there is no such cluster")
	}
	return c, err
}
