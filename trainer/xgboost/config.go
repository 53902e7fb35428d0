//go:build native

package xgboost

import (
	"slices"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
)

// Config says how to train. The names of libxgboost's parameters are in
// brackets; its documentation explains them at length.
type Config struct {
	// Objective is what the trees minimise: SquaredError, AbsoluteError, Logistic
	// or AFT. TrainWith wants it empty. Default SquaredError.
	Objective string
	// Rounds is how many times trees are added. Default 100.
	Rounds int
	// EarlyStopping ends the training when the loss on the validation rows has
	// not fallen for so many rounds, and drops the trees after the best round. It
	// needs validation rows. Default 0: never.
	EarlyStopping int

	// MaxDepth is the greatest number of splits above a leaf [max_depth]. Default 6.
	MaxDepth int
	// LearningRate is the share of every tree that is added, above 0 and up to 1
	// [eta]. Default 0.1.
	LearningRate float64
	// Subsample is the share of the rows that each tree sees, above 0 and up to 1
	// [subsample]. Default 1.
	Subsample float64
	// ColumnsByTree and ColumnsByNode are the shares of the features that each
	// tree, and within it each split, may look at, above 0 and up to 1
	// [colsample_bytree, colsample_bynode]. Default 1.
	ColumnsByTree, ColumnsByNode float64
	// MinChildWeight is the least sum of second derivatives in a leaf: for
	// SquaredError, the least number of rows [min_child_weight]. Default 1.
	MinChildWeight float64
	// Lambda draws the values of leaves to 0 [lambda]. Default 1; a small number,
	// such as 1e-5, to switch it off.
	Lambda float64
	// ParallelTrees is how many trees a round adds, each with its share of an
	// average [num_parallel_tree]. Default 1. See Forest.
	ParallelTrees int
	// Monotone has an entry for every feature: 1 if the margin may only rise with
	// it, -1 if it may only fall, 0 if it may do both [monotone_constraints].
	// Default nil: all 0.
	Monotone []int8
	// BaseScore is the prediction before the first tree, in the unit of the
	// labels; a probability for Logistic, and the margin for TrainWith
	// [base_score]. Default nil: what the labels of the training rows suggest
	// (their mean, their median, or the geometric mean of their bounds), 0
	// for TrainWith.
	BaseScore *float64

	// TreeMethod is "hist", "approx" or "exact" [tree_method]. Default "hist".
	TreeMethod string
	// MaxBins is how many values of a feature "hist" and "approx" tell apart
	// [max_bin]. Default 256.
	MaxBins int

	// AFTDistribution is that of the logarithm of the time: "normal", "logistic"
	// or "extreme" [aft_loss_distribution]. Default "normal".
	AFTDistribution string
	// AFTScale is its scale, above 0 [aft_loss_distribution_scale]. Default 1.
	AFTScale float64

	// Seed begins the draws of rows and features [seed]. 0 is a seed like others.
	Seed int32
	// Threads is the number of threads to train with [nthread]. Another number
	// may round sums differently. The package comment says how to wait for them.
	// Default 2.
	Threads int
}

// Forest returns the configuration of a random forest of n trees, with the
// values of XGBoost's own forests (XGBRFRegressor).
func Forest(n int) Config {
	return Config{Rounds: 1, ParallelTrees: n, LearningRate: 1, Subsample: 0.8, ColumnsByNode: 0.8, Lambda: 1e-5}
}

func (c Config) withDefaults() Config {
	orString(&c.Objective, SquaredError)
	orNumber(&c.Rounds, 100)
	orNumber(&c.MaxDepth, 6)
	orNumber(&c.LearningRate, 0.1)
	orNumber(&c.Subsample, 1)
	orNumber(&c.ColumnsByTree, 1)
	orNumber(&c.ColumnsByNode, 1)
	orNumber(&c.MinChildWeight, 1)
	orNumber(&c.Lambda, 1)
	orNumber(&c.ParallelTrees, 1)
	orString(&c.TreeMethod, "hist")
	orNumber(&c.MaxBins, 256)
	orString(&c.AFTDistribution, "normal")
	orNumber(&c.AFTScale, 1)
	orNumber(&c.Threads, 2)
	return c
}

func orString(field *string, preset string) {
	if *field == "" {
		*field = preset
	}
}

func orNumber[N int | float64](field *N, preset N) {
	if *field == 0 {
		*field = preset
	}
}

