package traces

import (
	"math"
	"unicode/utf8"
)

// parseInt reads a decimal number with an optional sign. It refuses spaces,
// other signs and what does not fit in an int64.
func parseInt(b []byte) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative || (len(b) > 0 && b[0] == '+') {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		if c -= '0'; c > 9 {
			return 0, false
		}
		v = v*10 + uint64(c)
	}
	if v > math.MaxInt64 {
		return 0, false
	}
	if negative {
		return -int64(v), true
	}
	return int64(v), true
}

// parseCount reads a count that is not negative, where nothing, "None" and
// "Unknown" are none. Slurm shortens large counts without --noconvert: "1K"
// is 1024.
func parseCount(b []byte) (int64, bool) {
	if n := len(b); n > 1 && b[n-1] == 'K' {
		v, ok := parseInt(b[:n-1])
		return v * 1024, ok && v >= 0 && v < math.MaxInt64/1024
	}
	if len(b) == 0 || b[0] > '9' {
		return 0, isUnknownWord(b)
	}
	v, ok := parseInt(b)
	if v == noValue || v == infinite {
		return 0, ok
	}
	return v, ok && v >= 0
}

// cut appends the pieces of line between separators to fields. Fields are a few
// bytes long, so a plain loop beats bytes.IndexByte.
func cut(fields [][]byte, line []byte, separator byte) [][]byte {
	start := 0
	for i, c := range line {
		if c == separator {
			fields = append(fields, line[start:i])
			start = i + 1
		}
	}
	return append(fields, line[start:])
}

// maxInterned bounds an interner: a column of unique texts must not grow it
// for ever.
const maxInterned = 1 << 14

// An interner returns one string for equal bytes, so that a history of a
// thousand users holds a thousand names. The zero interner is ready to use.
type interner struct {
	recent [256]text // what was asked for lately, by a cheap hash
	known  map[string]text
}

type text struct {
	raw    string // the bytes
	s      string // valid UTF-8
	latin1 bool   // raw is no UTF-8 and was read as Latin-1
}

// get returns b as a string of valid UTF-8. Bytes that are no UTF-8 are read
// as Latin-1, which is added to notes.
func (in *interner) get(b []byte, notes *reasonSet) string {
	n := len(b)
	if n == 0 {
		return ""
	}
	t := &in.recent[uint8(n*31)^b[0]^b[n-1]*7^b[n/2]*13]
	if t.raw != string(b) {
		*t = in.lookUp(b)
	}
	if t.latin1 {
		notes.add(NotUTF8)
	}
	return t.s
}

func (in *interner) lookUp(b []byte) text {
	if t, ok := in.known[string(b)]; ok {
		return t
	}
	t := text{raw: string(b)}
	t.s = t.raw
	if !utf8.Valid(b) {
		t.s, t.latin1 = fromLatin1(b), true
	}
	if in.known == nil || len(in.known) >= maxInterned {
		in.known = make(map[string]text)
	}
	in.known[t.raw] = t
	return t
}

func fromLatin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}
