package store

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/segue-project/segue"
)

const (
	jobColumns = `cluster, submit, number, sub, kind, restarts, eligible, start_at, end_at, time_limit, priority, ` +
		`nodes, cpus, gpus, exit_code, signal, estimated, state, name, username, account, partition, qos`
	jobWidth  = 23
	jobSubmit = 1 // the place of submit among them

	// jobConflict says what a record does to an earlier one of the same job:
	// accounting replaces what was estimated from snapshots and not the other way
	// round, and no job that ended goes on again. What is the same is not written.
	jobConflict = ` ON CONFLICT (cluster, submit, number, sub, kind, restarts) DO UPDATE SET
			eligible = excluded.eligible, start_at = excluded.start_at, end_at = excluded.end_at,
			time_limit = excluded.time_limit, priority = excluded.priority, nodes = excluded.nodes, cpus = excluded.cpus, gpus = excluded.gpus,
			exit_code = excluded.exit_code, signal = excluded.signal, estimated = excluded.estimated, state = excluded.state, name = excluded.name,
			username = excluded.username, account = excluded.account, partition = excluded.partition, qos = excluded.qos
		WHERE (jobs.estimated = 1 OR excluded.estimated = 0) AND (jobs.end_at IS NULL OR excluded.end_at IS NOT NULL)
			AND (jobs.eligible, jobs.start_at, jobs.end_at, jobs.time_limit, jobs.priority, jobs.nodes, jobs.cpus, jobs.gpus,
				jobs.exit_code, jobs.signal, jobs.estimated, jobs.state, jobs.name, jobs.username, jobs.account, jobs.partition, jobs.qos)
			IS DISTINCT FROM (excluded.eligible, excluded.start_at, excluded.end_at, excluded.time_limit, excluded.priority, excluded.nodes, excluded.cpus, excluded.gpus,
				excluded.exit_code, excluded.signal, excluded.estimated, excluded.state, excluded.name, excluded.username, excluded.account, excluded.partition, excluded.qos)`
)

// Imported says what became of a history that was imported.
type Imported struct {
	Read    int
	Changed int // were new, or differ from what was known
	Refused int // cannot be kept
	// Problems tells why, of the first ones that were refused.
	Problems []string
}

const maxProblems = 10

// worthAnalyzing is the number of jobs after which the engine looks at its
// statistics again.
const worthAnalyzing = 10_000

// ImportJobs adds a history to the jobs of a cluster. A job that is there already
// (the same ID, submission and restart) is updated, so that a history, or a part
// of it, can be imported again. An error of the sequence ends the import; the jobs
// before it are kept, as they are when the import is interrupted: it proceeds in
// transactions of some thousand jobs. The first import into PostgreSQL is a single
// one: interrupted it leaves nothing, and whoever asks for jobs meanwhile waits.
func (s *Store) ImportJobs(ctx context.Context, cluster string, jobs iter.Seq2[segue.Job, error]) (done Imported, err error) {
	defer s.wrap(&err, "import jobs of cluster %s", cluster)
	id, err := s.clusterID(ctx, cluster)
	if err != nil {
		return Imported{}, err
	}
	var failed error // of the sequence: what was read before is kept
	all := func(write func(rows [][]any) (int64, error)) error {
		done, failed = Imported{}, nil
		return done.read(jobs, newJobBatch(id, s.engine.batch()), write, &failed)
	}
	filled, err := s.engine.fillJobs(ctx, s, all)
	if err == nil && !filled {
		err = all(func(rows [][]any) (int64, error) { return s.engine.importJobs(ctx, s, rows) })
	}
	if err != nil {
		return done, err
	}
	if look := s.engine.analyze(); look != "" && failed == nil && done.Changed >= worthAnalyzing {
		_, failed = s.write.ExecContext(ctx, look)
	}
	return done, failed
}

