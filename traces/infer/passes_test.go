package infer

import "testing"

func TestALimitIsPassedByStayingBeyondItWithJobsThatKeepToIt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		jobs []stay
		want bool
	}{
		"two jobs together, for hours":     {[]stay{{10, 0, 5}, {8, 1, 5}}, true},
		"two jobs together, for a minute":  {[]stay{{10, 0, 5}, {8, 4.99, 9}}, false},
		"again and again, an hour in all":  {[]stay{{10, 0, 9}, {8, 1, 1.6}, {8, 3, 3.6}}, true},
		"one job that alone is too large":  {[]stay{{64, 0, 5}}, false},
		"exactly the limit":                {[]stay{{8, 0, 5}, {8, 0, 5}}, false},
		"one after another":                {[]stay{{10, 0, 5}, {10, 5, 9}}, false},
		"beside one that alone is too big": {[]stay{{64, 0, 5}, {10, 0, 5}}, false},
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

type stay struct {
	nodes      int
	start, end float64 // hours
}
