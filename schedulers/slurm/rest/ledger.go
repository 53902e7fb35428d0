package rest

import (
	"context"
	"strconv"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// Ledger asks whether slurmctld has told slurmdbd everything, and then for the jobs
// of a while: two questions, however many jobs are meant. It implements
// schedulers.Bookkeeper. Without accounting, and while that lags behind, it relies on
// slurmctld's own memory of Config.Remembers.
func (d *Driver) Ledger(ctx context.Context, since segue.Time) (schedulers.Ledger, error) {
	shown := d.cfg.Now().Add(-d.cfg.Remembers)
	api, err := d.speaks(ctx)
	if err != nil {
		return schedulers.Ledger{}, err
	}
	if !api.database {
		return schedulers.Ledger{From: shown, Shown: shown}, nil
	}
	waiting, err := d.waiting(ctx, api)
	if err != nil {
		return schedulers.Ledger{}, err
	}
	raw, skipped, err := d.accounted(ctx, "start_time", "uts"+strconv.FormatInt(since.Add(-schedulers.Skew).Std().Unix(), 10))
	if err != nil {
		return schedulers.Ledger{}, err
	}
	l := schedulers.Ledger{From: since, Shown: shown, Missing: waiting + skipped}
	for _, r := range raw {
		id, err := r.id()
		if err != nil {
			l.Missing++
			continue
		}
		text := string(r.Comment) + " " + string(r.SubmitLine)
		l.Records = append(l.Records, schedulers.Record{ID: id, Status: r.status(), Tokens: segue.FindTokens(text), Mute: text == " "})
	}
	if l.Missing > 0 {
		l.From = max(since, shown)
	}
	return l, nil
}

// waiting returns how many messages to slurmdbd still wait in slurmctld.
func (d *Driver) waiting(ctx context.Context, api *api) (int, error) {
	got, err := d.ask(ctx, api.slurm("diag/"))
	if err != nil {
		return 0, err
	}
	size := got.Statistics.Waiting
	if !size.set || size.infinite || size.value < 0 {
		return 0, segue.Errorf(segue.Unavailable, "slurmrestd: no size of the DBD agent queue in the answer to diag")
	}
	return int(size.value), nil
}
