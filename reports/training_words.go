package reports

// The sentences of a training's report.
const (
	trainingAbout = "A model has a forecast of waits, by trees, and networks that decide by it. This page says how both came " +
		"about and what was seen on the way. It does not say how good the model is on time that came later: " +
		"a backtest does, with 'segue backtest --model'."
	trainedCaption = "The validation cost is what a policy costs on the fold of time that it was not trained on: the mean over three prices " +
		"of overlap, 0.05, 0.25 and 1 h of interruption for an hour of it, each in its own unit of cost. Step 0 is the rule " +
		"from which the training begins; the policy of the least cost is kept."
	factsCaption    = "All that is random follows from the seeds: the same program makes the same model from the same history."
	settingsCaption = "Flags of the training that change its result, whether they were typed or not."
	treesCaption    = "The loss of the forecast's trees, round by round: on the fold that each was fitted without, and for the last fit, on everything, " +
		"on the rows that it was fitted to. A marker is the least loss, at which the fit stopped."
	courseCaption = "The loss is what a step makes smaller, as the mean since the validation before. The validation cost says whether that " +
		"helps on other time; the marker is the policy that was kept. Where experts are mixed, the lowest panel is the mean weight " +
		"that the gate gives to each."
	heldOutCaption = " Each forecast is by trees that were fitted without its fold of time, corrected by what was known then of how earlier " +
		"ones had turned out. Where most waits are nothing at all, every quantile holds most of them, and a line begins high."
	loadWords = "A start is light, medium or heavy when submitting only at the predecessor's end would have meant a wait of up to 2 h, " +
		"of 2 to 12 h, or of more. Heavy starts are those that turned out long, so that their waits lie high in their " +
		"forecasts even when these are right."
	coverageCaption = "A right forecast has 50 and 90 % of the waits within these quantiles. CRPS is the mean distance of forecast and wait " +
		"in hours, and less is better. The loads of the months differ, and so does what a CRPS is worth."
	validationCaption = "Each line is one policy, as in the report of a backtest: lower at equal overlap is better. All are judged on the starts " +
		"of the last fold, which no network was trained on, by forecasts of trees that never saw that time. A marker is the policy at the " +
		"balanced preference, where nothing is tuned. The fold chose which step of each network was kept, so that networks " +
		"look a little better here than they are."
	costsCaption = "Interruption plus 0.25 times overlap, at the balanced preference, without any tuning. Whiskers are 95 % intervals from resampling " +
		"blocks of four days."
	changesCaption = "What the two manifests say differently. Files are left out."
	metricsCaption = "Numbers of different histories, or of different folds of time, cannot be compared: look first at what changed."
	effortCaption  = "Times are those of this run: what was taken over from one that was interrupted took none."
)

// trainingWords are those of a training's report.
var trainingWords = []word{
	{"Trees", "An ensemble of decision trees that answers, for a submission at some moment, how likely a wait of each length is."},
	{"Fold", "One part of the history: blocks of eight days in turn belong to one of four. What is judged on a fold was fitted without it, and without three days around it."},
	{"Rule", "Submit when the odds of starting before the current link ends are at most one over the price of overlap (the newsvendor rule). Networks begin as it."},
	{"Expert and gate", "A mixture has several networks, the experts, and one that says how much each counts in a situation, the gate."},
	{"Start", "One moment of the history at which a pair of jobs is imagined: the predecessor begins, and a successor is to follow it."},
	{"Interruption and overlap", "How long nothing runs, because the successor started late, and for how long both run, because it started early."},
	{"Coverage", "The share of waits that stayed within a quantile of their forecast."},
}
