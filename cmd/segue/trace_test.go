package main

import (
	"testing"
	"time"
)

func TestCountsAreGrouped(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 28_481: "28,481", 1_234_567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000",
	} {
		if got := thousands(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestDurationsAreSaidInAUnitThatSuitsThem(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 s", 119 * time.Second: "119 s", 2 * time.Minute: "2.0 min", 2 * time.Hour: "2.0 h", 48 * time.Hour: "48.0 h",
		72 * time.Hour: "3.0 days",
	} {
		if got := inWords(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestNamesCannotCommandTheTerminal(t *testing.T) {
	t.Parallel()
	if got, want := safe("a\x1b[2Jb\u202ec"), "a\u00b7[2Jb\u00b7c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
