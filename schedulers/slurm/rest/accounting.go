package rest

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// accounted is a job as slurmdbd remembers it, in all versions.
type accounted struct {
	JobID number `json:"job_id"`
	Array struct {
		JobID  number `json:"job_id"`
		TaskID number `json:"task_id"`
	} `json:"array"`
	Het struct {
		JobID  number `json:"job_id"`
		Offset number `json:"job_offset"`
	} `json:"het"`
	State struct {
		Current words `json:"current"`
		Reason  text  `json:"reason"`
	} `json:"state"`
	Time struct {
		Submission number `json:"submission"`
		Start      number `json:"start"`
		End        number `json:"end"`
		Limit      number `json:"limit"`
	} `json:"time"`
	ExitCode   exit    `json:"exit_code"`
	Comment    comment `json:"comment"`
	SubmitLine text    `json:"submit_line"` // from 23.02 on, and of what sbatch submitted
	User       text    `json:"user"`
}

func (r *accounted) id() (segue.JobID, error) {
	return jobID(r.JobID, r.Array.JobID, r.Array.TaskID, r.Het.JobID, r.Het.Offset)
}

func (r *accounted) status() schedulers.Status {
	s := schedulers.Status{
		State: spelling.JobState(r.State.Current...), Submit: r.Time.Submission.instant(), Start: r.Time.Start.instant(), End: r.Time.End.instant(),
		Reason: string(r.State.Reason), ExitCode: r.ExitCode.code, Signal: r.ExitCode.signal,
		User: string(r.User),
	}
	s.Token, _, _, _, _ = segue.FindToken(string(r.Comment) + " " + string(r.SubmitLine))
	if most := r.Time.Limit.minutes(); s.State == segue.Running && s.Start.Known() && most != segue.Unlimited {
		s.End = s.Start.Add(most)
	}
	if s.State == segue.Failed && s.ExitCode == 0 && s.Signal == 0 {
		s.ExitCode = 1 // the accounting's API of 22.05 says 0 of whatever exited by itself
	}
	s.Life = schedulers.LifeOf(s.State)
	return s
}

// most is how many jobs one question may name: addresses have a length.
const most = 200

// Status asks the accounting for jobs. Without it nothing is known.
func (d *Driver) Status(ctx context.Context, jobs []segue.JobID) (map[segue.JobID]schedulers.Status, error) {
	caps, err := d.Capabilities(ctx)
	if err != nil || !caps.Accounting || len(jobs) == 0 {
		return nil, err
	}
	known, restarts := map[segue.JobID]schedulers.Status{}, map[segue.JobID]int{}
	for some := range slices.Chunk(jobs, most) {
		records, _, err := d.accounted(ctx, "step", strings.Join(names(some), ","))
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			id, err := r.id()
			if err != nil {
				continue
			}
			s := r.status()
			if before, ok := known[id]; ok { // it was requeued: the last record counts
				if s.SameJob(before) { // else a job that was lost, and the one that has its number now
					restarts[id]++
				}
				if s.Submit < before.Submit {
					continue
				}
			}
			known[id] = s
		}
	}
	for id, n := range restarts {
		s := known[id]
		s.Restarts = n
		known[id] = s
	}
	return known, nil
}

func names(jobs []segue.JobID) []string {
	var list []string
	for _, id := range jobs {
		list = append(list, id.String())
	}
	return list
}

// accounted asks the accounting for the jobs of a condition. A record that cannot
// be read is skipped: its job stays unknown.
func (d *Driver) accounted(ctx context.Context, condition, value string) (records []accounted, skipped int, err error) {
	a, err := d.speaks(ctx)
	if err != nil {
		return nil, 0, err
	}
	// 22.05 cannot read a comma that is not escaped, which QueryEscape does.
	query := condition + "=" + url.QueryEscape(value)
	if a.duplicates {
		query += "&show_duplicates=true"
	}
	got, err := d.ask(ctx, a.slurmdb("jobs/?"+query))
	if err != nil {
		return nil, 0, err
	}
	if got.Jobs == nil {
		return nil, 0, segue.Errorf(segue.Unavailable, "slurmrestd: the accounting answers without a list of jobs")
	}
	for _, raw := range got.Jobs {
		var r accounted
		if err := json.Unmarshal(raw, &r); err != nil {
			skipped++
			continue
		}
		records = append(records, r)
	}
	return records, skipped, nil
}

// FindByToken looks for the token in the comments of the jobs that Slurm still
// shows and, where there is accounting, in the comments and the command lines that
// it remembers. Many a site's accounting keeps no comments: that a job was never
// there can then be told only from the command lines of sbatch, which 22.05 does
// not show; if that is not enough the answer is Unavailable.
func (d *Driver) FindByToken(ctx context.Context, token string, since segue.Time) ([]segue.JobID, error) {
	caps, err := d.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	state, err := d.State(ctx)
	if err != nil {
		return nil, err
	}
	found, shown := state.Carrying(token), map[segue.JobID]bool{}
	for i := range state.Jobs {
		shown[state.Jobs[i].ID] = true
	}
	switch {
	case len(found) > 0:
		return found, nil
	case state.Skipped > 0:
		return nil, segue.Errorf(segue.Unavailable, "%d jobs or nodes cannot be read: whether %s is one cannot be told: %s", state.Skipped, token, strings.Join(state.Problems, "; "))
	case !caps.Accounting && d.cfg.Now().Sub(since) > d.cfg.Remembers:
		return nil, segue.Errorf(segue.Unavailable, "without accounting Slurm forgets jobs after their end: %s: %w", token, schedulers.ErrForgotten)
	case !caps.Accounting:
		return nil, nil
	}
	api, err := d.speaks(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := d.waiting(ctx, api)
	if err != nil {
		return nil, err
	}
	records, skipped, err := d.accounted(ctx, "start_time", "uts"+strconv.FormatInt(since.Add(-schedulers.Skew).Std().Unix(), 10))
	if err != nil {
		return nil, err
	}
	found, err = d.among(records, shown, token)
	if err == nil && len(found) == 0 && skipped > 0 {
		return nil, segue.Errorf(segue.Unavailable, "%d jobs of the accounting cannot be read: whether one is %s cannot be told", skipped, token)
	}
	if err == nil && len(found) == 0 && waiting > 0 && d.cfg.Now().Sub(since) > d.cfg.Remembers {
		return nil, segue.Errorf(segue.Unavailable, "the accounting lags %d messages behind: whether a job is %s cannot be told", waiting, token)
	}
	return found, err
}

// among returns the jobs of the accounting that carry a token. It must be sure of
// those that do not.
func (d *Driver) among(records []accounted, shown map[segue.JobID]bool, token string) ([]segue.JobID, error) {
	var found []segue.JobID
	keepsComments, mute := false, 0
	for _, r := range records {
		id, err := r.id()
		own := d.cfg.User == "" || string(r.User) == d.cfg.User || r.User == ""
		keepsComments = keepsComments || r.Comment != ""
		switch {
		case err == nil && slices.Contains(found, id):
		case err == nil && spelling.Carries(string(r.Comment)+" "+string(r.SubmitLine), token):
			found = append(found, id)
		case r.Comment == "" && r.SubmitLine == "" && own && !shown[id]:
			mute++
		}
	}
	if len(found) == 0 && mute > 0 && !keepsComments {
		return nil, segue.Errorf(segue.Unavailable, "the accounting keeps no comments: whether one of %d jobs is %s cannot be told", mute, token)
	}
	return found, nil
}
