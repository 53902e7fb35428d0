package waits

import (
	"cmp"
	"slices"
	"time"

	"github.com/segue-project/segue"
)

// AtOnce is the recorded wait up to which a job started at once: schedulers look at
// the queue every half minute or so, whatever is in it, and forecasts leave that out.
const AtOnce = time.Minute

// Counted returns a wait as it counts: one of up to atOnce is none.
func Counted(wait, atOnce time.Duration) time.Duration {
	if wait <= atOnce {
		return 0
	}
	return wait
}

// Turnout is a forecast and what came of the submission that it was made for, at the
// forecast's instant.
type Turnout struct {
	Forecast segue.Forecast
	Left     segue.Time // when the job left the queue; segue.Never if it never did
	Started  bool       // and was not cancelled then
}

// Wait returns how long the job waited, if it started.
func (t Turnout) Wait() time.Duration { return t.Left.Sub(t.Forecast.At) }

// Past is how forecasts turned out, as that came to be known: it goes through their
// turnouts in order of time, and at every instant a Follower has learned from the
// waits that were over before it, while the others are pending. A job that was
// cancelled is pending until then, and teaches nothing.
type Past struct {
	follower Follower
	atOnce   time.Duration
	made     []Turnout // those to come, in order of their forecasts
	left     []Turnout // those to leave the queue, in order
	waiting  []Turnout // in order of their forecasts
}

// NewPast returns the past before the first turnout, for a Follower that has observed
// nothing. Waits of up to atOnce count as none: AtOnce for those of a real cluster, 0 for
// those of a simulation. Turnouts of empty forecasts teach nothing.
func NewPast(f Follower, turnouts []Turnout, atOnce time.Duration) *Past {
	said := slices.DeleteFunc(slices.Clone(turnouts), func(t Turnout) bool { return t.Forecast.Empty() })
	p := &Past{follower: f, atOnce: atOnce, made: said, left: slices.Clone(said)}
	slices.SortStableFunc(p.made, func(a, b Turnout) int { return cmp.Compare(a.Forecast.At, b.Forecast.At) })
	slices.SortStableFunc(p.left, func(a, b Turnout) int { return cmp.Compare(a.Left, b.Left) })
	return p
}

// Correct returns the forecast as Follower.Correct does, by what was known before its
// instant; instants must not fall.
func (p *Past) Correct(f segue.Forecast) segue.Forecast {
	if f.Empty() {
		return f
	}
	pending := p.to(f.At)
	return p.follower.Correct(f, pending)
}

// At returns what was known before an instant; instants must not fall.
func (p *Past) At(at segue.Time) (Follower, []Pending) {
	pending := p.to(at)
	return p.follower, pending
}

func (p *Past) to(at segue.Time) []Pending {
	for len(p.made) > 0 && p.made[0].Forecast.At < at {
		p.waiting = append(p.waiting, p.made[0])
		p.made = p.made[1:]
	}
	for len(p.left) > 0 && p.left[0].Left < at {
		if t := p.left[0]; t.Started {
			p.follower.Observe(t.Forecast, Counted(t.Wait(), p.atOnce), t.Left)
		}
		p.left = p.left[1:]
	}
	p.waiting = slices.DeleteFunc(p.waiting, func(t Turnout) bool { return t.Left < at })
	pending := make([]Pending, len(p.waiting))
	for i, t := range p.waiting {
		pending[i] = Pending{Forecast: t.Forecast, Age: Counted(at.Sub(t.Forecast.At), p.atOnce)}
	}
	return pending
}
