package infer

import "testing"

func TestALimitIsPassedByStayingBeyondItWithJobsThatKeepToIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		jobs []job
		want bool
	}{
		"two jobs together, for hours":     {[]job{{10, 0, 5}, {8, 1, 5}}, true},
		"two jobs together, for a minute":  {[]job{{10, 0, 5}, {8, 4.99, 9}}, false},
		"again and again, an hour in all":  {[]job{{10, 0, 9}, {8, 1, 1.6}, {8, 3, 3.6}}, true},
		"one job that alone is too large":  {[]job{{64, 0, 5}}, false},
		"exactly the limit":                {[]job{{8, 0, 5}, {8, 0, 5}}, false},
		"one after another":                {[]job{{10, 0, 5}, {10, 5, 9}}, false},
		"beside one that alone is too big": {[]job{{64, 0, 5}, {10, 0, 5}}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &runningSweep{}
			for _, j := range tt.jobs {
				s.changes = append(s.changes, sweepChange{hours(j.start), jobStarts, j.nodes, false}, sweepChange{hours(j.end), jobEnds, j.nodes, false})
			}
			s.finish()
			if got := s.passes(16); got != tt.want {
				t.Errorf("passes is %v, want %v", got, tt.want)
			}
		})
	}
}

type job struct {
	nodes      int
	start, end float64 // hours
}
