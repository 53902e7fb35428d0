package safetensors

import (
	"fmt"
	"math"
)

// Tensor is an array of numbers with a shape. The last dimension is contiguous;
// an empty shape is a single number.
type Tensor struct {
	Shape []int
	Data  []float32 // as many as the product of Shape
}

// File is what a file holds.
type File struct {
	Tensors  map[string]Tensor
	Metadata map[string]string // nil when the file has none
}

// size returns the number of elements of a shape, an error when it is negative
// or does not fit an int.
func size(shape []int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("the shape %v has a negative dimension", shape)
		}
		if d != 0 && n > math.MaxInt/d {
			return 0, fmt.Errorf("the shape %v has too many elements", shape)
		}
		n *= d
	}
	return n, nil
}
