package slurm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// sdiag returns what the command prints where so many messages to slurmdbd wait. The
// agent of slurmctld that has a queue of its own talks to the nodes.
func sdiag(waiting int) string {
	return fmt.Sprintf("*******\nsdiag output at Tue Feb 14 12:00:00 2023\n*******\nServer thread count:  3\nAgent queue size:     7\nAgent count:          0\n"+
		"Agent thread count:   0\nDBD Agent queue size: %d\n\nJobs submitted: 2\n", waiting)
}

// books is a Slurm with accounting that shows job 99 only, and whose other commands
// answer as told.
func books(t *testing.T, sdiag, sacct Result) *schedulers.Cluster {
	t.Helper()
	c, _ := counted(t, schedulers.Config{}, map[string]string{"JobArrayID": "99"}, sdiag, sacct)
	return c
}

// counted returns such a Slurm, which shows another job, and how often each of its
// commands is run.
func counted(t *testing.T, cfg schedulers.Config, shown map[string]string, sdiag, sacct Result) (*schedulers.Cluster, map[string]int) {
	t.Helper()
	ran := map[string]int{}
	d := New(Config{
		Env: []string{}, Now: func() segue.Time { return noon },
		Run: func(_ context.Context, c Command) (Result, error) {
			line := strings.Join(c.Argv, " ")
			ran[c.Argv[0]]++
			switch {
			case line == "scontrol show config":
				return Result{Stdout: []byte("SLURM_VERSION = 22.05.8\nAccountingStorageType = accounting_storage/slurmdbd\nMinJobAge = 300 sec\n")}, nil
			case line == "sacct --helpformat":
				return Result{Stdout: []byte("JobID State SubmitLine\n")}, nil
			case c.Argv[0] == "sacct" && !strings.Contains(line, "--duplicates"):
				return Result{}, errors.New("sacct shows the last job of a number only")
			case c.Argv[0] == "sacct":
				return separated(c, sacct), nil
			case c.Argv[0] == "sdiag":
				return sdiag, nil
			case c.Argv[0] == "squeue":
				return separated(c, Result{Stdout: []byte(jobRecord(shown))}), nil
			}
			return separated(c, Result{Stdout: []byte(oneNode)}), nil
		},
	})
	cfg.Now = func() segue.Time { return noon }
	c, err := schedulers.New(d, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, ran
}

// Records of job 12 as sacct prints them, which was submitted an hour before noon.
const (
	ownRun     = "12|COMPLETED|1676372401|1676372460|1676373000|0:0|01:00:00|ada|segue:abc/2.1|sbatch --comment=segue:abc/2.1 x\n"
	ownWaits   = "12|PENDING|1676372401|Unknown|Unknown|0:0|01:00:00|ada|segue:abc/2.1|sbatch --comment=segue:abc/2.1 x\n"
	anotherRun = "12|COMPLETED|1676374000|1676374060|1676375000|0:0|01:00:00|ben||sbatch y\n"
	muteRun    = "12|COMPLETED|1676372401|1676372460|1676373000|0:0|01:00:00|ada||\n"
	muteLater  = "12|COMPLETED|1676375900|1676375901|1676375960|0:0|01:00:00|ben||\n"
	broken     = "12|COMPLETED|yesterday|1676372460|1676373000|0:0|01:00:00|ada|segue:abc/2.1|\n"
)

// The fate of job 12, that squeue does not show, by what slurmdbd has been told of
// it: what it has not been told yet proves nothing, and a number proves nothing.
func TestTheFateOfAJobThatSlurmForgot(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		waiting int // messages to slurmdbd
		sacct   string
		since   time.Duration // before noon; default an hour
		want    schedulers.Fate
	}{
		"it was told of no start":                           {sacct: ownWaits, want: schedulers.FateLost},
		"it was told nothing":                               {want: schedulers.FateLost},
		"it was told nothing, and lags":                     {waiting: 3, want: schedulers.FateUnknown},
		"it was told of no start, and lags":                 {waiting: 1, sacct: ownWaits, want: schedulers.FateUnknown},
		"it lags, but slurmctld would still show it":        {waiting: 1, since: 4 * time.Minute, want: schedulers.FateLost},
		"it was told of the run, and lags":                  {waiting: 3, sacct: ownRun, want: schedulers.FateThere},
		"it ran, and another got its number":                {sacct: ownRun + anotherRun, want: schedulers.FateThere},
		"it ran, and another got its number, told first":    {sacct: anotherRun + ownRun, want: schedulers.FateThere},
		"it waits for ever, and another got its number":     {sacct: anotherRun + ownWaits, want: schedulers.FateLost},
		"its number is another's":                           {sacct: anotherRun, want: schedulers.FateLost},
		"its number ran then, and tokens are not kept":      {sacct: muteRun, want: schedulers.FateOpen},
		"its number ran much later, and none are kept":      {sacct: muteLater, want: schedulers.FateLost},
		"its record cannot be read":                         {sacct: broken, want: schedulers.FateUnknown},
		"a banner stands before records of others":          {sacct: "Welcome\n" + anotherRun, want: schedulers.FateLost},
		"its state is one that is not known in our version": {sacct: strings.ReplaceAll(ownWaits, "PENDING", "LATER_ADDED"), want: schedulers.FateUnknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tt.since == 0 {
				tt.since = time.Hour
			}
			c := books(t, Result{Stdout: []byte(sdiag(tt.waiting))}, Result{Stdout: []byte(tt.sacct)})
			got, err := c.Trace(t.Context(), segue.JobID{Number: 12}, "segue:abc/2.1", "", noon.Add(-tt.since))
			if err != nil || got.Fate != tt.want {
				t.Fatalf("fate %d, %v; want fate %d", got.Fate, err, tt.want)
			}
			if there := got.Fate == schedulers.FateThere; there && (got.Status.Life != schedulers.Ended || got.Status.User != "ada" || got.Job.Number != 12) {
				t.Errorf("job %s has run as %+v, want ada's, which has ended", got.Job, got.Status)
			}
		})
	}
}

