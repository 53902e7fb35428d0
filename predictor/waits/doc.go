// Package waits turns the margins of tree ensembles into forecasts: the wait of
// a request as a distribution, from the features of a predictor.Describer.
//
// A [Model] is one of several kinds (see [Kind]), which answer the same question
// in different ways and are compared with each other in docs/recorded.md. What
// it forecasts follows a moving load through a [Follower], which learns from how
// earlier forecasts turned out and from the waits that are not over; a [Past] tells it
// of them in order of time.
//
// The package never trains anything and never reads a file: trees come through
// predictor/trees. Start reading at model.go.
package waits
