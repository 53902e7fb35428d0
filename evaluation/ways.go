package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/segue-project/segue"
)

// Ways are ways of doing the same things: what each came to on the same
// hand-overs. X[w][i] is the signed outcome in hours of hand-over i by the way
// Names[w]: positive is an interruption, negative an overlap.
type Ways struct {
	At    []segue.Time // when the predecessor of each hand-over ended
	Users []string
	// Reactive is the outcome of submitting when the predecessor ends, by which
	// hand-overs are sorted by load.
	Reactive []float64
	Names    []string
	X        [][]float64
}

// WaysReport compares ways with one of them, the reference. It is empty but for
// the names where there is no hand-over.
type WaysReport struct {
	Handovers    int    `json:"handovers"`
	Reference    string `json:"reference"`
	OverlapPrice Number `json:"overlap_price"`
	// Days and Blocks are the numbers of one-day and of four-day blocks that the
	// intervals rest on.
	Days   int         `json:"days"`
	Blocks int         `json:"four_day_blocks"`
	Ways   []WayScore  `json:"ways"`
	Users  []UserScore `json:"users"` // those whom the reference costs most in all first
}

// WayScore is what one way came to. Hours are means over the hand-overs; intervals
// are of a bootstrap by blocks of a day but where the name says four.
type WayScore struct {
	Name         string   `json:"name"`
	Interruption Estimate `json:"interruption_hours"`
	Overlap      Estimate `json:"overlap_hours"`
	Cost         Estimate `json:"cost"`
	// Change is the cost minus the reference's on the same hand-overs, below 0 when
	// this way is cheaper.
	Change         Estimate `json:"cost_minus_reference"`
	ChangeFourDays Estimate `json:"cost_minus_reference_four_day_blocks"`
	// CostOfUsers is the mean cost where every user counts once.
	CostOfUsers Number `json:"cost_mean_of_users"`
	NoGap       Number `json:"zero_interruption_share"`
	// Cheaper and Dearer are the shares of hand-overs at which this way cost at
	// least a minute less, or more, than the reference.
	Cheaper Number `json:"cheaper_share"`
	Dearer  Number `json:"dearer_share"`
	ByLoad  ByLoad `json:"by_load"`
	Worst   Worst  `json:"worst_handover"`
}

// UserScore is what each way came to on the hand-overs of one user, in the order
// of WaysReport.Ways: means in hours, and the cost of the worst.
type UserScore struct {
	User      string      `json:"user"`
	Handovers int         `json:"handovers"`
	Ways      []UserOfWay `json:"ways"`
}

// UserOfWay is one way in a UserScore.
type UserOfWay struct {
	Name         string `json:"name"`
	Interruption Number `json:"interruption_hours"`
	Overlap      Number `json:"overlap_hours"`
	Cost         Number `json:"cost"`
	Worst        Number `json:"worst_cost"`
}

// CompareWays scores every way and compares it with the reference, which must be
// one of them. The errors are of kind Invalid: shapes that disagree, values that
// are not finite, names that are missing or there twice.
func CompareWays(w Ways, reference string, cfg Config) (WaysReport, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return WaysReport{}, fmt.Errorf("compare ways: %w", err)
	}
	if err := w.validate(reference); err != nil {
		return WaysReport{}, fmt.Errorf("compare ways: %w", err)
	}
	report := WaysReport{Handovers: len(w.At), Reference: reference, OverlapPrice: Number(cfg.Prefer.OverlapPrice()), Ways: []WayScore{}, Users: []UserScore{}}
	if len(w.At) == 0 {
		return report, nil
	}
	c := waysContest{Ways: w, price: cfg.Prefer.OverlapPrice(), days: newBlockMeans(w.At, shortBlock, cfg), blocks: newBlockMeans(w.At, longBlock, cfg)}
	report.Days, report.Blocks = c.days.blocks, c.blocks.blocks
	against := c.costs(slices.Index(w.Names, reference))
	for k := range w.Names {
		report.Ways = append(report.Ways, c.score(k, against))
	}
	report.Users = c.users(against)
	return report, nil
}

func (w Ways) validate(reference string) error {
	n := len(w.At)
	switch {
	case len(w.Users) != n || len(w.Reactive) != n || len(w.X) != len(w.Names):
		return segue.Errorf(segue.Invalid, "%d hand-overs have %d users and %d reactive outcomes, %d ways %d rows",
			n, len(w.Users), len(w.Reactive), len(w.Names), len(w.X))
	case !slices.Contains(w.Names, reference):
		return segue.Errorf(segue.Invalid, "the reference %q is not among the ways", reference)
	}
	for k, name := range w.Names {
		if name == "" || slices.Contains(w.Names[:k], name) {
			return segue.Errorf(segue.Invalid, "the name %q of a way is empty or used twice", name)
		}
		if len(w.X[k]) != n || slices.ContainsFunc(w.X[k], func(x float64) bool { return !finite(x) }) {
			return segue.Errorf(segue.Invalid, "the way %q has %d outcomes of %d hand-overs, or one that is not finite", name, len(w.X[k]), n)
		}
	}
	return nil
}