// While slurmdbd is down, or nobody says whether it has been told everything, no fate
// is told.
func TestNoFateIsToldWhileSlurmdbdIsDown(t *testing.T) {
	t.Parallel()
	well := Result{Stdout: []byte(sdiag(0))}
	for name, answers := range map[string][2]Result{
		"slurmdbd is down":            {well, {Code: 1, Stderr: []byte("sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:localhost:6819: Connection refused")}},
		"sdiag fails":                 {{Code: 1, Stderr: []byte("slurm_get_statistics: Unable to contact slurm controller (connect failure)")}, {}},
		"sdiag tells of no such size": {{Stdout: []byte("Agent queue size: 0\n")}, {}},
		"sdiag tells of no number":    {{Stdout: []byte("DBD Agent queue size: many\n")}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := books(t, answers[0], answers[1]).Trace(t.Context(), segue.JobID{Number: 12}, "segue:abc/2.1", "", noon.Add(-time.Hour))
			if segue.KindOf(err) != segue.Unavailable || got.Fate != schedulers.FateUnknown {
				t.Errorf("fate %d, error %v; want none, and one of kind unavailable", got.Fate, err)
			}
		})
	}
}

// That no job carries a token is not believed either while the accounting lags.
func TestASubmissionIsNotTakenForNeverMadeWhileTheAccountingLags(t *testing.T) {
	t.Parallel()
	for waiting, want := range map[int]bool{0: true, 2: false} {
		c := books(t, Result{Stdout: []byte(sdiag(waiting))}, Result{Stdout: []byte(anotherRun)})
		found, err := c.Driver().FindByToken(t.Context(), "segue:abc/2.1", noon.Add(-time.Hour))
		if len(found) > 0 || (err == nil) != want || errors.Is(err, schedulers.ErrForgotten) {
			t.Errorf("%d messages wait: found %v, error %v; want none, and an error %t", waiting, found, err, !want)
		}
	}
}

