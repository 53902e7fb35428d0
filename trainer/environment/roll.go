package environment

import (
	"github.com/segue-project/segue/policy/networks"
)

// Balanced is the price at which an hour of interruption is worth four of
// overlap.
const Balanced = 0.25

// The prices between which one network serves: hours of interruption per hour
// of overlap.
const (
	LeastPrice    = 0.02
	GreatestPrice = 4
)

// Roll follows the network through every episode of the table at a price and
// returns the index of the lead at which it submits, for each episode.
func Roll(net *networks.Network, t *Table, price float64) []int {
	s := net.NewScratch()
	chosen := make([]int, len(t.Episodes))
	var out [networks.Outputs]float32
	for i := range t.Episodes {
		e := &t.Episodes[i]
		k := len(e.Leads) - 1
		for k > 0 && !net.Decide(s, t.State(e, k), t.History(e, k), float64(e.Leads[k]), price, out[:]) {
			k--
		}
		chosen[i] = k
	}
	return chosen
}

// Judgement is what choices in a table came to, in weighted means per episode.
type Judgement struct {
	Price        float64 // hours of interruption per hour of overlap
	Interruption float64 // hours
	Overlap      float64 // hours
	Cost         float64 // hours of interruption: Interruption + Price x Overlap
}

// Judge says what it came to that in each episode the lead of the chosen index
// was taken.
func Judge(t *Table, chosen []int, price float64) Judgement {
	j := Judgement{Price: price}
	var weight float64
	for i, k := range chosen {
		e := &t.Episodes[i]
		w := float64(e.Weight)
		weight += w
		j.Interruption += w * max(0, float64(e.Outcomes[k]))
		j.Overlap += w * max(0, -float64(e.Outcomes[k]))
	}
	j.Interruption /= weight
	j.Overlap /= weight
	j.Cost = j.Interruption + price*j.Overlap
	return j
}

// Frontier judges the network at each of the prices.
func Frontier(net *networks.Network, t *Table, prices []float64) []Judgement {
	points := make([]Judgement, len(prices))
	for i, price := range prices {
		points[i] = Judge(t, Roll(net, t, price), price)
	}
	return points
}

// Foresight returns for each episode the lead that would have cost least, the
// shortest of those that cost the same: what no policy beats.
func Foresight(t *Table, price float64) []int {
	chosen := make([]int, len(t.Episodes))
	for i := range t.Episodes {
		outcomes := t.Episodes[i].Outcomes
		for k, x := range outcomes {
			if Cost(x, price) < Cost(outcomes[chosen[i]], price) {
				chosen[i] = k
			}
		}
	}
	return chosen
}

// Constant returns for each episode the longest lead of at most so many hours:
// the simplest policy worth comparing with.
func Constant(t *Table, hours float32) []int {
	chosen := make([]int, len(t.Episodes))
	for i := range t.Episodes {
		for k, lead := range t.Episodes[i].Leads {
			if lead <= hours {
				chosen[i] = k
			}
		}
	}
	return chosen
}
