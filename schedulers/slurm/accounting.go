package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Status asks sacct for jobs, which it knows by accounting. Without accounting it
// knows nothing.
func (d *Driver) Status(ctx context.Context, jobs []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	caps, err := d.Capabilities(ctx)
	if err != nil || !caps.Accounting || len(jobs) == 0 {
		return nil, err
	}
	var list []string
	for _, id := range jobs {
		list = append(list, id.String())
	}
	records, _, err := d.sacct(ctx, caps, "--jobs="+strings.Join(list, ","))
	if err != nil {
		return nil, err
	}
	known := map[segue.JobID]schedulers.Status{}
	restarts := map[segue.JobID]int{}
	for _, r := range records {
		id, s := r.ID, r.Status
		if before, ok := known[id]; ok {
			if s.SameJob(before) { // else a job that was lost, and the one that has its number now
				restarts[id]++
			}
			if s.Submit < before.Submit {
				continue
			}
		}
		known[id] = s
	}
	for id, n := range restarts {
		s := known[id]
		s.Restarts = n
		known[id] = s
	}
	return known, nil
}

// sacct returns the records of the jobs that a condition selects, and how many of
// jobs with a token cannot be read: of others, and of banners, nobody asks.
func (d *Driver) sacct(ctx context.Context, caps schedulers.Capabilities, condition string) (records []schedulers.Record, unread int, err error) {
	fields := "JobID,State,Submit,Start,End,ExitCode,Timelimit,User,Comment"
	if caps.TokenSearch {
		fields += ",SubmitLine" // which has the comment where the accounting keeps none
	}
	// With the earlier records of a number: of a job that was requeued the last one
	// counts, while without --duplicates the first may be shown for good.
	out, err := d.run(ctx, "sacct", "--allocations", "--noheader", "--parsable2", "--duplicates", "--format="+fields, condition)
	if err != nil {
		return nil, 0, err
	}
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), "|", strings.Count(fields, ",")+1)
		id, s, err := accounted(f)
		if err != nil {
			if len(segue.FindTokens(line)) > 0 {
				unread++
			}
			continue
		}
		r := schedulers.Record{ID: id, Status: s, Mute: true}
		if len(f) > 8 {
			text := strings.Join(f[8:], "|")
			r.Tokens, r.Mute = segue.FindTokens(text), strings.Trim(text, " |") == ""
		}
		records = append(records, r)
	}
	return records, unread, nil
}

// accounted reads a record of sacct: what follows the limit may be missing.
func accounted(f []string) (segue.JobID, schedulers.Status, error) {
	var s schedulers.Status
	if len(f) < 7 {
		return segue.JobID{}, s, fmt.Errorf("%d fields, want at least 7", len(f))
	}
	id, err := segue.ParseJobID(f[0])
	if err != nil {
		return id, s, err
	}
	s.State = segue.ParseJobState(f[1])
	if s.Submit, err = spelling.Instant(f[2]); err != nil {
		return id, s, err
	}
	if s.Start, err = spelling.Instant(f[3]); err != nil {
		return id, s, err
	}
	if s.End, err = spelling.Instant(f[4]); err != nil {
		return id, s, err
	}
	s.ExitCode, s.Signal = spelling.ExitStatus(f[5])
	most, err := spelling.Limit(f[6])
	if err != nil {
		return id, s, err
	}
	if s.State == segue.Running && s.Start.Known() && most != segue.Unlimited {
		s.End = s.Start.Add(most)
	}
	s.Life = schedulers.LifeOf(s.State)
	if len(f) > 7 {
		s.User = f[7]
		s.Token, _, _, _, _ = segue.FindToken(strings.Join(f[8:], "|"))
	}
	return id, s, nil
}

// FindByToken looks for the token in the comments of the jobs that Slurm still
// shows and, where there is accounting, in those and the command lines of all
// that it remembers. Without accounting, and while that lags behind, it can only be
// sure of what was submitted within MinJobAge.
func (d *Driver) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	state, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	if found := state.Carrying(token); len(found) > 0 {
		return found, nil
	}
	ledger, err := d.Ledger(ctx, since)
	if err != nil {
		return nil, err
	}
	var found []segue.JobID
	from := ledger.From
	for _, r := range ledger.Records {
		if r.Mute { // it may be the one: only what slurmctld remembers can be relied on
			age, err := d.remembers()
			if err != nil {
				return nil, err
			}
			from = max(from, d.cfg.Now().Add(-age))
		}
		if slices.Contains(r.Tokens, token) && !slices.Contains(found, r.ID) {
			found = append(found, r.ID)
		}
	}
	switch {
	case len(found) > 0, since >= from:
		return found, nil
	case ledger.Missing > 0:
		return nil, segue.Errorf(segue.Unavailable, "the accounting lacks %d records: whether %s is one cannot be told", ledger.Missing, token)
	}
	return nil, segue.Errorf(segue.Unavailable, "Slurm forgets jobs some time after their end, and no accounting shows their tokens: %s: %w", token, schedulers.ErrForgotten)
}

// remembers returns how long Slurm shows a job after its end (MinJobAge), as it
// said with its capabilities.
func (d *Driver) remembers() (time.Duration, error) {
	d.mu.Lock()
	age := d.config["MinJobAge"]
	d.mu.Unlock()
	seconds, _, _ := strings.Cut(age, " ")
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return 0, segue.Errorf(segue.Unavailable, "scontrol show config: MinJobAge is %q, want a number of seconds", seconds)
	}
	return time.Duration(n) * time.Second, nil
}
