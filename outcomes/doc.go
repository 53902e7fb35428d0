// Package outcomes answers "what would have happened?" for a chain of jobs on a
// simulated cluster: when the next link would have started had it been
// submitted at this or that moment of the current one.
//
// The signed outcome of a submission is the start of the next link minus the
// end of the current one: positive is an interruption, negative an overlap.
// [Curve] holds it for every submit time of a [Grid], each point by a fork of
// the simulation in which everything else, later arrivals included, goes on as
// it would. [Follow] lets a decider run a whole chain.
//
// The package is pure and knows no policy and no forecast. Start reading at
// curve.go.
package outcomes
