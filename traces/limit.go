package traces

import (
	"math"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// maxSeconds is the longest duration that is read: 146 years.
const maxSeconds = math.MaxInt64 / int64(time.Second) / 2

// parseLimit reads a limit that is not missing.
func parseLimit(b []byte) (time.Duration, bool) {
	d, err := segue.ParseLimit(string(b))
	return d, err == nil
}

// isUnlimited reports whether b is one of Slurm's words for no limit.
func isUnlimited(b []byte) bool {
	if len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		return false
	}
	return equalFold(b, "UNLIMITED") || equalFold(b, "INFINITE") || string(b) == "-1"
}

// equalFold reports whether b is the word in any case.
func equalFold(b []byte, word string) bool {
	return len(b) == len(word) && strings.EqualFold(string(b), word)
}
