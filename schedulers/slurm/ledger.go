package slurm

import (
	"context"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Ledger asks sdiag whether slurmctld has told slurmdbd everything, and then sacct
// for the jobs of a while: two commands, however many jobs are meant. It implements
// schedulers.Bookkeeper. Without accounting, and while that lags behind, it relies on
// slurmctld's own memory of MinJobAge.
func (d *Driver) Ledger(ctx context.Context, since segue.Time) (schedulers.Ledger, error) {
	now := d.cfg.Now()
	caps, err := d.Capabilities(ctx)
	if err != nil {
		return schedulers.Ledger{}, err
	}
	age, err := d.remembers()
	if err != nil {
		return schedulers.Ledger{}, err
	}
	shown := now.Add(-age)
	if !caps.Accounting {
		return schedulers.Ledger{From: shown, Shown: shown}, nil
	}
	waiting, err := d.waiting(ctx)
	if err != nil {
		return schedulers.Ledger{}, err
	}
	records, unread, err := d.sacct(ctx, caps, "--starttime="+sacctTime(since.Add(-schedulers.Skew)))
	if err != nil {
		return schedulers.Ledger{}, err
	}
	l := schedulers.Ledger{From: since, Shown: shown, Missing: waiting + unread, Records: records}
	if l.Missing > 0 {
		l.From = max(since, shown)
	}
	return l, nil
}

// waiting returns how many messages to slurmdbd still wait in slurmctld: those about
// jobs are among them, also of jobs that it has forgotten.
func (d *Driver) waiting(ctx context.Context) (int, error) {
	out, err := d.run(ctx, "sdiag")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		if size, ok := strings.CutPrefix(strings.TrimSpace(line), "DBD Agent queue size:"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(size))
			if err != nil || n < 0 {
				return 0, segue.Errorf(segue.Unavailable, "sdiag: a DBD agent queue of size %q", size)
			}
			return n, nil
		}
	}
	return 0, segue.Errorf(segue.Unavailable, "sdiag: no size of the DBD agent queue in %s", spelling.Excerpt(out))
}
