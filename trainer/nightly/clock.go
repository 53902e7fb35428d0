package nightly

import (
	"time"

	"github.com/robfig/cron/v3"
)

// byTheClock is a schedule of fixed hours by the clock of a zone. The library finds
// no instant on the night on which the hour is left out, and two on the one on which
// it comes twice. Here the first begins as much later as the clock is put forward
// (02:30 at 03:30), and the second the first time.
//
// It looks for the time of day as if there were no summer time, and then for the
// instant at which the clock of the zone shows it.
type byTheClock struct {
	spec cron.SpecSchedule // in UTC
	zone *time.Location
}

// everyHour is the bit by which the library marks a field that is a star: such a
// schedule is of every hour that passes, whatever it is called.
const everyHour = 1 << 63

// inZone returns the schedule by the clock of a zone, unless it names one itself.
func inZone(s cron.Schedule, zone *time.Location) cron.Schedule {
	spec, ok := s.(*cron.SpecSchedule)
	if !ok { // @every
		return s
	}
	if spec.Location != time.Local { // CRON_TZ=
		zone = spec.Location
	}
	in := *spec
	if in.Location = zone; in.Hour&everyHour != 0 {
		return &in
	}
	in.Location = time.UTC
	return &byTheClock{in, zone}
}

// Next implements cron.Schedule: the first instant after t, the zero Time if there
// is none within years.
func (b *byTheClock) Next(t time.Time) time.Time {
	shown := clock(t.In(b.zone)).Add(-day) // what is late since the clock was put forward is before t by the clock
	for {
		if shown = b.spec.Next(shown); shown.IsZero() {
			return shown
		}
		if at := b.instant(shown); at.After(t) {
			return at
		}
	}
}

const day = 24 * time.Hour

// instant returns when the clock first shows a time of day, or would have shown it
// if it had not been put forward.
func (b *byTheClock) instant(shown time.Time) time.Time {
	local := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), 0, b.zone)
	before := shown.Add(-time.Duration(offset(local.Add(-day))) * time.Second).In(b.zone)
	if clock(local).Equal(shown) && !clock(before).Equal(shown) { // the clock was changed earlier that day
		return local
	}
	return before
}

// clock returns what the clock of t's zone shows, as if it were UTC's.
func clock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds
}
