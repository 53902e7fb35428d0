// Package schedulers is what Segue asks of a batch scheduler, whichever it is.
// [Cluster] is the portable type that the rest of Segue uses; a [Driver] is the
// small part that knows one scheduler. Cluster validates, tries again where that
// is safe, submits no more than once, and concludes that a job is gone only when
// that was confirmed.
//
// Three rules hold everywhere. A submission carries a token, and nothing is
// submitted again before the scheduler was asked for that token. The status of a
// job has three values, alive, ended and unknown, and unknown never causes an
// action. What a scheduler does not say is unknown, not absent.
//
// The package never decides when to submit, and keeps nothing on disk. Start
// reading at driver.go, then cluster.go. The drivers are in the folders below,
// and schedulertest is what every one of them passes.
package schedulers