// waysContest is a comparison under way.
type waysContest struct {
	Ways
	price        float64
	days, blocks blockMeans
}

func (c *waysContest) costs(way int) []float64 {
	costs := make([]float64, len(c.At))
	for i, x := range c.X[way] {
		costs[i] = PointOf(x).Cost(c.price)
	}
	return costs
}

func (c *waysContest) score(way int, against []float64) WayScore {
	n := len(c.At)
	costs, changes, gaps, overlaps := c.costs(way), make([]float64, n), make([]float64, n), make([]float64, n)
	cheaper, dearer := 0.0, 0.0
	const minute = 1.0 / 60
	for i, x := range c.X[way] {
		p := PointOf(x)
		gaps[i], overlaps[i], changes[i] = p.Interruption, p.Overlap, costs[i]-against[i]
		switch {
		case changes[i] <= -minute:
			cheaper++
		case changes[i] >= minute:
			dearer++
		}
	}
	starts := Starts{At: c.At, Reactive: c.Reactive}
	return WayScore{
		Name: c.Names[way], Interruption: c.days.of(gaps), Overlap: c.days.of(overlaps), Cost: c.days.of(costs),
		Change: c.days.of(changes), ChangeFourDays: c.blocks.of(changes), CostOfUsers: c.meanOfUsers(costs),
		NoGap: Number(zeroShare(c.X[way])), Cheaper: Number(cheaper / float64(n)), Dearer: Number(dearer / float64(n)),
		ByLoad: starts.byLoad(c.X[way], c.price), Worst: starts.worst(c.X[way], c.price),
	}
}

// byUser returns the hand-overs of every user, users in ascending order.
func (c *waysContest) byUser() (names []string, handovers map[string][]int) {
	handovers = map[string][]int{}
	for i, user := range c.Users {
		if handovers[user] == nil {
			names = append(names, user)
		}
		handovers[user] = append(handovers[user], i)
	}
	slices.Sort(names)
	return names, handovers
}

func (c *waysContest) meanOfUsers(costs []float64) Number {
	names, handovers := c.byUser()
	sum := 0.0
	for _, user := range names {
		sum += meanOf(pick(costs, handovers[user]))
	}
	return Number(sum / float64(len(names)))
}

func (c *waysContest) users(against []float64) []UserScore {
	names, handovers := c.byUser()
	total := func(user string) (sum float64) {
		for _, cost := range pick(against, handovers[user]) {
			sum += cost
		}
		return sum
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(total(b), total(a)) })
	var list []UserScore
	for _, user := range names {
		s := UserScore{User: user, Handovers: len(handovers[user])}
		for k, name := range c.Names {
			xs := pick(c.X[k], handovers[user])
			p := Mean(xs)
			s.Ways = append(s.Ways, UserOfWay{
				Name: name, Interruption: Number(p.Interruption), Overlap: Number(p.Overlap), Cost: Number(p.Cost(c.price)),
				Worst: Number(slices.Max(pick(c.costs(k), handovers[user]))),
			})
		}
		list = append(list, s)
	}
	return list
}

// blockMeans gives means with the intervals of one bootstrap by blocks of days:
// all values are drawn alike, so that their differences are paired.
type blockMeans struct {
	block  []int
	blocks int
	draws  [][]float64
}

func newBlockMeans(at []segue.Time, days int, cfg Config) blockMeans {
	block, blocks := blocksOf(at, days)
	return blockMeans{block, blocks, drawReplicates(block, blocks, rand.New(rand.NewPCG(cfg.Seed, uint64(days))), cfg.Replicates)}
}

func (b blockMeans) of(values []float64) Estimate {
	if len(values) == 0 {
		return estimate(math.NaN(), interval{math.NaN(), math.NaN()})
	}
	sums := make([]float64, b.blocks)
	for i, k := range b.block {
		sums[k] += values[i]
	}
	means := make([]float64, len(b.draws))
	for r, shares := range b.draws {
		for k, share := range shares {
			means[r] += share * sums[k]
		}
	}
	return estimate(meanOf(values), percentiles(means, b.blocks))
}
