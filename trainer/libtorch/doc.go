// Package libtorch trains the networks of package networks by reinforcement
// learning, with libtorch's gradients: deep Q-learning and a policy gradient, on
// the table look-ups of package environment. [TrainRegression] fits the regressors
// of the published method, which has no reinforcement.
//
// libtorch computes losses and their gradients, nothing else. The weights, the
// optimiser, the replay memory and the random numbers are plain Go values, so
// that a run can be written to a checkpoint as it stands and goes on from it to
// the same last bit, and so that what is trained is what plain Go serves: a test
// keeps both forward passes equal to 1e-5.
//
// Everything but this comment needs libtorch and the build tag native
// (scripts/native.sh). One training uses one thread, and a GPU where libtorch
// finds one. It reads no clock; its only file is the checkpoint. Start reading
// at dqn.go, then model.go.
package libtorch
