package evaluation

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/segue-project/segue"
)

// JudgeConfig holds what a challenger must achieve. The zero value is what the
// project uses.
type JudgeConfig struct {
	// Margin and SlackHours bound how much more than the champion a challenger
	// may cost in a load class: a share of the champion's mean cost there, or
	// hours a start, whichever is more. The hours keep a class that costs next
	// to nothing from deciding. Defaults 0.05 and 0.05 h.
	Margin, SlackHours float64
	// MinBlocks is the least number of four-day blocks: of fewer, the bounds
	// of the interval are little more than single blocks. Default 4.
	MinBlocks int
	// Replicates is the number of bootstrap replicates. Default 2,000.
	Replicates int
	// Seed of the bootstrap. Default 1.
	Seed uint64
}

func (c JudgeConfig) withDefaults() JudgeConfig {
	if c.Margin == 0 {
		c.Margin = 0.05
	}
	if c.SlackHours == 0 {
		c.SlackHours = 0.05
	}
	if c.MinBlocks == 0 {
		c.MinBlocks = 4
	}
	if c.Replicates == 0 {
		c.Replicates = 2000
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	return c
}

func (c JudgeConfig) validate() error {
	switch {
	case !(c.Margin > 0) || !finite(c.Margin):
		return segue.Errorf(segue.Invalid, "Margin is %v, want a positive number", c.Margin)
	case !(c.SlackHours > 0) || !finite(c.SlackHours):
		return segue.Errorf(segue.Invalid, "SlackHours is %v, want a positive number", c.SlackHours)
	case c.MinBlocks < 2:
		return segue.Errorf(segue.Invalid, "MinBlocks is %d, want at least 2", c.MinBlocks)
	case c.Replicates < 1:
		return segue.Errorf(segue.Invalid, "Replicates is %d, want at least 1", c.Replicates)
	}
	return nil
}

// Verdict says whether a challenger takes the champion's place, and why.
type Verdict struct {
	Promote bool `json:"promote"`
	// Reason is one line of plain words with the numbers that decided.
	Reason string `json:"reason"`
	Starts int    `json:"starts"`
	Blocks int    `json:"four_day_blocks"`
	// Difference is the challenger's mean cost minus the champion's, in hours
	// a start: below 0 when the challenger is better.
	Difference Estimate         `json:"cost_difference"`
	Loads      []LoadDifference `json:"by_load"` // the classes that had a start, light first
}

// LoadDifference compares two models in one load class. Costs are means in
// hours a start.
type LoadDifference struct {
	Load       string   `json:"load"`
	Starts     int      `json:"starts"`
	Champion   Number   `json:"champion_cost"`
	Challenger Number   `json:"challenger_cost"`
	Difference Estimate `json:"cost_difference"`
	TooMuch    bool     `json:"too_much"` // more than the margin allows
}

// Judge compares the costs in hours of a champion and a challenger on the same
// starts, which neither may have seen. The challenger is promoted if all of the
// 95 % interval of the mean difference, from a bootstrap by blocks of four days,
// is on its side, and if its mean cost exceeds the champion's in no load class by
// more than the margin. Starts of several pairs can be judged together: blocks
// are told by the time alone.
//
// The errors are of kind Invalid: lengths that disagree, no starts, costs that
// are negative or not finite.
func Judge(starts Starts, champion, challenger []float64, cfg JudgeConfig) (Verdict, error) {
	cfg = cfg.withDefaults()
	v, err := compare(starts, champion, challenger, cfg)
	if err != nil {
		return Verdict{}, fmt.Errorf("judge a challenger: %w", err)
	}
	v.decide(cfg)
	return v, nil
}

// compare returns the verdict without the decision.
func compare(starts Starts, champion, challenger []float64, cfg JudgeConfig) (Verdict, error) {
	if err := cfg.validate(); err != nil {
		return Verdict{}, err
	}
	if err := judgeable(starts, champion, challenger); err != nil {
		return Verdict{}, err
	}
	block, blocks := blocksOf(starts.At, longBlock)
	c := comparison{champion: champion, challenger: challenger, block: block, blocks: blocks}
	c.draws = drawReplicates(block, blocks, rand.New(rand.NewPCG(cfg.Seed, longBlock)), cfg.Replicates)

	v := Verdict{Starts: len(starts.At), Blocks: blocks}
	v.Difference = c.difference(func(int) bool { return true })
	for load := Light; load <= Heavy; load++ {
		d := c.inLoad(load, starts.Reactive)
		if d.Starts == 0 {
			continue
		}
		d.TooMuch = float64(d.Difference.Mean) > cfg.allowed(float64(d.Champion))
		v.Loads = append(v.Loads, d)
	}
	return v, nil
}

// allowed returns by how many hours a start a challenger may cost more than the
// given mean.
func (c JudgeConfig) allowed(cost float64) float64 { return max(c.Margin*cost, c.SlackHours) }

// allowedWords says what is allowed, for reasons.
func (c JudgeConfig) allowedWords() string {
	return fmt.Sprintf("at most %g %% or %g h is allowed", 100*c.Margin, c.SlackHours)
}

func judgeable(starts Starts, champion, challenger []float64) error {
	n := len(starts.At)
	switch {
	case n == 0:
		return segue.Errorf(segue.Invalid, "no starts")
	case len(starts.Reactive) != n || len(champion) != n || len(challenger) != n:
		return segue.Errorf(segue.Invalid, "%d starts have %d reactive outcomes, %d costs of the champion and %d of the challenger",
			n, len(starts.Reactive), len(champion), len(challenger))
	}
	for i, at := range starts.At {
		if !at.Known() || at == segue.Never || math.IsNaN(starts.Reactive[i]) {
			return segue.Errorf(segue.Invalid, "start %d is at %s, with a reactive outcome of %v", i, at, starts.Reactive[i])
		}
		for _, cost := range []float64{champion[i], challenger[i]} {
			if !(cost >= 0) || !finite(cost) {
				return segue.Errorf(segue.Invalid, "start %d: a cost is %v, want 0 h or more", i, cost)
			}
		}
	}
	return nil
}

// comparison holds the costs of two models on the same starts, and the
// replicates, drawn once for all that is compared.
type comparison struct {
	champion, challenger []float64
	block                []int
	blocks               int
	draws                [][]float64
}

func (c comparison) inLoad(load Load, reactive []float64) LoadDifference {
	d := LoadDifference{Load: load.String()}
	for i, x := range reactive {
		if LoadOf(x) == load {
			d.Starts++
			d.Champion += Number(c.champion[i])
			d.Challenger += Number(c.challenger[i])
		}
	}
	d.Champion /= Number(d.Starts)
	d.Challenger /= Number(d.Starts)
	d.Difference = c.difference(func(i int) bool { return LoadOf(reactive[i]) == load })
	return d
}

// difference returns the challenger's mean cost minus the champion's over the
// starts to be counted. Replicates that draw none of them are left out.
func (c comparison) difference(counts func(start int) bool) Estimate {
	sums, starts := make([]float64, c.blocks), make([]float64, c.blocks)
	sum, n := 0.0, 0.0
	for i, b := range c.block {
		if counts(i) {
			d := c.challenger[i] - c.champion[i]
			sums[b] += d
			starts[b]++
			sum, n = sum+d, n+1
		}
	}
	means := make([]float64, 0, len(c.draws))
	for _, shares := range c.draws {
		total, weight := 0.0, 0.0
		for b, share := range shares {
			total += share * sums[b]
			weight += share * starts[b]
		}
		if weight > 0 {
			means = append(means, total/weight)
		}
	}
	return estimate(sum/n, percentiles(means, c.blocks))
}

// decide sets Promote and Reason.
func (v *Verdict) decide(cfg JudgeConfig) {
	d := v.Difference
	on := fmt.Sprintf("%d starts in %d blocks of four days", v.Starts, v.Blocks)
	if v.Blocks < cfg.MinBlocks {
		v.Reason = fmt.Sprintf("%s are too few to judge, want at least %d blocks; there it costs %s a start than the champion",
			on, cfg.MinBlocks, moreOrLess(d.Mean))
		return
	}
	v.Reason = fmt.Sprintf("it costs %s a start than the champion (95 %% interval from %s to %s; %s)",
		moreOrLess(d.Mean), moreOrLess(d.Lo), moreOrLess(d.Hi), on)
	if d.Hi >= 0 {
		v.Reason += ": not surely less"
		return
	}
	allowed := cfg.allowedWords()
	for _, l := range v.Loads {
		if l.TooMuch {
			v.Reason += fmt.Sprintf(", but in %s load %s: %.2f h instead of %.2f h on %d starts, and %s",
				l.Load, moreOrLess(l.Difference.Mean), l.Challenger, l.Champion, l.Starts, allowed)
			return
		}
	}
	v.Promote = true
	v.Reason += ", and in no load class more than is allowed: " + allowed
}

// moreOrLess returns for example "0.42 h less".
func moreOrLess(hours Number) string {
	switch {
	case hours > 0:
		return fmt.Sprintf("%.2f h more", float64(hours))
	case hours < 0:
		return fmt.Sprintf("%.2f h less", -float64(hours))
	}
	return "0 h more"
}
