//go:build native

package learning

import (
	"math/rand/v2"
	"strings"

	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/libtorch"
)

// stretch returns the samples of places from a number on to below another.
func stretch(s *trainer.PublishedSamples, from, to int) libtorch.Examples {
	return libtorch.Examples{Rows: s.States[from*published.StateWidth : to*published.StateWidth], Answers: s.Outcomes[from:to]}
}

// divided returns a random two thirds of the samples from a number on to below
// another, and the rest. The seven of a start, and neighbours in time, may be on
// both sides, as in the published protocol.
func divided(s *trainer.PublishedSamples, from, to int, random *rand.Rand) (train, valid libtorch.Examples) {
	order := random.Perm(to - from)
	for n, place := range order {
		one := stretch(s, from+place, from+place+1)
		into := &train
		if 3*n >= 2*len(order) {
			into = &valid
		}
		into.Rows, into.Answers = append(into.Rows, one.Rows...), append(into.Answers, one.Answers...)
	}
	return train, valid
}

// tensors are those of a network by name.
type tensors map[string]safetensors.Tensor

// replace puts the tensors of another network in, under names that begin
// otherwise.
func (t tensors) replace(with map[string]safetensors.Tensor, from, to string) {
	for name, tensor := range with {
		t[to+strings.TrimPrefix(name, from)] = tensor
	}
}
