// Package provisioner joins observation, forecast and decision: the loops that
// keep chains running, and the advice that a person or a program asks for.
//
// Advice is given by a planner ([Advise]) or a trained model ([AdviseBy]). [Chains]
// keeps chains going: it observes what became of their links, asks a [Decider]
// whether the next one is due, records the decision, submits and records again.
// It keeps nothing in memory that the store does not have, so that it may be
// killed anywhere. [Live] decides on a real cluster; on the simulator's clock any
// rule may.
//
// The package reads no clock and starts no goroutine: whoever calls does. Start
// reading at chains.go, then chain_view.go, which has the rules, chain_jobs.go, which
// tells what became of a link's job, and advise.go.
package provisioner
