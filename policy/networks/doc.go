// Package networks is the forward pass of the learned policies in plain Go: a
// multi-layer perceptron, a mixture of such experts over load regimes, and a
// transformer over the last hours of the queue. Training is elsewhere
// (trainer/libtorch); what it leaves behind is a [Spec] and named tensors.
//
// A [Network] answers for one moment of one chain with two numbers, one for
// "wait" and one for "submit": expected costs, or the logits of a stochastic
// policy, by [Heads]. Inputs are raw: their mean and spread, with which they are
// made comparable, belong to the tensors. [Input] appends what a decision needs
// beyond the state, for training and for serving alike.
//
// It does no I/O, never trains, and allocates nothing once a [Scratch] is made.
// Start reading at spec.go, then network.go.
package networks
