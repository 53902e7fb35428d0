package shadow_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner/shadow"
)

// find finds the hand-overs of a history in which every job could have started when
// it was submitted.
func find(t testing.TB, history []segue.Job) shadow.Found {
	t.Helper()
	eligible := make([]segue.Time, len(history))
	for i := range history {
		eligible[i] = history[i].Submit
	}
	found, err := shadow.Find(history, eligible, at(0), at(20*day), shadow.Rule{})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWhatCountsAsContinuedByHand(t *testing.T) {
	t.Parallel()
	handover := func(how shadow.How) shadow.Found {
		return shadow.Found{UsedUp: 1, Handovers: []shadow.Handover{{Before: 0, After: 1, How: how}}}
	}
	// The predecessor runs from 0 to 48 h in all of them.
	for name, tt := range map[string]struct {
		successor func(l *log)
		want      shadow.Found
	}{
		"resubmitted after the end": {func(l *log) { l.job("ada", "train", 2, 50*hour, 55*hour, 60*hour, 2*day) }, handover(shadow.AfterEnd)},
		"in the queue at the end":   {func(l *log) { l.job("ada", "train", 2, 40*hour, 55*hour, 60*hour, 2*day) }, handover(shadow.Queued)},
		"running before the end":    {func(l *log) { l.job("ada", "train", 2, 40*hour, 42*hour, 80*hour, 2*day) }, handover(shadow.Overlapping)},
		"the name counts on":        {func(l *log) { l.job("ada", "train.12", 2, 50*hour, 55*hour, 60*hour, 2*day) }, shadow.Found{UsedUp: 1, Alone: 1}},
		"another limit":             {func(l *log) { l.job("ada", "train", 2, 50*hour, 55*hour, 60*hour, day) }, handover(shadow.AfterEnd)},
		"another user":              {func(l *log) { l.job("ben", "train", 2, 50*hour, 55*hour, 60*hour, 2*day) }, shadow.Found{UsedUp: 1, Alone: 1}},
		"another size":              {func(l *log) { l.job("ada", "train", 4, 50*hour, 55*hour, 60*hour, 2*day) }, shadow.Found{UsedUp: 1, Alone: 1}},
		"more than a day after the end": {
			func(l *log) { l.job("ada", "train", 2, 73*hour, 73*hour, 75*hour, 2*day) }, shadow.Found{UsedUp: 1, Late: 1},
		},
		"in the first half of the run": {
			func(l *log) { l.job("ada", "train", 2, 20*hour, 20*hour, 30*hour, 2*day) }, shadow.Found{UsedUp: 1, SideBySide: 1},
		},
		"a third one beside it": {func(l *log) {
			l.job("ada", "train", 2, 50*hour, 55*hour, 80*hour, 2*day)
			l.job("ada", "train", 2, -10*hour, -9*hour, 56*hour, 3*day)
		}, shadow.Found{UsedUp: 1, SideBySide: 1}},
		"one that continues two": {func(l *log) {
			l.job("ada", "train", 2, -2*hour, hour, 49*hour, 2*day)
			l.job("ada", "train", 2, 50*hour, 55*hour, 80*hour, 2*day)
		}, shadow.Found{UsedUp: 2, SideBySide: 1, Handovers: []shadow.Handover{{Before: 0, After: 2, How: shadow.AfterEnd}}}},
		"one that never ran": {func(l *log) {
			l.job("ada", "train", 2, 49*hour, 50*hour, 50*hour, 2*day).Start = segue.NoTime
		}, shadow.Found{UsedUp: 1, Alone: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l log
			l.job("ada", "train", 2, -hour, 0, 2*day, 2*day)
			tt.successor(&l)
			l.late()
			if diff := cmp.Diff(tt.want, find(t, l.jobs)); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhichJobsCountAsEndedByTheirLimit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		run, limit time.Duration
		state      segue.JobState
		want       int
	}{
		"to the second":          {2 * day, 2 * day, segue.Completed, 1},
		"killed a little early":  {2*day - 20*time.Minute, 2 * day, segue.Failed, 1},
		"as the scheduler says":  {40 * hour, 2 * day, segue.Timeout, 1},
		"an hour too early":      {47 * hour, 2 * day, segue.Completed, 0},
		"a trial":                {2 * hour, 2 * hour, segue.Timeout, 0},
		"without a limit":        {2 * day, segue.Unlimited, segue.Completed, 0},
		"of a limit not known":   {2 * day, 0, segue.Completed, 0},
		"half a day and no less": {12 * hour, 12 * hour, segue.Timeout, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l log
			l.job("ada", "train", 2, 0, 0, tt.run, tt.limit).State = tt.state
			l.late()
			if got := find(t, l.jobs).UsedUp; got != tt.want {
				t.Errorf("%d jobs ran into their limit, want %d", got, tt.want)
			}
		})
	}
}

func TestNamesThatCountAreOneLine(t *testing.T) {
	t.Parallel()
	var l log
	l.job("ada", "dimer.9", 2, 0, 0, 2*day, 2*day)
	l.job("ada", "dimer.10", 2, 0, 2*day+hour, 3*day, 2*day)
	l.late()
	if got := find(t, l.jobs).Handovers; len(got) != 1 {
		t.Errorf("%d hand-overs from dimer.9 to dimer.10, want 1", len(got))
	}
}

func TestAJobNearTheEndOfTheHistoryIsNotJudged(t *testing.T) {
	t.Parallel()
	var l log
	l.job("ada", "train", 2, 0, 0, 2*day, 2*day)
	l.job("ada", "train", 2, 2*day+hour, 2*day+2*hour, 4*day, 2*day) // nobody submits after this
	want := shadow.Found{UsedUp: 1, TooLate: 1}
	if diff := cmp.Diff(want, find(t, l.jobs)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// Whatever a history looks like: every job that ran into its limit is counted once,
// nothing continues two jobs, and a successor is of the same user and comes later.
func TestHandoversAreOneToOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		history := drawHistory(r)
		found := find(t, history)
		if n := len(found.Handovers) + found.Alone + found.Late + found.SideBySide + found.TooLate; n != found.UsedUp {
			r.Fatalf("%d of %d are told of", n, found.UsedUp)
		}
		after := map[int]bool{}
		for _, h := range found.Handovers {
			a, b := history[h.Before], history[h.After]
			if after[h.After] {
				r.Fatalf("job %s continues two jobs", b.ID)
			}
			after[h.After] = true
			if a.User != b.User || a.Nodes != b.Nodes || b.Start <= a.Start || b.Submit < a.Submit || b.Submit > a.End.Add(day) {
				r.Fatalf("%+v does not continue %+v", b, a)
			}
		}
	})
}

// drawHistory draws a week of a small cluster with users who continue jobs.
func drawHistory(r *rapid.T) []segue.Job {
	var l log
	hours := func(most int, what string) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(r, what)) * hour
	}
	for begin := hours(72, "begin of a chain"); begin < 4*day; {
		limit := time.Duration(rapid.SampledFrom([]int{12, 24}).Draw(r, "limit of a link")) * hour
		wait := hours(10, "wait of a link")
		l.job("ada", "a1", 1, begin, begin+wait, begin+wait+limit, limit)
		begin += wait + limit + hours(30, "submission after the end") - 6*hour
	}
	for range rapid.IntRange(0, 25).Draw(r, "jobs") {
		submit := time.Duration(rapid.IntRange(0, 6*24).Draw(r, "submit")) * hour
		start := submit + time.Duration(rapid.IntRange(0, 20).Draw(r, "wait"))*hour
		limit := time.Duration(rapid.SampledFrom([]int{2, 12, 24}).Draw(r, "limit")) * hour
		run := min(limit, time.Duration(rapid.IntRange(1, 30).Draw(r, "run"))*hour)
		user := rapid.SampledFrom([]string{"ada", "ben", "cem"}).Draw(r, "user")
		j := l.job(user, rapid.SampledFrom([]string{"a1", "a2", "b"}).Draw(r, "name"), int32(rapid.IntRange(1, 2).Draw(r, "nodes")), submit, start, start+run, limit)
		switch rapid.IntRange(0, 9).Draw(r, "fate") {
		case 0:
			j.Start, j.State = segue.NoTime, segue.Cancelled
		case 1:
			j.End, j.State = segue.NoTime, segue.Running
		}
	}
	l.late()
	return l.jobs
}
