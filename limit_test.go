package segue_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func TestParseLimitReadsEverySpellingOfSbatch(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"30":          30 * time.Minute,
		"4:00":        4 * time.Minute,
		"0:30":        30 * time.Second,
		"90:00":       90 * time.Minute,
		"2:30:15":     2*time.Hour + 30*time.Minute + 15*time.Second,
		"48:00:00":    2 * day,
		"2-12":        2*day + 12*time.Hour,
		"1-36":        2*day + 12*time.Hour,
		"1-0:30":      day + 30*time.Minute,
		"2-00:00:00":  2 * day,
		"0-0:0:1":     time.Second,
		"3-":          3 * day,
		"UNLIMITED":   segue.Unlimited,
		"infinite":    segue.Unlimited,
		"-1":          segue.Unlimited,
		"0":           segue.Unlimited,
		"00:00:00":    segue.Unlimited,
		"0525600":     365 * day,
		"76861433640": 0,
	} {
		got, err := segue.ParseLimit(s)
		if want == 0 {
			if segue.KindOf(err) != segue.Invalid {
				t.Errorf("segue.ParseLimit(%q) = %v, %v, want it to be invalid", s, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("segue.ParseLimit(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
}

func TestParseLimitRefusesWhatSbatchRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", " ", "x", "1h", "1:2:3:4", "1-2-3", "1:2-3", "-5", "--1", "1-:5", ":30", "30:", "1::2", "5 ", "+5", "1.5",
		"99999999999999999999", "99999999-00:00:00", "Partition_Limit",
	} {
		if got, err := segue.ParseLimit(s); segue.KindOf(err) != segue.Invalid {
			t.Errorf("segue.ParseLimit(%q) = %v, %v, want it to be invalid", s, got, err)
		}
	}
}

func TestFormattedLimitReadsBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(1, 100*365*86400).Draw(t, "seconds")) * time.Second
		if rapid.Bool().Draw(t, "unlimited") {
			want = segue.Unlimited
		}
		if got, err := segue.ParseLimit(segue.FormatLimit(want)); err != nil || got != want {
			t.Fatalf("segue.ParseLimit(segue.FormatLimit(%v) = %q) = %v, %v", want, segue.FormatLimit(want), got, err)
		}
	})
}

func FuzzParseLimit(f *testing.F) {
	for _, s := range []string{"30", "1:30", "2-12:00:00", "UNLIMITED", "-1", "1-", "99999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := segue.ParseLimit(s)
		if err != nil {
			return
		}
		if again, err := segue.ParseLimit(segue.FormatLimit(d)); d <= 0 || err != nil || again != d {
			t.Errorf("segue.ParseLimit(%q) = %v, which reads back as %v, %v", s, d, again, err)
		}
	})
}

func ExampleParseLimit() {
	for _, s := range []string{"30", "4:00", "2-12", "UNLIMITED"} {
		d, err := segue.ParseLimit(s)
		fmt.Println(s, "=", segue.FormatLimit(d), err)
	}
	// Output:
	// 30 = 00:30:00 <nil>
	// 4:00 = 00:04:00 <nil>
	// 2-12 = 2-12:00:00 <nil>
	// UNLIMITED = UNLIMITED <nil>
}
