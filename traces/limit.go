package traces

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// ParseLimit reads a time limit as sbatch --time and sacct spell it:
//
//	minutes | minutes:seconds | hours:minutes:seconds
//	days-hours | days-hours:minutes | days-hours:minutes:seconds
//	UNLIMITED | INFINITE | -1
//
// A bare number is minutes and "4:00" is four minutes. Zero asks for no limit
// (man sbatch), so it is [segue.Unlimited] too. The value is exact to the
// second; Slurm itself rounds a limit up to whole minutes. Parts may exceed
// their usual range ("90:00", "1-36"), as in Slurm. Anything else is Invalid.
func ParseLimit(s string) (time.Duration, error) {
	d, ok := parseLimit([]byte(s))
	if !ok {
		return 0, segue.Errorf(segue.Invalid, "time limit %q: want minutes, minutes:seconds, hours:minutes:seconds, "+
			"days-hours, days-hours:minutes, days-hours:minutes:seconds or UNLIMITED", s)
	}
	return d, nil
}

// FormatLimit returns d as sacct prints it: "D-HH:MM:SS", "HH:MM:SS" or
// "UNLIMITED". A part of a second counts as a whole one.
func FormatLimit(d time.Duration) string {
	if d == segue.Unlimited {
		return "UNLIMITED"
	}
	s := int64((d + time.Second - 1) / time.Second)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		text = fmt.Sprintf("%d-%s", days, text)
	}
	return text
}

func parseLimit(b []byte) (time.Duration, bool) {
	if isUnlimited(b) {
		return segue.Unlimited, true
	}
	seconds, ok := parseClock(b, 60)
	if !ok {
		return 0, false
	}
	return limitOf(seconds)
}

// isUnlimited reports whether b is one of Slurm's words for no limit.
func isUnlimited(b []byte) bool {
	if len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		return false
	}
	return equalFold(b, "UNLIMITED") || equalFold(b, "INFINITE") || string(b) == "-1"
}

// limitOf returns a limit of so many seconds, where zero is none.
func limitOf(seconds int64) (time.Duration, bool) {
	switch {
	case seconds == 0:
		return segue.Unlimited, true
	case seconds < 0 || seconds > maxSeconds:
		return 0, false
	}
	return time.Duration(seconds) * time.Second, true
}

// maxSeconds is the longest duration that is read: 146 years.
const maxSeconds = math.MaxInt64 / int64(time.Second) / 2

// parseClock reads [days-]a[:b[:c]] and returns seconds. Without days, a lone
// number counts units of unit seconds, two are minutes:seconds and three
// hours:minutes:seconds; after days they are hours:minutes:seconds from the
// left.
func parseClock(b []byte, unit int64) (int64, bool) {
	var parts [3]int64
	var days int64
	n, digits, hasDays := 0, 0, false
	for i := 0; i <= len(b); i++ {
		switch {
		case i < len(b) && b[i] >= '0' && b[i] <= '9':
			if parts[n] = parts[n]*10 + int64(b[i]-'0'); parts[n] > maxSeconds {
				return 0, false
			}
			digits++
		case i < len(b) && b[i] == '-' && !hasDays && n == 0 && digits > 0:
			days, hasDays = parts[0], true
			parts[0], digits = 0, 0
		case digits == 0 && !(i == len(b) && hasDays && n == 0):
			return 0, false
		case i == len(b):
		case b[i] == ':' && n < 2:
			n, digits = n+1, 0
		default:
			return 0, false
		}
	}
	var weights [3]int64
	switch {
	case hasDays || n == 2:
		weights = [3]int64{3600, 60, 1}
	case n == 1:
		weights = [3]int64{60, 1, 0}
	default:
		weights = [3]int64{unit, 0, 0}
	}
	sum := days * 86400
	for i, w := range weights {
		sum += parts[i] * w
	}
	return sum, sum <= maxSeconds
}

// equalFold reports whether b is the word in any case.
func equalFold(b []byte, word string) bool {
	return len(b) == len(word) && strings.EqualFold(string(b), word)
}
