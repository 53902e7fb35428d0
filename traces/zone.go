package traces

import "time"

// A zoneClock turns local times of one zone, given as the seconds that a
// clock in UTC would show, into instants. It remembers the stretch of local
// time on which the last answer's offset is the only one, so that a log in
// order costs two comparisons a time.
type zoneClock struct {
	zone     *time.Location
	from, to int64 // the local times [from, to) have the offset below and no other
	offset   int64 // seconds east of UTC
}

func newZoneClock(zone *time.Location) *zoneClock { return &zoneClock{zone: zone} }

// reading says how many instants a local time has.
type reading uint8

const (
	once    reading = iota
	twice           // the clock was set back: there are two instants
	skipped         // the clock was set forward: there is none
)

// instants returns the seconds since the epoch at which the zone's clock shows
// local. A time that occurs twice has its later instant in alt. A time that is
// skipped is read with the offset that held before the change.
func (c *zoneClock) instants(local int64) (at, alt int64, how reading) {
	if local >= c.from && local < c.to {
		return local - c.offset, 0, once
	}
	return c.lookUp(local)
}

// lookUp is instants for a time outside the remembered stretch, which it
// replaces when local has one instant.
func (c *zoneClock) lookUp(local int64) (at, alt int64, how reading) {
	// No offset exceeds a day, so the periods around local-1d..local+1d are
	// all that can show it.
	var found [2]int64
	n := 0
	before := int64(0)
	for t := time.Unix(local-86400, 0).In(c.zone); ; {
		start, end := bounds(t)
		_, offset := t.Zone()
		at := local - int64(offset)
		if (start.IsZero() || at >= start.Unix()) && (end.IsZero() || at < end.Unix()) {
			if n < len(found) {
				found[n] = at
			}
			n++
		}
		if end.IsZero() || end.Unix() > local+86400 {
			break
		}
		if at >= end.Unix() {
			before = int64(offset)
		}
		t = end.In(c.zone)
	}
	switch n {
	case 0:
		return local - before, 0, skipped
	case 1:
		c.remember(local, found[0])
		return found[0], 0, once
	}
	return found[0], found[1], twice
}

// remember keeps the stretch of local time around local, whose only instant is
// at, that one offset alone can show.
func (c *zoneClock) remember(local, at int64) {
	const longest = 1 << 40 // seconds: a zone without further changes
	t := time.Unix(at, 0).In(c.zone)
	start, end := bounds(t)
	c.offset = local - at
	c.from, c.to = at-longest, at+longest
	if !start.IsZero() {
		_, earlier := start.Add(-time.Second).In(c.zone).Zone()
		c.from = start.Unix() + max(c.offset, int64(earlier))
	}
	if !end.IsZero() {
		_, later := end.In(c.zone).Zone()
		c.to = end.Unix() + min(c.offset, int64(later))
	}
}

// bounds is ZoneBounds with an end that is after t. By a zone's rule for the
// years to come, the standard library ends a leap year one day early: on its
// last day, the end that it gives is over (seen with Go 1.26, from 2040 on).
// That day is a period of its own here.
func bounds(t time.Time) (start, end time.Time) {
	start, end = t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		start = end
		end = time.Date(t.UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC).In(t.Location())
	}
	return start, end
}
