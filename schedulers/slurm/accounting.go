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
	// All records of requeued jobs: the last one counts, while without -D the first
	// may be shown for good.
	fields := "JobID,State,Submit,Start,End,ExitCode,Timelimit,User,Comment"
	if caps.TokenSearch {
		fields += ",SubmitLine" // which has the comment where the accounting keeps none
	}
	out, err := d.run(ctx, "sacct", "--allocations", "--noheader", "--parsable2", "--duplicates", "--format="+fields, "--jobs="+strings.Join(list, ","))
	if err != nil {
		return nil, err
	}
	known := map[segue.JobID]schedulers.Status{}
	restarts := map[segue.JobID]int{}
	for line := range strings.Lines(string(out)) {
		id, s, err := accounted(strings.SplitN(strings.TrimRight(line, "\n"), "|", strings.Count(fields, ",")+1))
		if err != nil {
			continue // a banner, or a record that nobody can read: the job stays unknown
		}
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
// that it remembers. Without accounting it can only be sure of what was submitted
// within MinJobAge.
func (d *Driver) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	caps, err := d.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	state, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	found := state.Carrying(token)
	if len(found) > 0 {
		return found, nil
	}
	if !caps.TokenSearch {
		age, err := d.remembers()
		if err != nil {
			return nil, err
		}
		if d.cfg.Now().Sub(since) > age {
			return nil, segue.Errorf(segue.Unavailable, "without accounting Slurm forgets jobs %s after their end: %s: %w", segue.FormatLimit(age), token, schedulers.ErrForgotten)
		}
		return nil, nil
	}
	out, err := d.run(ctx, "sacct", "--allocations", "--noheader", "--parsable2", "--duplicates", "--format=JobID,Comment,SubmitLine",
		"--starttime="+sacctTime(since.Add(-schedulers.Skew)))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		number, rest, _ := strings.Cut(line, "|")
		id, err := segue.ParseJobID(number)
		if err != nil || !spelling.Carries(rest, token) || slices.Contains(found, id) {
			continue
		}
		found = append(found, id)
	}
	return found, nil
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
