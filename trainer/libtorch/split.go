//go:build native

package libtorch

// #include <stdlib.h>
import "C"

import (
	"unsafe"

	torch "github.com/sugarme/gotch/libtch"
)

// split cuts a row of numbers into rows of the given sizes. One cut for all,
// since libtorch's gradient of a cut is as long as the whole row.
func (p *pool) split(x tensor, sizes []int64) []tensor {
	parts := make([]tensor, len(sizes))
	if p.err != nil {
		return parts
	}
	list := torch.AtgSplitWithSizes(x, sizes, len(sizes), 0)
	if list == nil {
		p.fail("split_with_sizes")
		return parts
	}
	copy(parts, unsafe.Slice(list, len(sizes)))
	p.live = append(p.live, parts...)
	C.free(unsafe.Pointer(list))
	return parts
}
