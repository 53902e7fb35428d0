package schedulers_test

import (
	"context"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers"
)

// unaccounted is a cluster without accounting.
type unaccounted struct{ *troubled }

func (unaccounted) Capabilities(context.Context) (schedulers.Capabilities, error) {
	return schedulers.Capabilities{Version: "simulator"}, nil
}

// The fate of a job that waited and is gone, by what each source says of it.
func TestTheFateOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	down := segue.Errorf(segue.Unavailable, "sacct: Connection refused")
	never := schedulers.Status{Life: schedulers.Alive, State: segue.Pending, Submit: noon, Start: segue.NoTime, End: segue.NoTime}
	ran := schedulers.Status{Life: schedulers.Ended, State: segue.Completed, Submit: noon, Start: noon, End: noon.Add(time.Hour), Token: "segue:abc/1.1"}
	another := ran
	another.Token = "segue:xyz/1.1"
	tests := map[string]struct {
		shown        bool                // by the scheduler
		unknown      bool                // nobody knows the token
		findErr      error               // of the question for the token
		accounted    []schedulers.Status // of the job's number, at most one
		noAccounting bool
		want         schedulers.Fate
	}{
		"nobody knows its token":                                            {unknown: true, want: schedulers.FateLost},
		"nor its number, where tokens are not kept":                         {unknown: true, findErr: down, want: schedulers.FateLost},
		"its number is another's, where tokens are not kept":                {unknown: true, findErr: down, accounted: []schedulers.Status{another}, want: schedulers.FateLost},
		"the accounting still calls it pending":                             {accounted: []schedulers.Status{never}, want: schedulers.FateLost},
		"its number is another's, and its own record waits for ever":        {accounted: []schedulers.Status{another}, want: schedulers.FateLost},
		"the scheduler shows it":                                            {shown: true, want: schedulers.FateThere},
		"the scheduler shows it, and the accounting is down":                {shown: true, findErr: down, want: schedulers.FateThere},
		"the accounting knows that it ran":                                  {accounted: []schedulers.Status{ran}, want: schedulers.FateThere},
		"without accounting it may have run":                                {unknown: true, findErr: down, noAccounting: true, want: schedulers.FateOpen},
		"without accounting it was submitted too lately to have been there": {unknown: true, noAccounting: true, want: schedulers.FateLost},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, d := newCluster(t)
			if tt.noAccounting {
				var err error
				if c, err = schedulers.New(unaccounted{d}, schedulers.Config{Now: d.Now}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := c.Submit(t.Context(), submission())
			if err != nil {
				t.Fatal(err)
			}
			token := submission().Token
			if tt.unknown {
				token = "segue:abc/9.1"
			}
			d.hidden[got.Job] = !tt.shown
			d.findErrs = []error{tt.findErr}
			d.accounted = map[segue.JobID]schedulers.Status{}
			for _, s := range tt.accounted {
				d.accounted[got.Job] = s
			}
			traced, err := c.Trace(t.Context(), got.Job, token, "", noon)
			if err != nil || traced.Fate != tt.want || (traced.Fate == schedulers.FateThere) != (traced.Job == got.Job) {
				t.Errorf("fate %d of job %s, %v; want fate %d", traced.Fate, traced.Job, err, tt.want)
			}
		})
	}
}

// While a source does not answer, nothing is concluded.
func TestNoFateIsToldWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	c, d := newCluster(t)
	down := segue.Errorf(segue.Unavailable, "squeue: Unable to contact slurm controller")
	d.stateErr, d.findErrs = down, []error{down}
	if traced, err := c.Trace(t.Context(), segue.JobID{Number: 1}, "segue:abc/1.1", "", noon); segue.KindOf(err) != segue.Unavailable || traced.Fate != schedulers.FateUnknown {
		t.Errorf("fate %d, error %v; want none, and one of kind unavailable", traced.Fate, err)
	}
}
