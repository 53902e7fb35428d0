//go:build native

package libtorch

import (
	"fmt"
	"slices"
)

// defaultPrices are those at which a network is judged: an hour of interruption
// is worth 20, 4 or 1 of overlap.
func defaultPrices() []float64 { return []float64{0.05, 0.25, 1} }

// fill sets a field that is zero to its default.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// bounds are the range of a field.
type bounds struct {
	field                  string
	value, least, greatest float64
}

// validateShared names the first field that is out of its range, of those that
// every configuration has as well.
func validateShared(prices []float64, device string, fields []bounds) error {
	for _, p := range prices {
		fields = append(fields, bounds{"Prices", p, 1e-6, 1e6})
	}
	for _, f := range fields {
		if !(f.value >= f.least && f.value <= f.greatest) {
			return fmt.Errorf("%s is %v, want %v to %v", f.field, f.value, f.least, f.greatest)
		}
	}
	if !slices.Contains([]string{"auto", "cpu", "cuda"}, device) {
		return fmt.Errorf("device is %q, want auto, cpu or cuda", device)
	}
	return nil
}
