package reports

// word explains one word of a page.
type word struct{ Name, What string }

// backtestWords are those of a backtest's report.
var backtestWords = []word{
	{"Start", "One moment of the trace at which a pair of jobs is imagined: the predecessor begins, and a successor is to follow " +
		"it."},
	{"Interruption", "The time from the predecessor's end to the successor's start. The work stands still. Also called gap."},
	{"Overlap", "The time for which both run, because the successor started before the predecessor's end. The GPUs are paid twice."},
	{"Lead", "How long before the predecessor's end the successor is submitted."},
	{"Constant lead", "The policy that always submits the same number of hours ahead. It needs no knowledge, so every other policy has to " +
		"beat it at equal overlap."},
	{"Oracle", "The policy that knows the outcome of every lead and takes the best. Nobody can do better, and nobody can be it."},
	{"Frontier", "The least mean interruption that a policy reaches at each mean overlap, when its one free parameter is turned. It " +
		"is the lower convex hull of what single values of the parameter achieve, because drawing one of two values at " +
		"random before each start achieves every mixture of the two."},
	{"Gap closed", "(interruption of the constant lead − interruption of the policy) / (interruption of the constant lead − " +
		"interruption of the oracle), at equal overlap, averaged over 1, 2 and 4 h. Not defined for a policy that cannot be " +
		"held to one of these overlaps."},
	{"Cost", "Mean interruption plus the price of overlap times mean overlap, in hours per start, with the parameter that was " +
		"cheapest on the tuning period."},
	{"Interval", "The test period is cut into blocks of four days, blocks are drawn anew with replacement, and the middle 95 % of " +
		"the results are the interval. A pair spans more than two days and congestion lasts for days, so single starts are " +
		"not independent."},
}
