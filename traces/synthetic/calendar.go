package synthetic

import (
	"time"

	"github.com/segue-project/segue"
)

// byHour and byWeekday (Monday first) are the submissions of a real cluster by
// local hour and weekday, as counted; only their proportions matter.
var (
	byHour = [24]float64{
		510, 353, 330, 231, 219, 233, 260, 424, 659, 922, 1097, 1393,
		1166, 1266, 1317, 1231, 1252, 842, 772, 808, 541, 796, 679, 673,
	}
	byWeekday = [7]float64{3095, 3565, 2944, 2501, 2148, 1601, 2121}
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Users come and go: each week some stop working on the cluster and others
// begin, so that about a third of them is engaged.
const (
	stopsPerWeek  = 0.3
	beginsPerWeek = 0.15
	engagedShare  = beginsPerWeek / (beginsPerWeek + stopsPerWeek)
)

// calendar draws the beginnings of sessions over time: who sits down when.
type calendar struct {
	cfg      Config
	users    []*user
	arrivals stream
	regimes  stream

	now       segue.Time
	weekEnds  segue.Time
	who       table
	perSecond float64 // sessions at the busiest hour of this week

	congested   bool
	regimeWeeks int // left of the regime
}

func newCalendar(cfg Config, users []*user) *calendar {
	c := &calendar{
		cfg:      cfg,
		users:    users,
		arrivals: newStream(cfg.Seed, streamArrivals),
		regimes:  newStream(cfg.Seed, streamRegimes),
		now:      cfg.Start,
		weekEnds: cfg.Start,
	}
	c.congested = c.regimes.chance(0.5)
	return c
}

// next returns the beginning of the next session and its user: a Poisson
// process whose rate follows hour, weekday and regime, by thinning (Lewis and
// Shedler, 1979).
func (c *calendar) next() (segue.Time, *user) {
	for {
		if c.now >= c.weekEnds {
			c.beginWeek()
		}
		gap := time.Duration(c.arrivals.ExpFloat64() / c.perSecond * float64(time.Second))
		if c.now = min(c.now.Add(gap), c.weekEnds); c.now == c.weekEnds {
			continue // the process has no memory: it begins anew there
		}
		if c.arrivals.chance(rhythm(c.now) / busiest) {
			return segue.Seconds(c.now.Unix()), c.users[c.who.draw(c.arrivals)]
		}
	}
}

// beginWeek draws who is engaged and sets the rate of sessions so that their
// expected node-hours are the load of the regime.
func (c *calendar) beginWeek() {
	c.weekEnds = c.weekEnds.Add(week)
	load := c.weeklyLoad()
	weights := make([]float64, len(c.users))
	sum, cost := 0.0, 0.0
	for i, u := range c.users {
		switch {
		case u.engaged && c.regimes.chance(stopsPerWeek):
			u.engaged = false
		case !u.engaged && c.regimes.chance(beginsPerWeek):
			u.engaged = true
		}
		mood := c.regimes.lognormal(1, 0.5)
		if u.engaged || (i == len(c.users)-1 && sum == 0) { // somebody always works
			weights[i] = u.activity * mood
		}
		sum += weights[i]
		cost += weights[i] * u.cost
	}
	c.who = newTable(weights)
	nodeHours := load * float64(c.cfg.Nodes) * week.Hours()
	c.perSecond = nodeHours / (cost / sum) / week.Seconds() * busiest
}

// weeklyLoad returns the load of the week: the regime's, which is calm (0.7 of
// the mean) or congested (1.3) for two to six weeks.
func (c *calendar) weeklyLoad() float64 {
	if c.regimeWeeks == 0 {
		c.congested = !c.congested
		c.regimeWeeks = 2 + c.regimes.IntN(5)
	}
	c.regimeWeeks--
	if c.congested {
		return 1.3 * c.cfg.Load
	}
	return 0.7 * c.cfg.Load
}

// rhythm returns how busy people are at the instant t, 1 on average.
func rhythm(t segue.Time) float64 {
	hours := t.Unix() / 3600
	weekday := (hours/24 + 3) % 7 // the epoch was a Thursday
	return byHour[hours%24] / meanOf(byHour[:]) * byWeekday[weekday] / meanOf(byWeekday[:])
}

var busiest = maxOf(byHour[:]) / meanOf(byHour[:]) * maxOf(byWeekday[:]) / meanOf(byWeekday[:])

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func maxOf(values []float64) float64 {
	most := values[0]
	for _, v := range values {
		most = max(most, v)
	}
	return most
}
