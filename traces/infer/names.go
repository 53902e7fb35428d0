package infer

import "strconv"

// numbered splits a job's name at its last run of digits: "dimer.10b" is
// "dimer." + 10 + "b".
type numbered struct {
	before, after string
	number        int64
}

func splitNumber(name string) (numbered, bool) {
	end := len(name)
	for end > 0 && !isDigit(name[end-1]) {
		end--
	}
	begin := end
	for begin > 0 && isDigit(name[begin-1]) {
		begin--
	}
	n, err := strconv.ParseInt(name[begin:end], 10, 64)
	if err != nil { // no digits, or too many to count with
		return numbered{}, false
	}
	return numbered{before: name[:begin], after: name[end:], number: n}, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// continues reports whether name is the next in sequence after earlier: the
// same but for a number that is one higher.
func continues(earlier, name string) bool {
	a, ok := splitNumber(earlier)
	if !ok {
		return false
	}
	b, ok := splitNumber(name)
	return ok && a.before == b.before && a.after == b.after && b.number == a.number+1
}
