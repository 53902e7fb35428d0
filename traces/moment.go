package traces

import (
	"math"

	"github.com/segue-project/segue"
)

// A moment is an instant as a file gives it: a local time may be one of two.
type moment struct {
	at  segue.Time // NoTime when not known
	alt segue.Time // the later instant of a local time that occurs twice, or NoTime
}

var unknownMoment = moment{at: segue.NoTime, alt: segue.NoTime}

// exactly returns the moment so many seconds after the epoch.
func exactly(seconds int64) moment { return moment{at: segue.Seconds(seconds), alt: segue.NoTime} }

// The range of instants that is read, the years -207 to 4147:
// the statistics pack an instant into 37 bits.
const (
	firstSecond = -1 << 36
	lastSecond  = 1<<36 - 1
)

// noValue and infinite are the numbers in which Slurm hides "none" and
// "for ever" (NO_VAL and INFINITE of slurm.h).
const (
	noValue  = math.MaxUint32 - 1
	infinite = math.MaxUint32
)

// parseMoment reads a time as Slurm prints it: YYYY-MM-DDTHH:MM:SS on the
// clock's zone, the same with a fraction and a zone (Z, +01:00, +0100), or
// seconds since the epoch (SLURM_TIME_FORMAT=%s). Words for "not known" and
// the epoch itself give the unknown moment, as Slurm prints the epoch as
// Unknown. What else there is to say of the time is added to notes.
func parseMoment(b []byte, clock *zoneClock, notes *reasonSet) (moment, bool) {
	if len(b) < 19 || b[4] != '-' {
		return parseEpoch(b)
	}
	local, ok := parseLocal(b)
	if !ok {
		return unknownMoment, false
	}
	if len(b) > 19 {
		return parseZoned(local, b[19:], clock, notes)
	}
	return onClock(local, clock, notes), true
}

func onClock(local int64, clock *zoneClock, notes *reasonSet) moment {
	at, alt, how := clock.instants(local)
	m := exactly(at)
	switch how {
	case twice:
		notes.add(AmbiguousTime)
		m.alt = segue.Seconds(alt)
	case skipped:
		notes.add(SkippedTime)
	}
	return m
}

func parseEpoch(b []byte) (moment, bool) {
	if len(b) == 0 || b[0] > '9' {
		return unknownMoment, isUnknownWord(b)
	}
	v, ok := parseInt(b)
	switch {
	case !ok:
		return unknownMoment, false
	case v == 0 || v == noValue || v == infinite:
		return unknownMoment, true
	case v < firstSecond || v > lastSecond:
		return unknownMoment, false
	}
	return exactly(v), true
}

func isUnknownWord(b []byte) bool {
	return len(b) == 0 || equalFold(b, "Unknown") || equalFold(b, "None") || equalFold(b, "N/A")
}

// parseLocal reads the first 19 bytes of b, YYYY-MM-DDTHH:MM:SS, and returns
// what a clock in UTC that shows them counts in seconds since the epoch.
func parseLocal(b []byte) (int64, bool) {
	_ = b[18]
	if b[4] != '-' || b[7] != '-' || (b[10] != 'T' && b[10] != ' ') || b[13] != ':' || b[16] != ':' {
		return 0, false
	}
	century, year, month := twoDigits(b[0:]), twoDigits(b[2:]), twoDigits(b[5:])
	day, hour := twoDigits(b[8:]), twoDigits(b[11:])
	minute, second := twoDigits(b[14:]), twoDigits(b[17:])
	if century|year|month|day|hour|minute|second < 0 {
		return 0, false
	}
	year += century * 100
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 60 {
		return 0, false
	}
	return daysSinceEpoch(year, month, day)*86400 + hour*3600 + minute*60 + second, true
}

// twoDigits returns the number that the first two bytes of b spell, or a
// negative number.
func twoDigits(b []byte) int64 {
	tens, ones := b[0]-'0', b[1]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int64(tens)*10 + int64(ones)
}

func daysIn(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysSinceEpoch counts the days from 1970-01-01 to a date of the Gregorian
// calendar (days_from_civil of Hinnant, "chrono-Compatible Low-Level Date
// Algorithms", for years from 0 on).
func daysSinceEpoch(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := (year + 400) / 400
	yearOfEra := year + 400 - era*400
	dayOfYear := (153*(month-3)+2)/5 + day - 1
	return (era-1)*146097 + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - 719468
}

// parseZoned reads what follows the seconds: a fraction, a zone, or both.
func parseZoned(local int64, b []byte, clock *zoneClock, notes *reasonSet) (moment, bool) {
	micros := int64(0)
	if b[0] == '.' {
		digits, scale := 0, int64(100_000)
		for b = b[1:]; len(b) > 0 && b[0] >= '0' && b[0] <= '9'; b = b[1:] {
			micros += int64(b[0]-'0') * scale
			scale /= 10
			digits++
		}
		if digits == 0 {
			return unknownMoment, false
		}
	}
	m := moment{alt: segue.NoTime}
	switch {
	case len(b) == 0:
		m = onClock(local, clock, notes)
		if m.alt.Known() {
			m.alt += segue.Time(micros)
		}
	case len(b) == 1 && (b[0] == 'Z' || b[0] == 'z'):
		m.at = segue.Seconds(local)
	default:
		offset, ok := parseOffset(b)
		if !ok {
			return unknownMoment, false
		}
		m.at = segue.Seconds(local - offset)
	}
	m.at += segue.Time(micros)
	return m, true
}

// parseOffset reads +HH, +HHMM or +HH:MM, or the same with a minus, and
// returns seconds east of UTC.
func parseOffset(b []byte) (int64, bool) {
	if len(b) < 3 || (b[0] != '+' && b[0] != '-') {
		return 0, false
	}
	hours, minutes := twoDigits(b[1:]), int64(0)
	switch rest := b[3:]; {
	case len(rest) == 0:
	case len(rest) == 2:
		minutes = twoDigits(rest)
	case len(rest) == 3 && rest[0] == ':':
		minutes = twoDigits(rest[1:])
	default:
		return 0, false
	}
	if hours < 0 || hours > 18 || minutes < 0 || minutes > 59 {
		return 0, false
	}
	offset := hours*3600 + minutes*60
	if b[0] == '-' {
		offset = -offset
	}
	return offset, true
}
