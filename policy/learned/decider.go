package learned

import (
	"time"

	"github.com/segue-project/segue/policy/networks"
)

// Decider asks the network of a policy. It is for one goroutine.
type Decider struct {
	network *networks.Network
	scratch *networks.Scratch
	out     [networks.Outputs]float32
}

// NewDecider returns a decider of its own.
func (p *Policy) NewDecider() (*Decider, error) {
	network := p.network
	if network == nil { // not from Read
		var err error
		if network, err = networks.New(p.Spec, p.Tensors); err != nil {
			return nil, err
		}
	}
	return &Decider{network: network, scratch: network.NewScratch()}, nil
}

// Submit reports whether to submit now: in a state of policy.State, with a
// history of predictor.SummarySteps summaries that only a transformer reads, nil
// for that of the call before, when remaining is left of the current link and an hour of overlap costs price
// hours of interruption.
func (d *Decider) Submit(state, history []float32, remaining time.Duration, price float64) bool {
	return d.network.Decide(d.scratch, state, history, remaining.Hours(), price, d.out[:])
}
