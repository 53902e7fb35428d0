//go:build native

package xgboost

/*
#include <stdlib.h>
#include <xgboost/c_api.h>
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/segue-project/segue"
)

// Booster is a trained model in memory of libxgboost, which Close gives back.
// One goroutine uses it at a time.
type Booster struct {
	handle C.BoosterHandle // nil once closed
	cols   int
}

// newBooster returns a booster without trees. It keeps the predictions for the
// rows of train, and of valid unless it is nil, up to date from round to round.
func newBooster(cfg Config, train, valid *Matrix) (*Booster, error) {
	matrices := handles(train, valid)
	b := &Booster{cols: train.cols}
	err := call("new booster", func() C.int {
		return C.XGBoosterCreate(&matrices[0], C.bst_ulong(len(matrices)), &b.handle)
	})
	if err != nil {
		return nil, err
	}
	for _, parameter := range cfg.parameters() {
		if err := b.set(parameter[0], parameter[1]); err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}

func handles(train, valid *Matrix) []C.DMatrixHandle {
	if valid == nil {
		return []C.DMatrixHandle{train.handle}
	}
	return []C.DMatrixHandle{train.handle, valid.handle}
}

func (b *Booster) set(name, value string) error {
	cName, cValue := C.CString(name), C.CString(value)
	defer C.free(unsafe.Pointer(cName))
	defer C.free(unsafe.Pointer(cValue))
	return call("set parameter "+name, func() C.int { return C.XGBoosterSetParam(b.handle, cName, cValue) })
}

// Close gives the memory back. A second Close does nothing.
func (b *Booster) Close() {
	if b.handle != nil {
		C.XGBoosterFree(b.handle)
		b.handle = nil
	}
}

var errClosed = errors.New("the booster is closed")

// Rounds returns how many rounds the model kept.
func (b *Booster) Rounds() (int, error) {
	if b.handle == nil {
		return 0, segue.Errorf(segue.Invalid, "count rounds: %w", errClosed)
	}
	var rounds C.int
	err := call("count rounds", func() C.int { return C.XGBoosterBoostedRounds(b.handle, &rounds) })
	return int(rounds), err
}

// JSON returns the model as JSON, which Export and Importance read, and every
// later version of XGBoost.
func (b *Booster) JSON() ([]byte, error) {
	if b.handle == nil {
		return nil, segue.Errorf(segue.Invalid, "save model: %w", errClosed)
	}
	format := C.CString(`{"format": "json"}`)
	defer C.free(unsafe.Pointer(format))
	var doc []byte
	err := call("save model", func() C.int {
		var length C.bst_ulong
		var at *C.char
		status := C.XGBoosterSaveModelToBuffer(b.handle, format, &length, &at)
		if status == 0 {
			doc = append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(at)), int(length))...)
		}
		return status
	})
	return doc, err
}

// Importance returns the share of every feature in the reduction of the
// training loss, as the function Importance does.
func (b *Booster) Importance() ([]float64, error) {
	doc, err := b.JSON()
	if err != nil {
		return nil, err
	}
	return Importance(doc)
}

// Margins returns the margin of every row of m: the sum of the trees, before
// the objective's link function.
func (b *Booster) Margins(m *Matrix) ([]float32, error) {
	switch {
	case b.handle == nil:
		return nil, segue.Errorf(segue.Invalid, "predict: %w", errClosed)
	case m.handle == nil:
		return nil, segue.Errorf(segue.Invalid, "predict: the matrix is closed")
	case m.cols != b.cols:
		return nil, segue.Errorf(segue.Invalid, "predict: rows of %d features for a model of %d", m.cols, b.cols)
	}
	// Type 1 asks for margins; an end of 0 for all rounds.
	config := C.CString(`{"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": false}`)
	defer C.free(unsafe.Pointer(config))
	var margins []float32
	err := call("predict", func() C.int {
		var shape *C.bst_ulong
		var dimensions C.bst_ulong
		var at *C.float
		status := C.XGBoosterPredictFromDMatrix(b.handle, m.handle, config, &shape, &dimensions, &at)
		if status == 0 {
			margins = copied(at, C.bst_ulong(m.rows)) // one output for each row
		}
		return status
	})
	return margins, err
}

// first returns a booster with the first rounds of b.
func (b *Booster) first(rounds int) (*Booster, error) {
	kept := &Booster{cols: b.cols}
	err := call("drop later rounds", func() C.int {
		return C.XGBoosterSlice(b.handle, 0, C.int(rounds), 1, &kept.handle)
	})
	if err != nil {
		return nil, err
	}
	return kept, nil
}