// read writes the jobs of a history batch by batch. failed is the error of the
// sequence, err that of write.
func (i *Imported) read(jobs iter.Seq2[segue.Job, error], batch *jobBatch, write func(rows [][]any) (int64, error), failed *error) error {
	flush := func() error {
		if len(batch.rows) == 0 {
			return nil
		}
		n, err := write(batch.rows)
		i.Changed += int(n)
		batch.clear()
		return err
	}
	for job, err := range jobs {
		if err != nil {
			*failed = err
			break
		}
		i.Read++
		if !job.Submit.Known() {
			i.refuse(fmt.Sprintf("job %s has no submit time", job.ID))
			continue
		}
		if batch.add(&job, false); batch.full() {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (i *Imported) refuse(why string) {
	i.Refused++
	if len(i.Problems) < maxProblems {
		i.Problems = append(i.Problems, why)
	}
}

// jobBatch gathers the rows of jobs, of each identity the last one.
type jobBatch struct {
	cluster int64
	rows    [][]any
	at      map[jobIdentity]int
	arena   []any // rows are cut from it, to spare an allocation each
}

type jobIdentity struct {
	id       segue.JobID
	submit   segue.Time
	restarts int16
}

func newJobBatch(cluster int64, size int) *jobBatch {
	return &jobBatch{cluster: cluster, rows: make([][]any, 0, size), at: make(map[jobIdentity]int, size), arena: make([]any, 0, size*jobWidth)}
}

func (b *jobBatch) full() bool { return len(b.rows) == cap(b.rows) }

func (b *jobBatch) clear() {
	b.rows, b.arena = b.rows[:0], b.arena[:0]
	clear(b.at)
}

func (b *jobBatch) add(j *segue.Job, estimated bool) {
	flag := int64(0)
	if estimated {
		flag = 1
	}
	identity := jobIdentity{j.ID, j.Submit, j.Restarts}
	if i, twice := b.at[identity]; twice {
		copy(b.rows[i], b.row(j, flag))
		return
	}
	b.at[identity] = len(b.rows)
	b.rows = append(b.rows, b.row(j, flag))
}

func (b *jobBatch) row(j *segue.Job, estimated int64) []any {
	from := len(b.arena)
	b.arena = append(b.arena, b.cluster, int64(j.Submit), j.ID.Number, int64(j.ID.Sub), int64(j.ID.Kind), int64(j.Restarts),
		instant(j.Eligible), instant(j.Start), instant(j.End), span(j.Limit), j.Priority,
		int64(j.Nodes), int64(j.CPUs), int64(j.GPUs), int64(j.ExitCode), int64(j.Signal), estimated,
		j.State.String(), text(j.Name), text(j.User), text(j.Account), text(j.Partition), text(j.QOS))
	return slices.Clip(b.arena[from:])
}

// clusterID returns the number of a cluster, which it gives to a new one.
func (s *Store) clusterID(ctx context.Context, name string) (id int64, err error) {
	find := func() (int64, error) {
		ids, err := collect(ctx, s.read, func(row scanner) (id int64, err error) {
			err = row.Scan(&id)
			return id, err
		}, `SELECT id FROM clusters WHERE name = $1`, text(name))
		if err != nil || len(ids) == 0 {
			return 0, err
		}
		return ids[0], nil
	}
	if id, err := find(); err != nil || id > 0 {
		return id, err
	}
	err = s.change(ctx, func(t tx) error {
		_, err := t.exec(`INSERT INTO clusters (id, name) SELECT COALESCE(max(id), 0) + 1, $1 FROM clusters`, text(name))
		return err
	})
	// Conflict: another process was faster with this cluster, or with its number.
	if err != nil && s.engine.kindOf(err) != segue.Conflict {
		return 0, err
	}
	if id, findErr := find(); findErr != nil || id > 0 {
		return id, findErr
	}
	return 0, err
}

func scanJob(row scanner) (j segue.Job, err error) {
	err = row.Scan(toInstant{&j.Submit}, &j.ID.Number, &j.ID.Sub, &j.ID.Kind, &j.Restarts,
		toInstant{&j.Eligible}, toInstant{&j.Start}, toInstant{&j.End}, toSpan{&j.Limit}, &j.Priority,
		&j.Nodes, &j.CPUs, &j.GPUs, &j.ExitCode, &j.Signal, toName[segue.JobState]{&j.State, parseJobState},
		&j.Name, &j.User, &j.Account, &j.Partition, &j.QOS)
	return j, err
}