// validate names the first field that breaks its rule.
func (c Config) validate() error {
	var broken error
	want := func(ok bool, field string, value any, rule string) {
		if !ok && broken == nil {
			broken = segue.Errorf(segue.Invalid, "%s is %v, want %s", field, value, rule)
		}
	}
	share := func(field string, v float64) { want(v > 0 && v <= 1, field, v, "above 0, up to 1") }
	positive := func(field string, v float64) { want(v > 0 && v < 1e30, field, v, "a positive number") }
	count := func(field string, v, least, most int) {
		want(v >= least && v <= most, field, v, strconv.Itoa(least)+" to "+strconv.Itoa(most))
	}

	want(metrics[c.Objective] != "", "Objective", c.Objective, "a constant of this package")
	count("Rounds", c.Rounds, 1, 1_000_000)
	count("EarlyStopping", c.EarlyStopping, 0, 1_000_000)
	count("MaxDepth", c.MaxDepth, 1, 30)
	share("LearningRate", c.LearningRate)
	share("Subsample", c.Subsample)
	share("ColumnsByTree", c.ColumnsByTree)
	share("ColumnsByNode", c.ColumnsByNode)
	positive("MinChildWeight", c.MinChildWeight)
	positive("Lambda", c.Lambda)
	count("ParallelTrees", c.ParallelTrees, 1, 100_000)
	for _, direction := range c.Monotone {
		want(direction >= -1 && direction <= 1, "Monotone", c.Monotone, "only -1, 0 and 1")
	}
	if c.BaseScore != nil {
		base := *c.BaseScore
		want(base > -1e30 && base < 1e30, "BaseScore", base, "a finite number")
		want(c.Objective != Logistic || (base > 0 && base < 1), "BaseScore", base, "a probability above 0 and below 1")
		want(c.Objective != AFT || base > 0, "BaseScore", base, "a positive time")
	}
	want(slices.Contains([]string{"hist", "approx", "exact"}, c.TreeMethod), "TreeMethod", c.TreeMethod, "hist, approx or exact")
	count("MaxBins", c.MaxBins, 2, 1<<16)
	want(slices.Contains([]string{"normal", "logistic", "extreme"}, c.AFTDistribution), "AFTDistribution", c.AFTDistribution, "normal, logistic or extreme")
	positive("AFTScale", c.AFTScale)
	count("Threads", c.Threads, 1, 1024)
	return broken
}

// metrics are the losses that libxgboost reports for each objective.
var metrics = map[string]string{
	SquaredError:  "rmse",
	AbsoluteError: "mae",
	Logistic:      "logloss",
	AFT:           "aft-nloglik",
}

// parameters returns libxgboost's names and values. BaseScore has been set.
func (c Config) parameters() [][2]string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	all := [][2]string{
		{"verbosity", "0"},
		{"nthread", strconv.Itoa(c.Threads)},
		{"seed", strconv.Itoa(int(c.Seed))},
		{"booster", "gbtree"},
		{"objective", c.Objective},
		{"eval_metric", metrics[c.Objective]},
		{"base_score", strconv.FormatFloat(*c.BaseScore, 'g', -1, 32)},
		{"tree_method", c.TreeMethod},
		{"max_depth", strconv.Itoa(c.MaxDepth)},
		{"eta", number(c.LearningRate)},
		{"subsample", number(c.Subsample)},
		{"colsample_bytree", number(c.ColumnsByTree)},
		{"colsample_bynode", number(c.ColumnsByNode)},
		{"min_child_weight", number(c.MinChildWeight)},
		{"lambda", number(c.Lambda)},
		{"num_parallel_tree", strconv.Itoa(c.ParallelTrees)},
	}
	if c.TreeMethod != "exact" {
		all = append(all, [2]string{"max_bin", strconv.Itoa(c.MaxBins)})
	}
	if c.Objective == AFT {
		all = append(all,
			[2]string{"aft_loss_distribution", c.AFTDistribution},
			[2]string{"aft_loss_distribution_scale", number(c.AFTScale)})
	}
	if len(c.Monotone) > 0 {
		directions := make([]string, len(c.Monotone))
		for i, d := range c.Monotone {
			directions[i] = strconv.Itoa(int(d))
		}
		all = append(all, [2]string{"monotone_constraints", "(" + strings.Join(directions, ",") + ")"})
	}
	return all
}
