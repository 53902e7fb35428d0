// Package watch is shadow mode on a live cluster: it looks at the queue, asks for
// every long job that runs whether its user should submit the next one now, and
// writes the advice down, a line each. It submits nothing: of a scheduler it knows
// only how to look at it. Package shadow compares what was written with what users
// did.
//
// Start reading at watch.go.
package watch
