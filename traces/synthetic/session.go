package synthetic

import (
	"fmt"
	"time"

	"github.com/segue-project/segue"
)

// submission is one job as it is handed in, with what fate has in store.
type submission struct {
	at       segue.Time
	user     *user
	script   script
	name     string
	outcome  outcome
	patience time.Duration // cancelled when it has not started by then; 0: never
	array    *array        // nil outside job arrays
	task     int32
	chain    *chain // nil outside chains
}

// array is what the tasks of one job array share.
type array struct{ number int64 }

// chain remembers the newest link, which the next one has to wait for.
type chain struct{ last *record }

// session draws the submissions of one sitting of a user that begins at start,
// in order of time.
func (u *user) session(start segue.Time, s stream, add func(submission)) {
	if u.chains && s.chance(0.25) {
		u.chainOf(start, s, add)
		return
	}
	at := start
	script := u.scripts[u.pick.draw(s)]
	for batches := 1 + int(s.lognormal(0.6, 1.2)); batches > 0; batches-- {
		u.batch(at, script, s, add)
		at = at.Add(min(s.duration(9*time.Minute, 1.3), 3*time.Hour))
		if !s.chance(0.77) {
			script = u.scripts[u.pick.draw(s)]
		}
	}
}

// batch draws one job, or a burst of equal jobs within seconds, half of the
// bursts as a job array.
func (u *user) batch(at segue.Time, script script, s stream, add func(submission)) {
	size := 1
	if s.chance(0.1) {
		size = s.pareto(2, 40, 1.5)
	}
	var tasks *array
	if size > 2 && s.chance(0.5) {
		tasks = &array{}
	}
	for i := range size {
		sub := submission{at: at, user: u, script: script, name: script.name, outcome: script.run(s), array: tasks, task: int32(i)}
		if s.chance(0.4) {
			sub.patience = s.duration(20*time.Minute, 2.2)
		}
		add(sub)
		if tasks == nil {
			at = at.Add(time.Duration(s.IntN(4)) * time.Second)
		}
	}
}

// chainOf draws a chain: links of one script at the longest limit, handed in at
// once, each to start when the one before has ended. Their names count on.
func (u *user) chainOf(at segue.Time, s stream, add func(submission)) {
	script := u.scripts[0]
	script.limit = time.Duration(limits[0].value) * time.Minute
	u.campaigns++
	links := &chain{}
	first := 1 + s.IntN(9)
	for i := range s.pareto(2, 8, 1.4) {
		add(submission{
			at: at, user: u, script: script, name: fmt.Sprintf("%s%d.%d", script.name, u.campaigns, first+i),
			outcome: script.link(s), chain: links,
		})
		at = at.Add(time.Duration(s.IntN(3)) * time.Second)
	}
}

// expectedCost estimates the node-hours of a session of the user from a fixed
// number of drawn ones.
func (u *user) expectedCost(cfg Config, s stream) float64 {
	const sessions = 64
	sum := 0.0
	campaigns := u.campaigns
	for range sessions {
		u.session(0, s, func(sub submission) {
			sum += sub.script.nodeHours(sub.outcome.run, cfg.GPUsPerNode)
		})
	}
	u.campaigns = campaigns
	return sum / sessions
}
