package slurm

import (
	"context"
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
	fields := "JobID,Submit,State,Start,End,ExitCode,Timelimit,User"
	// With the earlier records of a number: of a job that was requeued the last one
	// counts, while without --duplicates the first may be shown for good.
	rows, err := d.sacctRows(ctx, fields, "--allocations", "--noheader", "--duplicates", condition)
	if err != nil || len(rows) == 0 {
		return nil, 0, err
	}
	texts, err := d.texts(ctx, caps, condition)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range rows {
		said := texts[[2]string{f[0], f[1]}]
		id, s, err := accounted(f)
		if err != nil || len(said) > 1 { // of which all but one are made up
			if len(segue.FindTokens(strings.Join(said, " "))) > 0 {
				unread++
			}
			continue
		}
		text := strings.Join(said, "")
		s.Token, _, _, _, _ = segue.FindToken(text)
		records = append(records, schedulers.Record{ID: id, Status: s, Tokens: segue.FindTokens(text), Mute: strings.TrimSpace(text) == ""})
	}
	return records, unread, nil
}

// texts returns what users have written into the comments and command lines of the jobs
// that a condition selects, by the job's number and when it was submitted, as sacct spells
// them. They are asked for apart: whatever they hold, it is no other job's state or user.
// Everybody sees command lines, and who is quick enough may write what separates into a
// job's comment: then a job has several.
func (d *Driver) texts(ctx context.Context, caps schedulers.Capabilities, condition string) (map[[2]string][]string, error) {
	fields := "JobID,Submit,Comment"
	if caps.TokenSearch {
		fields += ",SubmitLine" // which has the comment where the accounting keeps none
	}
	fields += ",JobID,Submit" // again: a row that is moved disagrees with itself
	rows, err := d.sacctRows(ctx, fields, "--allocations", "--noheader", "--duplicates", condition)
	if err != nil {
		return nil, err
	}
	texts := map[[2]string][]string{}
	for _, f := range rows {
		job, last := [2]string{f[0], f[1]}, len(f)-2
		if job != [2]string(f[last:]) {
			return nil, segue.Errorf(segue.Unavailable, "sacct: a text is of two jobs: %s", spelling.Excerpt([]byte(strings.Join(f, " "))))
		}
		texts[job] = append(texts[job], strings.Join(f[2:last], " "))
	}
	return texts, nil
}

// sacctRows returns the rows of an answer of sacct of some fields, whatever the last ones
// hold: users may put a | or a new line into names and comments. What
// separates is a word that nobody knows before the question. Text before the first row
// (a site's banner) is dropped; an answer that ends within a row is an error.
func (d *Driver) sacctRows(ctx context.Context, fields string, args ...string) ([][]string, error) {
	columns := strings.Count(fields, ",") + 1
	between := "|" + secret() + "|"
	out, err := d.run(ctx, slices.Concat([]string{"sacct", "--parsable2", "--delimiter=" + between, "--format=" + fields}, args)...)
	if err != nil {
		return nil, err
	}
	cells := strings.Split(strings.TrimRight(string(out), "\n"), between)
	if columns < 2 || (len(cells)-1)%(columns-1) != 0 {
		return nil, segue.Errorf(segue.Unavailable, "sacct: the answer is not whole: it ends with %s", spelling.Excerpt([]byte(cells[len(cells)-1])))
	}
	var rows [][]string
	for len(cells) > 1 {
		row := slices.Clone(cells[:columns])
		row[0] = row[0][strings.LastIndexByte(row[0], '\n')+1:] // what is before it is the last cell of the row before
		cells = cells[columns-1:]
		if i := strings.LastIndexByte(row[columns-1], '\n'); i >= 0 && len(cells) > 1 {
			row[columns-1] = row[columns-1][:i]
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// accounted reads a row of sacct.
func accounted(f []string) (segue.JobID, schedulers.Status, error) {
	var s schedulers.Status
	id, err := segue.ParseJobID(f[0])
	if err != nil {
		return id, s, err
	}
	if s.Submit, err = spelling.Instant(f[1]); err != nil {
		return id, s, err
	}
	s.State = segue.ParseJobState(f[2])
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
	s.User = f[7]
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
	return ledger.Find(token, "", since)
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
