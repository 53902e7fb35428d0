package api

import (
	"math"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// limitOf reads a time limit as sbatch does, or a Go duration such as 48h.
func limitOf(name, text string) (time.Duration, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	d, err := segue.ParseLimit(text)
	if err != nil {
		return 0, segue.Errorf(segue.Invalid, "%s: %w; or a duration such as 48h", name, err)
	}
	return d, nil
}

// timeLeftOf reads how long a job still runs, as squeue shows it, where 0 is none.
func timeLeftOf(name, text string) (time.Duration, error) {
	if text != "" && strings.Trim(text, "0:-") == "" {
		return 0, nil // for ParseLimit, no limit
	}
	return limitOf(name, text)
}

// seconds returns a span as the interface tells it; nil for one without end, which
// JSON cannot hold.
func seconds(d time.Duration) *float64 {
	if d == segue.Unlimited {
		return nil
	}
	s := math.Round(d.Seconds()*1000) / 1000
	return &s
}

func spanSeconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// instant returns an instant as the interface tells it, nil for one that is not
// known.
func instant(t segue.Time) *string {
	if !t.Known() || t == segue.Never {
		return nil
	}
	s := t.String()
	return &s
}

func jobOf(id segue.JobID) string {
	if id == (segue.JobID{}) {
		return ""
	}
	return id.String()
}
