package segue

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// ParseLimit reads a time limit as Slurm spells it (sbatch --time, sacct,
// squeue):
//
//	minutes | minutes:seconds | hours:minutes:seconds
//	days-hours | days-hours:minutes | days-hours:minutes:seconds
//	UNLIMITED | INFINITE | -1
//
// A bare number is minutes and "4:00" is four minutes. Zero asks for no limit
// (man sbatch), so it is [Unlimited] too. The value is exact to the second;
// Slurm itself rounds a limit up to whole minutes. Parts may exceed their usual
// range ("90:00", "1-36"), as in Slurm. Anything else is Invalid.
func ParseLimit(s string) (time.Duration, error) {
	if strings.EqualFold(s, "UNLIMITED") || strings.EqualFold(s, "INFINITE") || s == "-1" {
		return Unlimited, nil
	}
	seconds, ok := ParseClock(s)
	switch {
	case !ok:
		return 0, Errorf(Invalid, "time limit %q: want minutes, minutes:seconds, hours:minutes:seconds, "+
			"days-hours, days-hours:minutes, days-hours:minutes:seconds or UNLIMITED", strings.Clone(s))
	case seconds == 0:
		return Unlimited, nil
	}
	return time.Duration(seconds) * time.Second, nil
}

// FormatLimit returns d as sacct prints it: "D-HH:MM:SS", "HH:MM:SS" or
// "UNLIMITED". A part of a second counts as a whole one.
func FormatLimit(d time.Duration) string {
	if d == Unlimited {
		return "UNLIMITED"
	}
	s := int64((d + time.Second - 1) / time.Second)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		text = fmt.Sprintf("%d-%s", days, text)
	}
	return text
}

// maxClock is the longest time that ParseClock reads: 146 years.
const maxClock = math.MaxInt64 / int64(time.Second) / 2

// ParseClock reads Slurm's [days-]a[:b[:c]] and returns seconds, at most 146
// years of them. Without days, a lone number counts minutes, two are
// minutes:seconds and three hours:minutes:seconds; after days they are
// hours:minutes:seconds from the left.
func ParseClock(s string) (seconds int64, ok bool) {
	var parts [3]int64
	var days int64
	n, digits, hasDays := 0, 0, false
	for i := 0; i <= len(s); i++ {
		switch {
		case i < len(s) && s[i] >= '0' && s[i] <= '9':
			if parts[n] = parts[n]*10 + int64(s[i]-'0'); parts[n] > maxClock {
				return 0, false
			}
			digits++
		case i < len(s) && s[i] == '-' && !hasDays && n == 0 && digits > 0:
			days, hasDays = parts[0], true
			parts[0], digits = 0, 0
		case digits == 0 && !(i == len(s) && hasDays && n == 0):
			return 0, false
		case i == len(s):
		case s[i] == ':' && n < 2:
			n, digits = n+1, 0
		default:
			return 0, false
		}
	}
	weights := [3]int64{60, 1, 0}
	if hasDays || n == 2 {
		weights = [3]int64{3600, 60, 1}
	}
	sum := float64(days) * 86400 // in float64 first: parts may be anything up to maxClock
	for i, w := range weights {
		sum += float64(parts[i]) * float64(w)
	}
	if sum > float64(maxClock) {
		return 0, false
	}
	seconds = days * 86400
	for i, w := range weights {
		seconds += parts[i] * w
	}
	return seconds, true
}
