package learned_test

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/predictor"
)

// A transformer is asked with the hours before, and not without.
func TestTransformerReadsTheHoursBefore(t *testing.T) {
	t.Parallel()
	width := len(predictor.SummaryNames())
	spec := networks.Spec{
		Kind: networks.Transformer, Heads: networks.Actor, State: len(policy.StateNames()), Hidden: []int{4},
		History: &networks.History{
			Steps: predictor.SummarySteps, Width: width, Model: 4, Heads: 2, Layers: 1, FeedForward: 4,
			Positions: networks.Sinusoidal, Pool: networks.Last,
		},
	}
	tensors := spec.Initial(rand.New(rand.NewPCG(1, 2)))
	maps.Copy(tensors, spec.Normalisation(networks.Identity(spec.Inputs()), networks.Identity(width)))
	model := toymodel.New(t, 6*hour, 12*hour)
	model.Policies = []learned.Policy{{Name: "transformer-pg", Spec: spec, Tensors: tensors}}
	s := situation(9 * hour)
	s.History = make([]float32, predictor.SummarySteps*width)
	if d := decide(t, model, "", s); d.Policy != "transformer-pg" || d.SubmitAt > noon.Add(9*hour) {
		t.Errorf("%s submits at %s, want transformer-pg by the end", d.Policy, d.SubmitAt)
	}
	s.History = s.History[1:]
	_, err := model.Decide("", s)
	if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), "the policy transformer-pg reads a history of ") {
		t.Errorf("with an hour too few: error %v, want an invalid one that says so", err)
	}
}
