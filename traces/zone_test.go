package traces

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func zoneOf(tb testing.TB, name string) *time.Location {
	tb.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		tb.Fatal(err)
	}
	return zone
}

// localAt returns the seconds that a clock in UTC would count for what the
// zone's clock shows at the instant.
func localAt(at int64, zone *time.Location) int64 {
	_, offset := time.Unix(at, 0).In(zone).Zone()
	return at + int64(offset)
}

// instantsOf returns the instants at which the zone's clock shows local, by
// trying every offset that the zone has within a day and a half.
func instantsOf(local int64, zone *time.Location) []int64 {
	var found []int64
	for at := local - 36*3600; at <= local+36*3600; at += 600 {
		tried := local - (localAt(at, zone) - at)
		if localAt(tried, zone) == local && !slices.Contains(found, tried) {
			found = append(found, tried)
		}
	}
	slices.Sort(found)
	return found
}

func TestLocalTimesAreReadAsTheirInstants(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC}
	for _, name := range []string{
		"America/Chicago", "Europe/Stockholm", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/Caracas",
	} {
		zones = append(zones, zoneOf(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(zones).Draw(t, "zone")
		clock := newZoneClock(zone)
		near := rapid.Int64Range(-3e9, 9e9).Draw(t, "near")
		for range 20 { // one clock, many times: the remembered stretch must not mislead
			local := near + rapid.Int64Range(-100*86400, 100*86400).Draw(t, "local")
			want := instantsOf(local, zone)
			at, alt, how := clock.instants(local)
			switch len(want) {
			case 0:
				if how != skipped {
					t.Fatalf("%d in %s does not exist, got %d", local, zone, at)
				}
			case 1:
				if how != once || at != want[0] {
					t.Fatalf("%d in %s is %d, got %d (%d)", local, zone, want[0], at, how)
				}
			default:
				if how != twice || at != want[0] || alt != want[1] {
					t.Fatalf("%d in %s is %d and %d, got %d and %d (%d)", local, zone, want[0], want[1], at, alt, how)
				}
			}
		}
	})
}

func TestSkippedLocalTimeKeepsTheOffsetBeforeTheChange(t *testing.T) {
	t.Parallel()
	clock := newZoneClock(zoneOf(t, "America/Chicago"))
	// 2023-03-12 02:30 does not exist: clocks went from 02:00 CST to 03:00 CDT.
	local := time.Date(2023, 3, 12, 2, 30, 0, 0, time.UTC).Unix()
	want := time.Date(2023, 3, 12, 8, 30, 0, 0, time.UTC).Unix()
	if at, _, how := clock.instants(local); at != want || how != skipped {
		t.Errorf("got %v (%d), want %v", time.Unix(at, 0).UTC(), how, time.Unix(want, 0).UTC())
	}
}

func TestDaysSinceEpochFollowTheCalendar(t *testing.T) {
	t.Parallel()
	for day := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2500; day = day.AddDate(0, 0, 13) {
		want := day.Unix() / 86400
		if got := daysSinceEpoch(int64(day.Year()), int64(day.Month()), int64(day.Day())); got != want {
			t.Fatalf("%v: %d days, want %d", day, got, want)
		}
	}
}

// TestTheLastDayOfALeapYearIsRead: here the standard library gives an end of the
// period that is over already, and a loop from period to period stood still.
func TestTheLastDayOfALeapYearIsRead(t *testing.T) {
	t.Parallel()
	zone := zoneOf(t, "America/Chicago")
	for year := 2036; year < 2072; year += 4 {
		for day := 30; day <= 33; day++ {
			want := time.Date(year, time.December, day, 12, 34, 56, 0, zone).Unix()
			got, _, how := newZoneClock(zone).instants(localAt(want, zone))
			if got != want || how != once {
				t.Errorf("noon of %d-12-%d is %d (%d), want %d", year, day, got, how, want)
			}
		}
	}
}
