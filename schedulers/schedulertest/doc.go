// Package schedulertest is the conformance suite that every scheduler driver
// passes: it says what the words of schedulers.Driver mean, by what can be seen.
// A driver that cannot do a thing says so in its capabilities, and must refuse it
// then.
//
// It is for tests and for nothing else. Start reading at suite.go.
package schedulertest
