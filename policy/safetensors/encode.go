package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// metadataKey is the name in the header that is no tensor.
const metadataKey = "__metadata__"

// alignment is the multiple of bytes at which the numbers begin, as the
// reference implementation has it.
const alignment = 8

// entry is a tensor in the header.
type entry struct {
	DType   string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"` // in bytes, from the end of the header
}

// Encode returns the bytes of a file with the tensors in float32, in the order
// of their names, and the metadata unless it is empty. The same input gives the
// same bytes. It panics when a tensor's data do not fill its shape or it is
// called "__metadata__": the caller has built a tensor that is none.
func Encode(tensors map[string]Tensor, metadata map[string]string) []byte {
	names := slices.Sorted(maps.Keys(tensors))
	header := make(map[string]any, len(names)+1)
	if len(metadata) > 0 {
		header[metadataKey] = metadata
	}
	end := 0
	for _, name := range names {
		t := tensors[name]
		if n, err := size(t.Shape); err != nil || n != len(t.Data) || name == metadataKey {
			panic(fmt.Sprintf("safetensors: encode %q: shape %v with %d elements", name, t.Shape, len(t.Data)))
		}
		begin := end
		end += 4 * len(t.Data)
		header[name] = entry{DType: "F32", Shape: append([]int{}, t.Shape...), Offsets: [2]int{begin, end}}
	}
	text, err := json.Marshal(header) // maps are written in the order of their keys
	if err != nil {
		panic(fmt.Sprintf("safetensors: encode: %v", err)) // strings and ints always encode
	}
	for len(text)%alignment != 0 {
		text = append(text, ' ')
	}
	out := make([]byte, 0, lengthBytes+len(text)+end)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(text)))
	out = append(out, text...)
	for _, name := range names {
		for _, v := range tensors[name].Data {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out
}