// A thousand links whose jobs are gone cost as much as one: of the commands, sacct is
// asked for its fields once, and for records again where a link is much older than
// those before it. It is the same while slurmdbd is down.
func TestAThousandJobsThatAreGoneCostOneLook(t *testing.T) {
	t.Parallel()
	down := Result{Code: 1, Stderr: []byte("sacct: error: Connection refused")}
	for name, tt := range map[string]struct {
		sacct Result
		older time.Duration // each link than the one before it
		most  int           // runs of sacct
	}{
		"of one age":                 {sacct: Result{Stdout: []byte(ownRun)}, most: 3},
		"of all ages":                {sacct: Result{Stdout: []byte(ownRun)}, older: time.Minute, most: 13},
		"of which nobody tells":      {sacct: down, most: 2},
		"of all ages, and no answer": {sacct: down, older: time.Minute, most: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, ran := counted(t, schedulers.Config{}, map[string]string{"JobArrayID": "99"}, Result{Stdout: []byte(sdiag(0))}, tt.sacct)
			since := noon.Add(-time.Hour)
			for i := range int64(1000) {
				_, err := c.Trace(t.Context(), segue.JobID{Number: 1000 + i}, fmt.Sprintf("segue:c%d/2.1", i), "", since)
				if (err != nil) != (tt.sacct.Code != 0) {
					t.Fatal(err)
				}
				since = since.Add(-tt.older)
			}
			if ran["squeue"] != 1 || ran["sacct"] > tt.most || ran["sdiag"] > max(1, tt.most/2) {
				t.Errorf("the commands ran %v, want squeue once and sacct at most %d times", ran, tt.most)
			}
		})
	}
}

// A record in which no token could be kept may be that of the submission which is
// looked for: that there is none is not said while there are such.
func TestRecordsWithoutTokensLeaveOpenWhetherASubmissionMadeAJob(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		records string
		open    bool
	}{
		"of another job, with its command line": {anotherRun, false},
		"of one that says nothing":              {muteRun, true},
	} {
		c := books(t, Result{Stdout: []byte(sdiag(0))}, Result{Stdout: []byte(tt.records)})
		found, err := c.Driver().FindByToken(t.Context(), "segue:abc/2.1", noon.Add(-time.Hour))
		if len(found) > 0 || errors.Is(err, schedulers.ErrForgotten) != tt.open || (err != nil) != tt.open {
			t.Errorf("%s: found %v, %v; want that it is open: %t", name, found, err, tt.open)
		}
	}
}

// Of the jobs that carry a token a server of root takes the owner's, also where another
// user's is shown with it; and as long as it is not shown whose one is, none.
func TestAServerOfRootFindsTheOwnersJob(t *testing.T) {
	t.Parallel()
	carries := func(number, name string) map[string]string {
		return map[string]string{"JobArrayID": "77", "UserID": number, "UserName": name, "Comment": "segue:abc/2.1"}
	}
	for name, tt := range map[string]struct {
		shown   map[string]string
		records string
		want    int64
		open    bool
	}{
		"the owner's is shown":                              {shown: carries("1001", "ada"), want: 77},
		"another's is shown, the owner's on record":         {shown: carries("1002", "ben"), records: ownRun, want: 12},
		"another's is shown, and none on record":            {shown: carries("1002", "ben"), records: anotherRun},
		"one is shown while the directory of users is away": {shown: carries("1001", "nobody"), records: ownRun, open: true},
		"one is shown then, by a later Slurm":               {shown: carries("1001", "1001"), records: ownRun, open: true},
		"nobody's, where that is a user":                    {shown: carries("65534", "nobody"), records: ownRun, want: 12},
		"another's is on record":                            {shown: map[string]string{"JobArrayID": "99"}, records: strings.ReplaceAll(ownRun, "|ada|", "|ben|")},
	} {
		c, _ := counted(t, schedulers.Config{Owners: true}, tt.shown, Result{Stdout: []byte(sdiag(0))}, Result{Stdout: []byte(tt.records)})
		job, found, _, err := c.Recover(t.Context(), "segue:abc/2.1", "ada", noon.Add(-time.Hour))
		if job.Number != tt.want || found != (tt.want > 0) || (err != nil) != tt.open {
			t.Errorf("%s: job %s, found %t, %v; want %d", name, job, found, err, tt.want)
		}
	}
}

// A hundred submissions that nobody saw the end of cost as much as one.
func TestManySubmissionsAreLookedForAtOnce(t *testing.T) {
	t.Parallel()
	c, ran := counted(t, schedulers.Config{Owners: true}, map[string]string{"JobArrayID": "99"}, Result{Stdout: []byte(sdiag(0))}, Result{Stdout: []byte(anotherRun)})
	for i := range 100 {
		_, found, sure, err := c.Recover(t.Context(), fmt.Sprintf("segue:abc%d/2.1", i), "ada", noon.Add(-time.Hour))
		if found || sure || err != nil {
			t.Fatalf("found %t, sure %t after one look, %v", found, sure, err)
		}
	}
	if ran["squeue"] != 1 || ran["sacct"] != 3 || ran["sdiag"] != 1 { // sacct says once what it can show, and is asked for texts apart
		t.Errorf("the commands ran %v, want squeue and sdiag once and sacct three times", ran)
	}
}

