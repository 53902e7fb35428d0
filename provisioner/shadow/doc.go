// Package shadow compares Segue with what users do by hand, and submits nothing:
// it finds in a recorded history the jobs that users continued themselves, asks
// for advice at every moment at which a chain would have asked, and says what
// would have come of following it.
//
// [Find] finds the hand-overs: a job that ran into its time limit, and the job of
// the same user that went on with the work. [Judge] goes through the history once,
// in the order of time. While a predecessor runs it asks provisioner.Advise, or
// AdviseBy, from what had been recorded by then and nothing later. What another
// moment of submission would have come to no record says; it comes from a world:
// the cluster as it was recorded at that moment, in which recorded jobs run as long
// as they ran, those of later come as they came, and one more is submitted. The
// same world says what came of the user's own submission, so that all ways are
// measured alike, beside what was recorded.
//
// The package has no scheduler to submit to, reads no clock and no file, and starts
// no goroutine. Start reading at judge.go, then handovers.go and world.go.
package shadow
