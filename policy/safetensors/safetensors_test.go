package safetensors

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func TestEncodeWritesTheFormatByteForByte(t *testing.T) {
	t.Parallel()
	got := Encode(map[string]Tensor{
		"b": {Shape: []int{2, 1}, Data: []float32{1, -2}},
		"a": {Shape: []int{}, Data: []float32{0.5}},
	}, map[string]string{"k": "v"})
	header := `{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},` +
		`"b":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]}}`
	header += strings.Repeat(" ", 7-(len(header)-1)%8)
	want := append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)
	want = append(want, 0, 0, 0, 0x3f, 0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bytes differ (-want +got):\n%s", diff)
	}
}

func TestEncodePanicsOnATensorThatIsNone(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]Tensor{
		"too few data":         {"a": {Shape: []int{2}, Data: []float32{1}}},
		"a negative dimension": {"a": {Shape: []int{-1}}},
		"the metadata's name":  {"__metadata__": {Shape: []int{0}}},
	}
	for name, tensors := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Encode(tensors, nil)
		})
	}
}

func TestDecodeReadsWhatEncodeWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := File{
			Tensors:  rapid.MapOf(rapid.StringMatching(`[a-z."é]{1,8}`), tensors()).Draw(t, "tensors"),
			Metadata: rapid.MapOfN(rapid.String(), rapid.String(), 1, 4).Draw(t, "metadata"),
		}
		encoded := Encode(want.Tensors, want.Metadata)
		got, err := Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("file differs (-want +got):\n%s", diff)
		}
		if !bytes.Equal(encoded, Encode(got.Tensors, got.Metadata)) {
			t.Fatal("the same tensors give other bytes")
		}
	})
}

func tensors() *rapid.Generator[Tensor] {
	return rapid.Custom(func(t *rapid.T) Tensor {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
		n, _ := size(shape)
		return Tensor{Shape: shape, Data: rapid.SliceOfN(rapid.Float32(), n, n).Draw(t, "data")}
	})
}

func TestDecodeWidensOtherNumbers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		dtype string
		data  []byte
		want  []float32
	}{
		"halves: 1, -2, the least subnormal, infinity": {
			"F16", []byte{0, 0x3c, 0, 0xc0, 1, 0, 0, 0x7c}, []float32{1, -2, 0x1p-24, float32(math.Inf(1))},
		},
		"brain floats: 1, -2":   {"BF16", []byte{0x80, 0x3f, 0, 0xc0}, []float32{1, -2}},
		"doubles: a third":      {"F64", binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.0/3)), []float32{1.0 / 3}},
		"singles: a third":      {"F32", binary.LittleEndian.AppendUint32(nil, math.Float32bits(1.0/3)), []float32{1.0 / 3}},
		"halves: the least one": {"F16", []byte{0, 0x04}, []float32{0x1p-14}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shape := string(rune('0' + len(tt.want)))
			end := string(rune('0' + len(tt.data)))
			f, err := Decode(file(`{"a":{"dtype":"`+tt.dtype+`","shape":[`+shape+`],"data_offsets":[0,`+end+`]}}`, tt.data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, f.Tensors["a"].Data); diff != "" {
				t.Errorf("numbers differ (-want +got):\n%s", diff)
			}
		})
	}
}

// file returns the bytes of a file with the header and the numbers.
func file(header string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	four := make([]byte, 4)
	tests := map[string]struct {
		file []byte
		want string
	}{
		"nothing":                        {nil, "0 bytes are too few"},
		"a header longer than the file":  {file("{}", nil)[:9], "a header of 2 bytes in a file of 9"},
		"a header of 2^63 bytes":         {binary.LittleEndian.AppendUint64(nil, 1<<63), "a header of 9223372036854775808 bytes"},
		"a header that is not UTF-8":     {file("{\"\xff\":1}", nil), "not UTF-8"},
		"a header that is no object":     {file("[]", nil), `want "{"`},
		"a header that does not end":     {file("{", nil), "read header"},
		"text after the header":          {file("{}{}", nil), "text after the end"},
		"metadata that are no strings":   {file(`{"__metadata__":{"a":1}}`, nil), "want a string"},
		"a tensor without offsets":       {file(`{"a":{"dtype":"F32","shape":[]}}`, four), "want dtype, shape and data_offsets"},
		"an unknown field":               {file(`{"a":{"type":"F32"}}`, four), `unknown field "type"`},
		"a fraction in the shape":        {file(`{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}`, four), "1.5"},
		"a null in the shape":            {file(`{"a":{"dtype":"F32","shape":[null],"data_offsets":[0,0]}}`, nil), "want a json.Number"},
		"a negative dimension":           {file(`{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}`, four), "-1 is no length"},
		"three offsets":                  {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}}`, four), "3 offsets"},
		"whole numbers":                  {file(`{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}}`, four), `"I32", want F32`},
		"a name twice":                   {file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, four), `"a" twice`},
		"a field twice":                  {file(`{"a":{"dtype":"F32","dtype":"F32","data_offsets":[0,4]}}`, four), `"dtype" twice`},
		"a shape that overflows":         {file(`{"a":{"dtype":"F32","shape":[9223372036854775807,3],"data_offsets":[0,4]}}`, four), "too many elements"},
		"a shape of another size":        {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}`, four), "4 bytes for F32 of shape [2]"},
		"half a number":                  {file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,3]}}`, four[:3]), "3 bytes for F32"},
		"offsets the wrong way round":    {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}`, four), "neither gap nor overlap"},
		"offsets beyond the end":         {file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, four), "neither gap nor overlap"},
		"a gap":                          {file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}}`, four), "neither gap nor overlap"},
		"an overlap":                     {file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, four), `"b": offsets [0 4] after 4`},
		"numbers that belong to nothing": {file(`{}`, four), "4 bytes after the last tensor"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode(tt.file)
			if err == nil || !strings.Contains(err.Error(), tt.want) || segue.KindOf(err) != segue.Corrupt {
				t.Errorf("error is %v, want a corrupt file with %q", err, tt.want)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(map[string]Tensor{"a": {Shape: []int{1, 2}, Data: []float32{1, 2}}}, map[string]string{"k": "v"}))
	f.Add(file(`{"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}}`, []byte{0, 0x3c}))
	f.Add(file(`{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}`, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := Decode(b)
		if err != nil {
			return
		}
		encoded := Encode(first.Tensors, first.Metadata)
		second, err := Decode(encoded)
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if !bytes.Equal(encoded, Encode(second.Tensors, second.Metadata)) {
			t.Error("what was read twice is not the same")
		}
	})
}
