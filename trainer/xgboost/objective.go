package xgboost

// The objectives that this package trains, under libxgboost's names.
const (
	SquaredError  = "reg:squarederror"  // margin: the mean
	AbsoluteError = "reg:absoluteerror" // margin: the median
	Logistic      = "binary:logistic"   // labels 0 and 1; margin: the logit of the probability of 1
	AFT           = "survival:aft"      // bounds instead of labels; margin: the logarithm of the time
)
