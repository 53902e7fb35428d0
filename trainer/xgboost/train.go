//go:build native

package xgboost

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/segue-project/segue"
)

// Progress is told after every round.
type Progress struct {
	Round  int // this one, from 1
	Rounds int // the most there will be
	// TrainLoss and ValidLoss are the objective's loss on the two sets of rows:
	// root mean square, mean absolute error, log loss, or the negative log
	// likelihood for AFT; what loss returned for TrainWith. NaN when there are no
	// validation rows, or no function.
	TrainLoss, ValidLoss float64
	Best                 int // the round with the least ValidLoss so far; without it, this round
}

// Train trains trees on the rows of train. The loss on the rows of valid, which
// may be nil, is reported and decides when to stop early; progress may be nil.
// A cancelled ctx ends the training between two rounds with ctx's error.
//
// SquaredError, AbsoluteError and Logistic need labels (0 to 1 for Logistic),
// AFT needs bounds; input that does not fit is refused with kind Invalid.
// The caller closes the Booster; the matrices may be closed before it.
func Train(ctx context.Context, cfg Config, train, valid *Matrix, progress func(Progress)) (*Booster, error) {
	t := &training{cfg: cfg.withDefaults(), train: train, valid: valid, progress: progress}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("train trees: %w", err)
	}
	if err := t.checkTargets(); err != nil {
		return nil, fmt.Errorf("train trees: %w", err)
	}
	if t.cfg.BaseScore == nil {
		base, err := suggestedBase(t.cfg.Objective, train)
		if err != nil {
			return nil, fmt.Errorf("train trees: %w", err)
		}
		t.cfg.BaseScore = &base
	}
	t.boost, t.losses = t.boostBuiltIn, t.builtInLosses
	return t.run(ctx)
}

// TrainWith trains trees on gradients of the caller's. Before every round
// objective gets the margins of the rows of train and sets the first and second
// derivatives of each row's loss by its margin: finite, the second not
// negative. After it loss, which may be nil unless there is early stopping, gets
// the margins of the rows of train, or of valid, and returns the mean loss. The
// slices are valid during the call only. Weights of rows are the functions' own
// business. All else is as for Train; the model's margins are its predictions.
func TrainWith(ctx context.Context, cfg Config, train, valid *Matrix,
	objective func(margins, grad, hess []float32), loss func(margins []float32, valid bool) float64,
	progress func(Progress),
) (*Booster, error) {
	switch {
	case objective == nil:
		return nil, segue.Errorf(segue.Invalid, "train trees: no objective")
	case cfg.Objective != "":
		return nil, segue.Errorf(segue.Invalid, "train trees: Objective is %q, want none beside a function", cfg.Objective)
	case cfg.EarlyStopping > 0 && loss == nil:
		return nil, segue.Errorf(segue.Invalid, "train trees: EarlyStopping is %d, but there is no loss", cfg.EarlyStopping)
	}
	t := &training{cfg: cfg.withDefaults(), train: train, valid: valid, progress: progress}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("train trees: %w", err)
	}
	if t.cfg.BaseScore == nil {
		t.cfg.BaseScore = new(float64)
	}
	own := &ownLoss{training: t, objective: objective, loss: loss}
	t.boost, t.losses = own.boost, own.losses
	return t.run(ctx)
}

// training is one run of Train or TrainWith.
type training struct {
	cfg          Config
	train, valid *Matrix // valid may be nil
	progress     func(Progress)

	booster *Booster
	boost   func(round int) error
	losses  func(round int) (train, valid float64, err error)
}

// run adds trees until the rounds are over, the validation loss has stopped
// falling, or ctx is cancelled. libxgboost keeps its random numbers for each
// thread of the operating system, so the goroutine stays on its thread.
func (t *training) run(ctx context.Context) (*Booster, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var err error
	if t.booster, err = newBooster(t.cfg, t.train, t.valid); err != nil {
		return nil, fmt.Errorf("train trees: %w", err)
	}
	last, best, err := t.rounds(ctx)
	if err != nil {
		t.booster.Close()
		return nil, fmt.Errorf("train trees: %w", err)
	}
	if t.cfg.EarlyStopping == 0 || best == last {
		return t.booster, nil
	}
	defer t.booster.Close()
	kept, err := t.booster.first(best)
	if err != nil {
		return nil, fmt.Errorf("train trees: %w", err)
	}
	return kept, nil
}

// rounds returns the number of rounds that were run, and the best of them.
func (t *training) rounds(ctx context.Context) (last, best int, err error) {
	least := math.Inf(1)
	for round := 1; round <= t.cfg.Rounds; round++ {
		if err := ctx.Err(); err != nil {
			return last, best, fmt.Errorf("after %d of %d rounds: %w", last, t.cfg.Rounds, err)
		}
		if err := t.boost(round); err != nil {
			return last, best, fmt.Errorf("round %d: %w", round, err)
		}
		last = round
		now := Progress{Round: round, Rounds: t.cfg.Rounds}
		if t.progress != nil || t.cfg.EarlyStopping > 0 {
			if now.TrainLoss, now.ValidLoss, err = t.losses(round); err != nil {
				return last, best, fmt.Errorf("round %d: %w", round, err)
			}
		}
		if t.cfg.EarlyStopping > 0 && math.IsNaN(now.ValidLoss) {
			return last, best, segue.Errorf(segue.Invalid, "round %d: the validation loss is NaN", round)
		}
		switch {
		case math.IsNaN(now.ValidLoss):
			best = round
		case best == 0 || now.ValidLoss < least:
			least, best = now.ValidLoss, round
		}
		now.Best = best
		if t.progress != nil {
			t.progress(now)
		}
		if t.cfg.EarlyStopping > 0 && round-best >= t.cfg.EarlyStopping {
			break
		}
	}
	return last, best, nil
}
