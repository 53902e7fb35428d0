package safetensors

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/segue-project/segue"
)

const (
	lengthBytes = 8         // of the header's length
	maxHeader   = 100 << 20 // as in the reference implementation
)

// Decode reads a file. It fails with kind [segue.Corrupt] when the bytes are not
// a well-formed file: a header that is too long or not strict JSON, a name twice,
// an unknown type of number, a shape that overflows or does not match its
// offsets, or numbers that overlap, leave a gap, or are missing.
func Decode(b []byte) (File, error) {
	if len(b) < lengthBytes {
		return File{}, segue.Errorf(segue.Corrupt, "safetensors: %d bytes are too few for a file", len(b))
	}
	length := binary.LittleEndian.Uint64(b)
	if length > maxHeader || length > uint64(len(b)-lengthBytes) {
		return File{}, segue.Errorf(segue.Corrupt, "safetensors: a header of %d bytes in a file of %d", length, len(b))
	}
	text, data := b[lengthBytes:lengthBytes+int(length)], b[lengthBytes+int(length):]
	if !utf8.Valid(text) {
		return File{}, segue.Errorf(segue.Corrupt, "safetensors: the header is not UTF-8")
	}
	h, err := readHeader(text)
	if err != nil {
		return File{}, segue.Errorf(segue.Corrupt, "safetensors: read header: %w", err)
	}
	if err := checkLayout(h.entries, len(data)); err != nil {
		return File{}, err
	}
	f := File{Tensors: make(map[string]Tensor, len(h.entries)), Metadata: h.metadata}
	for name, e := range h.entries {
		numbers := data[e.Offsets[0]:e.Offsets[1]]
		f.Tensors[name] = Tensor{Shape: e.Shape, Data: formats[e.DType].read(numbers)}
	}
	return f, nil
}

// checkLayout wants every tensor to take the bytes that its shape needs, and
// the tensors together to take all bytes once.
func checkLayout(entries map[string]entry, bytes int) error {
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		x, y := entries[a].Offsets, entries[b].Offsets
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]), cmp.Compare(a, b))
	})
	end := 0
	for _, name := range names {
		e := entries[name]
		format, ok := formats[e.DType]
		if !ok {
			return segue.Errorf(segue.Corrupt, "safetensors: tensor %q: its numbers are %q, want F32, F64, F16 or BF16", name, e.DType)
		}
		n, err := size(e.Shape)
		if err != nil {
			return segue.Errorf(segue.Corrupt, "safetensors: tensor %q: %w", name, err)
		}
		begin := e.Offsets[0]
		if begin != end || e.Offsets[1] < begin || e.Offsets[1] > bytes {
			return segue.Errorf(segue.Corrupt, "safetensors: tensor %q: offsets %v after %d of %d bytes: want neither gap nor overlap",
				name, e.Offsets, end, bytes)
		}
		end = e.Offsets[1]
		if n != (end-begin)/format.bytes || (end-begin)%format.bytes != 0 {
			return segue.Errorf(segue.Corrupt, "safetensors: tensor %q: %d bytes for %s of shape %v", name, end-begin, e.DType, e.Shape)
		}
	}
	if end != bytes {
		return segue.Errorf(segue.Corrupt, "safetensors: %d bytes after the last tensor", bytes-end)
	}
	return nil
}