// While the directory of users is away Slurm's commands call everybody nobody. Then it
// is not known whose a job is, and what it does says nothing.
func TestAJobOfAUserWhoHasNoNameForAMoment(t *testing.T) {
	t.Parallel()
	for _, owners := range []bool{true, false} {
		c, _ := counted(t, schedulers.Config{Owners: owners}, map[string]string{"UserName": "nobody"}, Result{}, Result{})
		id := segue.JobID{Number: 12}
		known, err := c.Status(t.Context(), []segue.JobID{id})
		want := schedulers.Alive
		if owners {
			want = schedulers.Unknown
		}
		if got := known[id]; err != nil || got.Life != want || got.User != "" {
			t.Errorf("to one that tells jobs by their owners (%t) it is %+v, %v; want it %s", owners, got, err, want)
		}
	}
}

// A user who reads the word between the columns on the command line of sacct, and is quick
// enough, makes a job's text doubtful, and nothing else of it; and of one who does so on
// squeue's the jobs are unknown.
func TestWhoKnowsTheWordForgesNothing(t *testing.T) {
	t.Parallel()
	forged := "12|PENDING|1676372401|Unknown|Unknown|0:0|01:00:00|ben|segue:evil/1.1|\n"
	shifts := false
	moved := func(r Result) Result { // a text with the word in it, and what follows
		words := strings.Split(string(r.Stdout), "\n")
		first := strings.Split(words[0], "|")
		between := "|" + first[1] + "|" // of sacctRows
		r.Stdout = []byte(strings.Replace(string(r.Stdout), "segue:abc/2.1", "x"+between+"y", 1))
		return r
	}
	d := New(Config{Env: []string{}, Now: func() segue.Time { return noon }, Run: func(_ context.Context, c Command) (Result, error) {
		line := strings.Join(c.Argv, " ")
		switch {
		case line == "scontrol show config":
			return Result{Stdout: []byte("SLURM_VERSION = 22.05.8\nAccountingStorageType = accounting_storage/slurmdbd\nMinJobAge = 300 sec\n")}, nil
		case line == "sacct --helpformat":
			return Result{Stdout: []byte("JobID State SubmitLine\n")}, nil
		case c.Argv[0] == "sacct" && strings.Contains(line, "Comment"):
			if r := separated(c, Result{Stdout: []byte(ownRun + forged + anotherRun)}); shifts {
				return moved(r), nil
			}
			return separated(c, Result{Stdout: []byte(ownRun + forged)}), nil
		case c.Argv[0] == "sacct":
			return separated(c, Result{Stdout: []byte(ownRun)}), nil
		case c.Argv[0] == "sdiag":
			return Result{Stdout: []byte(sdiag(0))}, nil
		case c.Argv[0] == "squeue":
			return separated(c, Result{Stdout: []byte(jobRecord(nil) + jobRecord(map[string]string{"UserName": "ben", "State": "COMPLETED"}))}), nil
		}
		return separated(c, Result{Stdout: []byte(oneNode)}), nil
	}})
	id := segue.JobID{Number: 12}
	known, err := d.Status(t.Context(), []segue.JobID{id})
	if err != nil || len(known) != 0 {
		t.Errorf("the accounting knows %+v, %v; want nothing of a job with two texts", known, err)
	}
	if l, err := d.Ledger(t.Context(), noon.Add(-time.Hour)); err != nil || l.Missing != 1 || len(l.Records) != 0 {
		t.Errorf("the ledger is %+v, %v; want one that lacks the job", l, err)
	}
	shifts = true
	if _, err := d.Ledger(t.Context(), noon.Add(-time.Hour)); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("a text with the word: %v, want an error of kind unavailable", err)
	}
	s, err := d.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range s.Jobs {
		if j.State != segue.StateUnknown || j.User != "" {
			t.Errorf("a job that is shown twice is %s's and %s, want nobody's and unknown", j.User, j.State)
		}
	}
}
