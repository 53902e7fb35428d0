package outcomes_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/simulator"
)

func TestSpreadByHand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		nodes     int
		jobs      []simulator.Job
		link      simulator.Job
		wantStart time.Duration
		leads     []time.Duration
		want      []time.Duration // from a lead of 0 on
	}{
		"on an empty cluster the next link starts when it is submitted": {
			nodes: 2, link: link(1, 2*hour),
			leads: []time.Duration{0, 59*minute + 30*time.Second, 119 * minute},
			want:  []time.Duration{0, -59*minute - 30*time.Second, -119 * minute},
		},
		"a link that waits for three hours: the second is submitted before it starts": {
			nodes: 2, link: link(1, hour), wantStart: 3 * hour,
			jobs:  []simulator.Job{job(0, 3*hour, 3*hour, 2)},
			leads: []time.Duration{0, 119*minute + 30*time.Second, 239 * minute},
			// Submitted early, the next link starts beside this one.
			want: []time.Duration{0, -hour, -hour},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := clusterAt(t, 0, tt.nodes, tt.jobs...)
			var seen []time.Duration
			prober := outcomes.Prober{At: func(_ time.Duration, world *simulator.Sim) error {
				seen = append([]time.Duration{world.Now().Sub(at(0))}, seen...)
				return nil
			}}
			got, err := prober.Spread(base, tt.link, minute, 3)
			if err != nil {
				t.Fatal(err)
			}
			want := outcomes.Curve{Submit: at(0), Start: at(tt.wantStart), Leads: tt.leads, Outcomes: tt.want}
			want.End = want.Start.Add(tt.link.Limit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("curve differs (-want +got):\n%s", diff)
			}
			for i, lead := range tt.leads {
				if now := want.End.Add(-lead).Sub(at(0)); seen[i] != now {
					t.Errorf("the cluster is seen %s after the start, want %s", seen[i], now)
				}
			}
		})
	}
}

func TestSpreadThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		delay time.Duration
		count int
	}{"one submit time": {minute, 1}, "no delay": {0, 7}, "a delay beyond the end": {2 * hour, 7}} {
		var prober outcomes.Prober
		if _, err := prober.Spread(clusterAt(t, 0, 1), link(1, hour), tt.delay, tt.count); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", name, err)
		}
	}
}
