// Package drift says whether a model may still be trusted: whether the inputs
// look like those that it was trained on, and whether its forecasts are right as
// often as they claim.
//
// [Fit] makes a [Profile] of the training rows, which is stored with the model,
// and [Profile.Check] compares one row with it: first each feature by itself,
// against the extremes that training saw; then all together, by the Mahalanobis
// distance, which finds combinations that training did not see (a long queue
// beside idle nodes). [Coverage] compares forecasts with what followed.
//
// Each check answers with a reason in words, which belongs into the decision
// that a planner then takes instead of the model.
//
// The package knows nothing of models, does no I/O and reads no clock. Start
// reading at check.go, then fit.go.
package drift
