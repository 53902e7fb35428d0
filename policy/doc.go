// Package policy decides when to submit the next link of a chain.
//
// A [Rule] turns a forecast of the wait into the lead that the submission needs
// before the current link ends; the link is submitted as soon as no more than
// that remains. Each rule has one free parameter, which places it between "no
// gap" and "no waste"; a [Family] is a rule with the values that are worth
// trying. [Decide] applies a rule within the safe envelope and explains itself:
// never later than the end of the current link, never earlier than the user's
// cap. Without a forecast it goes by a wait of two hours and says so.
//
// The package does no I/O, reads no clock and simulates nothing. Start reading
// at rule.go, then decide.go.
package policy
