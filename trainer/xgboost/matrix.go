//go:build native

package xgboost

/*
#include <stdlib.h>
#include <xgboost/c_api.h>
*/
import "C"

import (
	"math"
	"unsafe"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/predictor/trees"
)

// Matrix holds rows of features, and what is known of each row: its label or
// the bounds of its label, and its weight. The numbers are copied into memory of
// libxgboost, which Close gives back. Two goroutines must not use a Matrix at
// the same time, not even in two trainings.
type Matrix struct {
	handle     C.DMatrixHandle // nil once closed
	rows, cols int
	labelled   bool
	bounded    bool
}

// NewMatrix copies rows x cols numbers that are stored row by row. NaN is a
// missing value; an infinite one is refused.
func NewMatrix(data []float32, rows, cols int) (*Matrix, error) {
	switch {
	case rows < 1 || cols < 1 || cols > trees.MaxFeatures:
		return nil, segue.Errorf(segue.Invalid, "new matrix: %d rows of %d columns, want at least 1 of 1 to %d", rows, cols, trees.MaxFeatures)
	case len(data)%cols != 0 || len(data)/cols != rows:
		return nil, segue.Errorf(segue.Invalid, "new matrix: %d numbers for %d rows of %d columns", len(data), rows, cols)
	}
	for i, v := range data {
		if math.IsInf(float64(v), 0) {
			return nil, segue.Errorf(segue.Invalid, "new matrix: row %d, column %d is %v", i/cols, i%cols, v)
		}
	}
	m := &Matrix{rows: rows, cols: cols}
	err := call("new matrix", func() C.int {
		return C.XGDMatrixCreateFromMat((*C.float)(&data[0]), C.bst_ulong(rows), C.bst_ulong(cols), C.float(math.NaN()), &m.handle)
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Close gives the memory back. A second Close does nothing.
func (m *Matrix) Close() {
	if m.handle != nil {
		C.XGDMatrixFree(m.handle)
		m.handle = nil
	}
}

// Rows returns the number of rows.
func (m *Matrix) Rows() int { return m.rows }

// Columns returns the number of columns.
func (m *Matrix) Columns() int { return m.cols }

// SetLabels sets the finite value that is to be predicted for each row.
func (m *Matrix) SetLabels(labels []float32) error {
	err := m.set("label", labels, func(v float32) string {
		if !finite(v) {
			return "want a finite number"
		}
		return ""
	})
	m.labelled = m.labelled || err == nil
	return err
}

// SetWeights sets how much each row counts: finite, 0 or more. Without it every
// row counts 1.
func (m *Matrix) SetWeights(weights []float32) error {
	return m.set("weight", weights, func(v float32) string {
		if !finite(v) || v < 0 {
			return "want a finite number, 0 or more"
		}
		return ""
	})
}

// SetBounds sets between which values the label of each row lies, for AFT:
// 0 <= lower <= upper. Equal bounds are a known label; upper is +Inf for a
// right-censored one, which is known only to be lower or more.
func (m *Matrix) SetBounds(lower, upper []float32) error {
	if len(lower) != len(upper) {
		return segue.Errorf(segue.Invalid, "set bounds: %d lower ones, %d upper ones", len(lower), len(upper))
	}
	for i := range lower {
		if !finite(lower[i]) || lower[i] < 0 || !(upper[i] >= lower[i]) || upper[i] == 0 {
			return segue.Errorf(segue.Invalid, "set bounds: row %d lies between %v and %v", i, lower[i], upper[i])
		}
	}
	anything := func(float32) string { return "" }
	if err := m.set("label_lower_bound", lower, anything); err != nil {
		return err
	}
	err := m.set("label_upper_bound", upper, anything)
	m.bounded = err == nil
	return err
}

// set copies one number for each row into the field of that name. The rule
// returns what a number should be, nothing if it is.
func (m *Matrix) set(field string, values []float32, rule func(float32) string) error {
	if m.handle == nil {
		return segue.Errorf(segue.Invalid, "set %s: the matrix is closed", field)
	}
	if len(values) != m.rows {
		return segue.Errorf(segue.Invalid, "set %s: %d numbers for %d rows", field, len(values), m.rows)
	}
	for i, v := range values {
		if want := rule(v); want != "" {
			return segue.Errorf(segue.Invalid, "set %s: row %d is %v, %s", field, i, v, want)
		}
	}
	name := C.CString(field)
	defer C.free(unsafe.Pointer(name))
	return call("set "+field, func() C.int {
		return C.XGDMatrixSetFloatInfo(m.handle, name, (*C.float)(&values[0]), C.bst_ulong(len(values)))
	})
}

// get returns a copy of the field of that name, nothing if it was not set.
func (m *Matrix) get(field string) ([]float32, error) {
	name := C.CString(field)
	defer C.free(unsafe.Pointer(name))
	var values []float32
	err := call("get "+field, func() C.int {
		var length C.bst_ulong
		var at *C.float
		status := C.XGDMatrixGetFloatInfo(m.handle, name, &length, &at)
		if status == 0 {
			values = copied(at, length)
		}
		return status
	})
	return values, err
}

// copied returns a copy of length numbers of libxgboost's.
func copied(at *C.float, length C.bst_ulong) []float32 {
	return append([]float32(nil), unsafe.Slice((*float32)(at), int(length))...)
}

func finite(v float32) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }
