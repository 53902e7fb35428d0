package traces

import (
	"math"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/segue-project/segue"
)

// parquetColumn is one column of a Parquet history: how it is written, and how
// it is read.
type parquetColumn struct {
	name     string
	kind     parquet.Kind
	optional bool // null stands for "not known"
	needed   bool // a file without it is no history
	node     parquet.Node
	get      func(*segue.Job) parquet.Value
	set      func(*record, parquet.Value, *interner) bool // false: out of range
}

// parquetColumns are all columns. Times are microseconds since the epoch in
// UTC; limit_seconds is -1 for a job that may run for ever.
var parquetColumns = []parquetColumn{
	{
		name: "job_number", kind: parquet.Int64, needed: true, node: parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked),
		get: func(j *segue.Job) parquet.Value { return parquet.Int64Value(j.ID.Number) },
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			rec.job.ID.Number = v.Int64()
			return rec.job.ID.Number >= 0
		},
	},
	{
		name: "job_kind", kind: parquet.ByteArray, node: textNode(),
		get: func(j *segue.Job) parquet.Value {
			return parquet.ValueOf(jobKinds[j.ID.Kind%segue.JobIDKind(len(jobKinds))])
		},
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			for kind, name := range jobKinds {
				if name == string(v.ByteArray()) {
					rec.job.ID.Kind = segue.JobIDKind(kind)
					return true
				}
			}
			return false
		},
	},
	countColumn("job_sub", func(j *segue.Job) int32 { return j.ID.Sub }, func(rec *record, n int64) { rec.job.ID.Sub = int32(n) }),
	textColumn("name", func(j *segue.Job) *string { return &j.Name }),
	textColumn("user", func(j *segue.Job) *string { return &j.User }),
	textColumn("account", func(j *segue.Job) *string { return &j.Account }),
	textColumn("partition", func(j *segue.Job) *string { return &j.Partition }),
	textColumn("qos", func(j *segue.Job) *string { return &j.QOS }),
	timeColumn("submit", true, func(j *segue.Job) segue.Time { return j.Submit }, func(rec *record) *moment { return &rec.submit }),
	timeColumn("eligible", false, func(j *segue.Job) segue.Time { return j.Eligible }, func(rec *record) *moment { return &rec.eligible }),
	timeColumn("start", true, func(j *segue.Job) segue.Time { return j.Start }, func(rec *record) *moment { return &rec.start }),
	timeColumn("end", true, func(j *segue.Job) segue.Time { return j.End }, func(rec *record) *moment { return &rec.end }),
	{
		name: "limit_seconds", kind: parquet.Int64, optional: true, needed: true, node: parquet.Optional(parquet.Int(64)),
		get: limitValue,
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			seconds := v.Int64()
			rec.job.Limit = segue.Unlimited
			if seconds >= 0 {
				rec.job.Limit = time.Duration(seconds) * time.Second
			}
			return seconds >= -1 && seconds <= maxSeconds
		},
	},
	needed(countColumn("nodes", func(j *segue.Job) int32 { return j.Nodes }, func(rec *record, n int64) { rec.nodes.plain = n })),
	countColumn("cpus", func(j *segue.Job) int32 { return j.CPUs }, func(rec *record, n int64) { rec.cpus.plain = n }),
	countColumn("gpus", func(j *segue.Job) int32 { return j.GPUs }, func(rec *record, n int64) { rec.gpus.plain = n }),
	{
		name: "priority", kind: parquet.Int64, node: parquet.Int(64),
		get: func(j *segue.Job) parquet.Value { return parquet.Int64Value(j.Priority) },
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			rec.job.Priority = v.Int64()
			return true
		},
	},
	{
		name: "state", kind: parquet.ByteArray, node: textNode(),
		get: func(j *segue.Job) parquet.Value { return parquet.ValueOf(j.State.String()) },
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			var ok bool
			rec.stateGiven = true
			if rec.job.State, ok = parseState(v.ByteArray()); !ok {
				rec.notes.add(UnknownState)
			}
			return true
		},
	},
	countColumn("exit_code", func(j *segue.Job) int32 { return int32(j.ExitCode) }, func(rec *record, n int64) { rec.job.ExitCode = int16(n) }),
	countColumn("signal", func(j *segue.Job) int32 { return int32(j.Signal) }, func(rec *record, n int64) { rec.job.Signal = int16(n) }),
	countColumn("restarts", func(j *segue.Job) int32 { return int32(j.Restarts) }, func(rec *record, n int64) { rec.job.Restarts = int16(n) }),
}

var jobKinds = [...]string{segue.PlainJob: "job", segue.ArrayTask: "array task", segue.HetComponent: "het component"}

func textNode() parquet.Node { return parquet.Encoded(parquet.String(), &parquet.RLEDictionary) }

func textColumn(name string, field func(*segue.Job) *string) parquetColumn {
	return parquetColumn{
		name: name, kind: parquet.ByteArray, node: textNode(),
		get: func(j *segue.Job) parquet.Value { return parquet.ValueOf(*field(j)) },
		set: func(rec *record, v parquet.Value, texts *interner) bool {
			*field(&rec.job) = texts.get(v.ByteArray(), &rec.notes)
			return true
		},
	}
}

// countColumn is a column of 32-bit counts that are never negative.
func countColumn(name string, get func(*segue.Job) int32, set func(*record, int64)) parquetColumn {
	most := int64(math.MaxInt32)
	switch name {
	case "exit_code", "signal", "restarts":
		most = math.MaxInt16
	}
	return parquetColumn{
		name: name, kind: parquet.Int32, node: parquet.Int(32),
		get: func(j *segue.Job) parquet.Value { return parquet.Int32Value(get(j)) },
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			n := int64(v.Int32())
			set(rec, n)
			return n >= 0 && n <= most
		},
	}
}

func timeColumn(name string, isNeeded bool, get func(*segue.Job) segue.Time, moment func(*record) *moment) parquetColumn {
	return parquetColumn{
		name: name, kind: parquet.Int64, optional: true, needed: isNeeded,
		node: parquet.Optional(parquet.Timestamp(parquet.Microsecond)),
		get: func(j *segue.Job) parquet.Value {
			if t := get(j); t.Known() {
				return parquet.Int64Value(int64(t))
			}
			return parquet.NullValue()
		},
		set: func(rec *record, v parquet.Value, _ *interner) bool {
			moment(rec).at = segue.Time(v.Int64())
			return moment(rec).at.Known()
		},
	}
}

func needed(c parquetColumn) parquetColumn {
	c.needed = true
	return c
}

// limitValue is null for a limit that is not known; a part of a second counts
// as a whole one.
func limitValue(j *segue.Job) parquet.Value {
	switch {
	case j.Limit == segue.Unlimited:
		return parquet.Int64Value(-1)
	case j.Limit <= 0:
		return parquet.NullValue()
	}
	return parquet.Int64Value(int64((j.Limit + time.Second - 1) / time.Second))
}

// parquetSchema is the schema of a history.
func parquetSchema() *parquet.Schema {
	group := parquet.Group{}
	for _, c := range parquetColumns {
		group[c.name] = c.node
	}
	return parquet.NewSchema("segue_history", group)
}
