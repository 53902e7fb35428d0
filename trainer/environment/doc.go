// Package environment is the decision problem on which policies learn, as table
// look-ups: for every episode the states at each lead before the current link's
// end, and what a submission there would have led to. No simulation runs while a
// policy learns, so millions of decisions a minute are possible.
//
// An episode begins at its longest lead and goes down. Submitting ends it at the
// cost of the outcome, [Cost]; waiting leads to the next shorter lead; at the
// end of the current link submission is forced. [Roll] follows a network through
// every episode and [Judge] says what its choices cost.
//
// It reads no file, draws nothing and trains nothing. Start reading at table.go,
// then roll.go.
package environment
