//go:build native

package xgboost

/*
#include <stdlib.h>
#include <xgboost/c_api.h>
*/
import "C"

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/segue-project/segue"
)

// boostBuiltIn adds the trees of one round for an objective of libxgboost's.
func (t *training) boostBuiltIn(round int) error {
	return call("boost", func() C.int {
		return C.XGBoosterUpdateOneIter(t.booster.handle, C.int(round-1), t.train.handle)
	})
}

// builtInLosses asks libxgboost for the losses.
func (t *training) builtInLosses(round int) (train, valid float64, err error) {
	matrices := handles(t.train, t.valid)
	name := C.CString("rows")
	defer C.free(unsafe.Pointer(name))
	names := []*C.char{name, name}[:len(matrices)]
	var line string
	err = call("evaluate", func() C.int {
		var at *C.char
		status := C.XGBoosterEvalOneIter(t.booster.handle, C.int(round-1), &matrices[0], &names[0], C.bst_ulong(len(matrices)), &at)
		if status == 0 {
			line = C.GoString(at)
		}
		return status
	})
	if err != nil {
		return 0, 0, err
	}
	losses, err := parseLosses(line, len(matrices))
	if err != nil {
		return 0, 0, err
	}
	if t.valid == nil {
		return losses[0], math.NaN(), nil
	}
	return losses[0], losses[1], nil
}

// parseLosses reads libxgboost's "[3]\trows-rmse:0.25\trows-rmse:0.5".
func parseLosses(line string, want int) ([]float64, error) {
	fields := strings.Split(line, "\t")[1:]
	if len(fields) != want {
		return nil, fmt.Errorf("evaluate: want %d losses, libxgboost says %q", want, line)
	}
	losses := make([]float64, want)
	for i, field := range fields {
		v, err := strconv.ParseFloat(field[strings.LastIndexByte(field, ':')+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("evaluate: libxgboost says %q: %w", line, err)
		}
		losses[i] = v
	}
	return losses, nil
}

// ownLoss is the objective and the loss of TrainWith's caller.
type ownLoss struct {
	*training
	objective  func(margins, grad, hess []float32)
	loss       func(margins []float32, valid bool) float64
	grad, hess []float32
}

// boost adds the trees of one round for the caller's gradients.
func (o *ownLoss) boost(int) error {
	margins, err := o.booster.Margins(o.train)
	if err != nil {
		return err
	}
	if o.grad == nil {
		o.grad, o.hess = make([]float32, len(margins)), make([]float32, len(margins))
	}
	clear(o.grad)
	clear(o.hess)
	o.objective(margins, o.grad, o.hess)
	for i := range o.grad {
		if !finite(o.grad[i]) || !finite(o.hess[i]) || o.hess[i] < 0 {
			return segue.Errorf(segue.Invalid, "the objective's derivatives of row %d are %v and %v", i, o.grad[i], o.hess[i])
		}
	}
	return call("boost", func() C.int {
		return C.XGBoosterBoostOneIter(o.booster.handle, o.train.handle,
			(*C.float)(&o.grad[0]), (*C.float)(&o.hess[0]), C.bst_ulong(len(o.grad)))
	})
}

// losses asks the caller for the losses.
func (o *ownLoss) losses(int) (train, valid float64, err error) {
	train, valid = math.NaN(), math.NaN()
	if o.loss == nil {
		return train, valid, nil
	}
	margins, err := o.booster.Margins(o.train)
	if err != nil {
		return train, valid, err
	}
	train = o.loss(margins, false)
	if o.valid == nil {
		return train, valid, nil
	}
	if margins, err = o.booster.Margins(o.valid); err != nil {
		return train, valid, err
	}
	return train, o.loss(margins, true), nil
}
