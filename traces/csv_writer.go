package traces

import (
	"bufio"
	"encoding/csv"
	"strconv"
	"time"

	"github.com/segue-project/segue"
)

// csvEncoder writes comma-separated values for spreadsheets and notebooks
// (RFC 4180), times in RFC 3339 and UTC, durations in seconds. An empty cell is
// "not known". It is not read again: Parquet is for that.
type csvEncoder struct {
	out *csv.Writer
	row []string
}

func newCSVEncoder(out *bufio.Writer) *csvEncoder { return &csvEncoder{out: csv.NewWriter(out)} }

// begin implements encoder.
func (e *csvEncoder) begin() error {
	return e.out.Write([]string{
		"job_id", "name", "user", "account", "partition", "qos", "submit", "eligible", "start", "end",
		"limit_seconds", "wait_seconds", "run_seconds", "nodes", "cpus", "gpus", "priority", "state", "exit_code", "signal", "restarts",
	})
}

// write implements encoder.
func (e *csvEncoder) write(j *segue.Job, _ losses) error {
	limit, wait, run := "", "", ""
	switch {
	case j.Limit == segue.Unlimited:
		limit = "unlimited"
	case j.Limit > 0:
		limit = seconds(j.Limit)
	}
	if j.Start.Known() {
		wait = seconds(j.Wait())
	}
	if j.Ran() {
		run = seconds(j.Run())
	}
	e.row = append(
		e.row[:0], j.ID.String(), j.Name, j.User, j.Account, j.Partition, j.QOS,
		instant(j.Submit), instant(j.Eligible), instant(j.Start), instant(j.End), limit, wait, run,
		strconv.Itoa(int(j.Nodes)), strconv.Itoa(int(j.CPUs)), strconv.Itoa(int(j.GPUs)), strconv.FormatInt(j.Priority, 10),
		j.State.String(), strconv.Itoa(int(j.ExitCode)), strconv.Itoa(int(j.Signal)), strconv.Itoa(int(j.Restarts)),
	)
	return e.out.Write(e.row)
}

// end implements encoder.
func (e *csvEncoder) end() error {
	e.out.Flush()
	return e.out.Error()
}

func instant(t segue.Time) string {
	if !t.Known() {
		return ""
	}
	return t.Std().Format(time.RFC3339Nano)
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
