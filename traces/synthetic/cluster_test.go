package synthetic

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// TestTheLightSchedulerKeepsToItsRules follows small queues by hand. Each job is
// submitted at second 0 in order, and ends at its limit unless run says less.
func TestTheLightSchedulerKeepsToItsRules(t *testing.T) {
	t.Parallel()
	type job struct {
		user       string
		nodes      int
		gpus       int
		limit, run int // seconds
		after      int // 1 + index of the job to wait for; 0: none
	}
	tests := map[string]struct {
		nodes      int
		maxRunning int
		jobs       []job
		want       []int64 // starts, in seconds
	}{
		"first come, first served": {
			nodes: 2,
			jobs:  []job{{nodes: 2, limit: 100}, {nodes: 1, limit: 100}, {nodes: 2, limit: 10}},
			want:  []int64{0, 100, 200},
		},
		"a short job goes before one that has to wait anyway": {
			nodes: 3,
			jobs:  []job{{nodes: 2, limit: 100}, {nodes: 3, limit: 50}, {nodes: 1, limit: 100}},
			want:  []int64{0, 100, 0},
		},
		"a long one does not, if it would delay it": {
			nodes: 3,
			jobs:  []job{{nodes: 2, limit: 100}, {nodes: 3, limit: 50}, {nodes: 1, limit: 101}},
			want:  []int64{0, 100, 150},
		},
		"but it may use nodes that the reserved job leaves over": {
			nodes: 4,
			jobs:  []job{{nodes: 2, limit: 100}, {nodes: 3, limit: 50}, {nodes: 1, limit: 500}, {nodes: 1, limit: 500}},
			want:  []int64{0, 100, 0, 150},
		},
		"a job that ends early makes room at once": {
			nodes: 1,
			jobs:  []job{{nodes: 1, limit: 100, run: 30}, {nodes: 1, limit: 100}},
			want:  []int64{0, 30},
		},
		"a user at the cap is passed over": {
			nodes:      3,
			maxRunning: 1,
			jobs:       []job{{user: "a", nodes: 1, limit: 100}, {user: "a", nodes: 1, limit: 100}, {user: "b", nodes: 2, limit: 10}},
			want:       []int64{0, 100, 0},
		},
		"a link waits for the one before": {
			nodes: 2,
			jobs:  []job{{nodes: 1, limit: 100}, {nodes: 1, limit: 100, after: 1}, {nodes: 1, limit: 100, after: 2}},
			want:  []int64{0, 100, 200},
		},
		"GPUs of one node are shared, and a whole node waits for all of them": {
			nodes: 1,
			jobs:  []job{{nodes: 1, gpus: 1, limit: 100}, {nodes: 1, gpus: 2, limit: 80}, {nodes: 1, limit: 50}, {nodes: 1, gpus: 1, limit: 10}},
			want:  []int64{0, 0, 100, 80},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Nodes: test.nodes, MaxRunning: test.maxRunning, MaxQueued: NoLimit}.withDefaults()
			if test.maxRunning == 0 {
				cfg.MaxRunning = NoLimit
			}
			c := newCluster(cfg)
			c.swift = true
			users := map[string]*user{}
			var records []*record
			for _, j := range test.jobs {
				if users[j.user] == nil {
					users[j.user] = &user{name: j.user}
				}
				limit := time.Duration(j.limit) * time.Second
				r := &record{
					user:    users[j.user],
					script:  script{nodes: j.nodes, gpus: j.gpus, limit: limit},
					outcome: outcome{run: limit, state: segue.Completed},
				}
				if j.run > 0 {
					r.outcome.run = time.Duration(j.run) * time.Second
				}
				var after *record
				if j.after > 0 {
					after = records[j.after-1]
				}
				c.submit(r, after, 0)
				records = append(records, r)
			}
			for c.pass(); c.agenda.next() != segue.Never; c.pass() {
				c.now = c.agenda.next()
				c.happen()
			}
			var got []int64
			for _, r := range records {
				got = append(got, r.job.Start.Unix())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("starts in seconds (-want +got):\n%s", diff)
			}
		})
	}
}
