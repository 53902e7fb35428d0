package safetensors

import (
	"encoding/binary"
	"math"
)

// format is a type of number in a file.
type format struct {
	bytes int
	value func(b []byte) float32
}

// formats are the types that can be read, by their names in the header.
var formats = map[string]format{
	"F32": {4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"F64": {8, func(b []byte) float32 { return float32(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"F16": {2, func(b []byte) float32 { return half(binary.LittleEndian.Uint16(b)) }},
	"BF16": {2, func(b []byte) float32 {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
	}},
}

func (f format) read(b []byte) []float32 {
	values := make([]float32, len(b)/f.bytes)
	for i := range values {
		values[i] = f.value(b[i*f.bytes : (i+1)*f.bytes])
	}
	return values
}

// half widens an IEEE 754 binary16: one bit of sign, five of exponent with bias
// 15, ten of fraction.
func half(h uint16) float32 {
	sign := uint32(h>>15) << 31
	exponent := uint32(h >> 10 & 0x1f)
	fraction := uint32(h & 0x3ff)
	switch exponent {
	case 0: // zero or subnormal: fraction x 2^-24
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity or not a number
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
