package infer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// hours returns an instant so many hours after the beginning of a test.
func hours(h float64) segue.Time {
	return segue.Seconds(1_700_000_000).Add(time.Duration(h * float64(time.Hour)))
}

// own is a job of the one user of a test, with a limit of two days.
func own(name string, nodes int32, submit, start, end float64) segue.Job {
	return segue.Job{
		Name: name, User: "u", Nodes: nodes, Limit: 48 * time.Hour, Submit: hours(submit), Start: hours(start), End: hours(end),
		State: segue.Completed,
	}
}

type link struct{ Job, After int }

func linksOf(deps []Dependency) []link {
	var links []link
	for _, d := range deps {
		links = append(links, link{d.Job, d.After})
	}
	return links
}

func TestALineOfJobsIsCompletedWhereItsLinkWaitedInTheQueue(t *testing.T) {
	t.Parallel()
	h := newHistory([]segue.Job{
		own("x.9", 1, 0, 1, 10), // the line's first link
		own("x.10", 1, 0, 14, 20),
		own("x.11", 1, 0, 20, 30),  // the one dependency that is seen: it starts at an end
		own("x.12", 1, 0, 33, 40),  // waited three hours more
		own("x.13", 1, 50, 60, 70), // submitted by another script
		own("x.12", 1, 0, 25, 26),  // ran before x.11 was over
	})
	want := []link{{1, 0}, {2, 1}, {3, 2}}
	if diff := cmp.Diff(want, linksOf(h.completeLines([]Dependency{{Job: 2, After: 1}}))); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
}

func TestAJobThatOnesLaterJobsOvertookWasHeld(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		others []segue.Job // besides the job, which waits from 1 to 40
		held   segue.Time
		links  []link
	}{
		"by a job of the same shape": {
			others: []segue.Job{own("later", 2, 5, 10, 12)},
			held:   hours(10),
		},
		"and an earlier one ended then": {
			others: []segue.Job{own("later", 2, 5, 10, 12), own("earlier", 2, 0, 0, 20)},
			held:   hours(10), links: []link{{0, 2}},
		},
		"of two that ended then, the one of its shape": {
			others: []segue.Job{own("later", 2, 5, 10, 12), own("small", 1, 0, 0, 30), own("alike", 2, 0, 0, 20)},
			held:   hours(10), links: []link{{0, 3}},
		},
		"a smaller one may slip past": {
			others: []segue.Job{own("small", 1, 5, 10, 12)},
			held:   segue.NoTime,
		},
		"one submitted with it tells nothing": {
			others: []segue.Job{own("twin", 2, 1.1, 10, 12)},
			held:   segue.NoTime,
		},
		"one that started with it tells nothing": {
			others: []segue.Job{own("later", 2, 5, 39.95, 41)},
			held:   segue.NoTime,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(append([]segue.Job{own("job", 2, 1, 40, 50)}, tt.others...))
			held, deps := h.findHeld(nil)
			if held[0] != tt.held {
				t.Errorf("held until %s, want %s", held[0], tt.held)
			}
			if diff := cmp.Diff(tt.links, linksOf(deps)); diff != "" {
				t.Errorf("dependencies (-want +got):\n%s", diff)
			}
		})
	}
}
