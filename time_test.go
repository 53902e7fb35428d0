package segue_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

const (
	longest  = time.Duration(math.MaxInt64)
	shortest = time.Duration(math.MinInt64)
)

func TestTimeAdd(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		t    segue.Time
		d    time.Duration
		want segue.Time
	}{
		"an hour later":                      {segue.Seconds(10), time.Hour, segue.Seconds(3610)},
		"before the epoch":                   {segue.Seconds(10), -time.Minute, segue.Seconds(-50)},
		"less than a microsecond is nothing": {7, 999 * time.Nanosecond, 7},
		"unlimited is 292 years":             {0, segue.Unlimited, math.MaxInt64 / 1000},
		"an unknown instant stays unknown":   {segue.NoTime, time.Hour, segue.NoTime},
		"never stays never":                  {segue.Never, -time.Hour, segue.Never},
		"past the last instant is never":     {segue.Never - 5, time.Millisecond, segue.Never},
		"the last instant but one":           {segue.Never - 5, 4 * time.Microsecond, segue.Never - 1},
		"before the first instant is known":  {segue.NoTime + 5, -time.Millisecond, segue.NoTime + 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.t.Add(tt.d); got != tt.want {
				t.Errorf("%d.Add(%d) = %d, want %d", tt.t, tt.d, got, tt.want)
			}
		})
	}
}

func TestTimeSubSaturates(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		t, u segue.Time
		want time.Duration
	}{
		"an hour":                                 {segue.Seconds(3600), 0, time.Hour},
		"a negative hour":                         {segue.Seconds(-3600), 0, -time.Hour},
		"the same instant":                        {5, 5, 0},
		"never less never":                        {segue.Never, segue.Never, 0},
		"unknown less unknown":                    {segue.NoTime, segue.NoTime, 0},
		"never less an instant":                   {segue.Never, 5, longest},
		"never less one long ago":                 {segue.Never, -5, longest},
		"never less the instant before it":        {segue.Never, segue.Never - 1, longest},
		"an instant less never":                   {5, segue.Never, shortest},
		"one long ago less never":                 {-5, segue.Never, shortest},
		"an instant less an unknown one":          {1, segue.NoTime, longest},
		"one long ago less an unknown one":        {segue.NoTime + 1, segue.NoTime, longest},
		"an unknown one less an instant":          {segue.NoTime, 5, shortest},
		"300 years":                               {segue.Seconds(300 * 365 * 86400), 0, longest},
		"300 years back":                          {0, segue.Seconds(300 * 365 * 86400), shortest},
		"the ends of time, too far to be counted": {segue.Never - 1, segue.NoTime + 1, longest},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.t.Sub(tt.u); got != tt.want {
				t.Errorf("%d.Sub(%d) = %d, want %d", tt.t, tt.u, got, tt.want)
			}
		})
	}
}

func TestAddUndoesSub(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		century := int64(100 * 365 * 24 * time.Hour / time.Microsecond)
		a := segue.Time(rapid.Int64Range(-century, century).Draw(t, "a"))
		b := segue.Time(rapid.Int64Range(-century, century).Draw(t, "b"))
		if got := b.Add(a.Sub(b)); got != a {
			t.Fatalf("%d + (%d - %d) = %d", b, a, b, got)
		}
		if a.Sub(b) != -b.Sub(a) {
			t.Fatalf("%d - %d = %d, the other way round %d", a, b, a.Sub(b), b.Sub(a))
		}
	})
}

func TestTimeRoundsDown(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		t        segue.Time
		wantUnix int64
		wantText string
		wantStd  time.Time
		same     time.Time // another moment in the same microsecond
	}{
		"after the epoch": {
			t: 1_500_000, wantUnix: 1, wantText: "1970-01-01T00:00:01Z",
			wantStd: time.Unix(1, 500_000_000).UTC(), same: time.Unix(1, 500_000_999),
		},
		"a microsecond before the epoch": {
			t: -1, wantUnix: -1, wantText: "1969-12-31T23:59:59Z",
			wantStd: time.Unix(-1, 999_999_000).UTC(), same: time.Unix(-1, 999_999_999),
		},
		"a whole second before the epoch": {
			t: -2_000_000, wantUnix: -2, wantText: "1969-12-31T23:59:58Z",
			wantStd: time.Unix(-2, 0).UTC(), same: time.Unix(-2, 1),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.t.Unix(); got != tt.wantUnix {
				t.Errorf("Unix() = %d, want %d", got, tt.wantUnix)
			}
			if got := tt.t.String(); got != tt.wantText {
				t.Errorf("String() = %q, want %q", got, tt.wantText)
			}
			if got := tt.t.Std(); !got.Equal(tt.wantStd) || got.Location() != time.UTC {
				t.Errorf("Std() = %v, want %v", got, tt.wantStd)
			}
			if got := segue.TimeOf(tt.same); got != tt.t {
				t.Errorf("TimeOf(%v) = %d, want %d", tt.same, got, tt.t)
			}
		})
	}
}

func TestTimeThatIsNoInstant(t *testing.T) {
	t.Parallel()
	if segue.NoTime.Known() || !segue.Never.Known() || !segue.Time(0).Known() {
		t.Error("want only NoTime to be unknown")
	}
	if got := segue.NoTime.String() + ", " + segue.Never.String(); got != "unknown, never" {
		t.Errorf("NoTime and Never print as %q", got)
	}
	if !segue.Seconds(-1).Before(0) || segue.Time(0).Before(0) || !segue.Time(0).Before(segue.Never) {
		t.Error("Before does not order instants")
	}
}
