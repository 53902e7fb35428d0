package traces

import (
	"testing"

	"github.com/segue-project/segue"
)

func TestTimesAreReadInEverySpelling(t *testing.T) {
	t.Parallel()
	chicago := newZoneClock(zoneOf(t, "America/Chicago"))
	for s, want := range map[string]segue.Time{
		"2022-11-01T15:34:14":           utc(t, "2022-11-01T20:34:14"),
		"2022-12-01 15:34:14":           utc(t, "2022-12-01T21:34:14"),
		"2022-11-01T15:34:14Z":          utc(t, "2022-11-01T15:34:14"),
		"2022-11-01T15:34:14+01:00":     utc(t, "2022-11-01T14:34:14"),
		"2022-11-01T15:34:14-0530":      utc(t, "2022-11-01T21:04:14"),
		"2022-11-01T15:34:14+02":        utc(t, "2022-11-01T13:34:14"),
		"2022-11-01T15:34:14.25Z":       utc(t, "2022-11-01T15:34:14") + 250_000,
		"2022-11-01T15:34:14.123456789": utc(t, "2022-11-01T20:34:14") + 123_456,
		"2024-02-29T00:00:00Z":          utc(t, "2024-02-29T00:00:00"),
		"1667316854":                    utc(t, "2022-11-01T15:34:14"),
		"Unknown":                       segue.NoTime,
		"UNKNOWN":                       segue.NoTime,
		"None":                          segue.NoTime,
		"N/A":                           segue.NoTime,
		"":                              segue.NoTime,
		"0":                             segue.NoTime,
		"4294967294":                    segue.NoTime,
	} {
		var notes reasonSet
		if got, ok := parseMoment([]byte(s), chicago, &notes); !ok || got.at != want || got.alt.Known() || notes != 0 {
			t.Errorf("%q is %v (%v, %v, %b), want %v", s, got.at, got.alt, ok, notes, want)
		}
	}
}

func TestTimesThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	clock := newZoneClock(lonestar6())
	for _, s := range []string{
		"yesterday", "2022-11-01", "2022-13-01T00:00:00", "2022-02-29T00:00:00", "2022-11-00T00:00:00", "2022-11-01T24:00:00",
		"2022-11-01T00:60:00", "2022-11-01T00:00:61", "2022/11/01T00:00:00", "2022-11-01T00:00:00.", "2022-11-01T00:00:00X",
		"2022-11-01T00:00:00+25:00", "2022-11-01T00:00:00+1", "20a2-11-01T00:00:00", "99999999999999999999", "999999999999", "-",
		"Ystday 20:13", "########",
	} {
		var notes reasonSet
		if got, ok := parseMoment([]byte(s), clock, &notes); ok {
			t.Errorf("%q is %v, want it refused", s, got.at)
		}
	}
}

func TestLocalTimeThatOccursTwiceHasBothInstants(t *testing.T) {
	t.Parallel()
	var notes reasonSet
	got, ok := parseMoment([]byte("2022-11-06T01:30:00"), newZoneClock(lonestar6()), &notes)
	want := moment{at: utc(t, "2022-11-06T06:30:00"), alt: utc(t, "2022-11-06T07:30:00")}
	if !ok || got != want || notes != 1<<AmbiguousTime {
		t.Errorf("got %v and %v, want %v and %v", got.at, got.alt, want.at, want.alt)
	}
}
