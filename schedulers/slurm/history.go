package slurm

import (
	"bufio"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// historyFields are the columns that make a history, as far as sacct has them.
// JobName comes last, in case it contains what separates them.
var historyFields = []string{
	"JobID", "User", "Account", "Partition", "QOS", "Submit", "Eligible", "Start", "End", "Timelimit", "NNodes", "NCPUS",
	"ReqTRES", "AllocTRES", "Priority", "Restarts", "State", "ExitCode", "JobName",
}

// History writes what sacct prints about the jobs of all users, as far as they
// may be seen, that waited or ran between two instants. It implements
// schedulers.Historian. Without accounting the error is of kind NotFound.
func (d *Driver) History(ctx context.Context, from, until segue.Time, w io.Writer) error {
	caps, err := d.Capabilities(ctx)
	if err != nil {
		return err
	}
	if !caps.Accounting {
		return segue.Errorf(segue.NotFound, "the cluster has no accounting (AccountingStorageType)")
	}
	known, err := d.run(ctx, "sacct", "--helpformat")
	if err != nil {
		return err
	}
	columns := strings.Fields(strings.ToLower(string(known)))
	fields := slices.DeleteFunc(slices.Clone(historyFields), func(f string) bool { return !slices.Contains(columns, strings.ToLower(f)) })
	rows, err := d.sacctRows(ctx, strings.Join(fields, ","), "--allusers", "--allocations", "--duplicates", "--noconvert",
		"--starttime="+sacctTime(from), "--endtime="+sacctTime(until))
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = strings.ReplaceAll(cell, "\n", " "); i < len(row)-1 {
				row[i] = strings.ReplaceAll(row[i], "|", " ")
			}
		}
		_, _ = out.WriteString(strings.Join(row, "|") + "\n") // Flush says it
	}
	return out.Flush()
}

// sacctTime is how sacct is told an instant: in the zone of its environment,
// which is UTC.
func sacctTime(at segue.Time) string { return at.Std().UTC().Format("2006-01-02T15:04:05") }
