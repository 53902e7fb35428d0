package reports

// The sentences of a report of shadow mode.
const (
	shadowHeadlineCaption = "Means over the hand-overs. Cost is the interruption plus the price of overlap times the overlap. " +
		"“If users count alike” is the mean over users of their means, so that one with many hand-overs does not decide."
	shadowMeansCaption   = "Whiskers are 95 % intervals from resampling days: hand-overs of one day met the same queue."
	shadowChangesCaption = "Whiskers are 95 % intervals from resampling blocks. Congestion lasts for days, so that blocks of four days are the honest " +
		"ones where there are enough of them."
	shadowFrontierCaption = "The line is what submitting the same time before every end comes to, for every such time, in hindsight. " +
		"The useful comparison is straight up and down: equal overlap, less interruption. Each marker is a way as it is; the flat line right of it says that nobody has to use more overlap."
	shadowLoadCaption = "A hand-over is light, medium or heavy when submitting only at the predecessor's end would have meant a wait of up to 2 h, " +
		"of 2 to 12 h, or of more. Mind that each panel has its own scale."
	shadowUsersCaption = "Users whose own way cost most in all come first. A change below 0 is in Segue's favour. Means hide what happens once: look at the " +
		"worst hand-over too."
	shadowFoundCaption     = "Which jobs count as continued is a rule, not something that the record says."
	shadowHowsCaption      = "As recorded, mean hours: after the end, in the queue at the end, held by a dependency, or side by side."
	shadowTotalsCaption    = "Sums over all hand-overs. A node-hour of overlap is one that two jobs took for work that one could do."
	shadowForecastsCaption = "What was forecast at the moments at which users submitted, beside how long these jobs waited. These are the only " +
		"submissions whose waits are recorded. Below 50 and 90 %, waits were longer than forecast."
	shadowWorldCaption = "The world simulates what no record has: another submission. Here it is held against the record at the submissions that users made. " +
		"Where it is wrong there it is wrong elsewhere, for all ways."
	shadowListCaption = "Positive hours are an interruption, negative ones an overlap."
)

// shadowMeasured says what was measured.
var shadowMeasured = []string{
	"A job that ran into its time limit and that its user continued with another one of the same kind is a hand-over. For each, " +
		"Segue is asked for advice while the first job runs, again and again, from what had been recorded by then and nothing later, and the advice is followed. " +
		"Nothing was submitted: this is what would have happened.",
	"How long another submission would have waited is in no record. It is simulated, from the cluster as it was recorded at that moment, with the " +
		"recorded run times and the jobs that really came later. The user's own submission is simulated in the same way, so that all are measured alike; " +
		"what was recorded of it stands beside.",
	"Each hand-over is judged by itself, after what the user really did before it. That a job would be continued is known here from what its user did " +
		"later; with Segue the user says so beforehand.",
}

// shadowWords are those of a report of shadow mode.
var shadowWords = []word{
	{"Hand-over", "The end of one job and the beginning of the one that goes on with its work."},
	{"Interruption", "The time from the first job's end to the second one's start. The work stands still. Also called gap."},
	{"Overlap", "The time for which both run, because the second one started before the first had ended. The GPUs are paid twice."},
	{"Lead", "How long before the first job's end the second one is submitted."},
	{"World", "The cluster as it was recorded at one moment, simulated from there on with what really came later."},
	{"Cost", "Interruption plus the price of overlap times overlap, in hours per hand-over."},
	{"Interval", "The period is cut into blocks of days, blocks are drawn anew with replacement, and the middle 95 % of the results are the interval."},
}
