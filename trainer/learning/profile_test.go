//go:build native

package learning

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/outcomes"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/trainer"
)

// Of leads of every hour the profile takes those of every sixth, of every
// episode, and of the features those that tell drift.
func TestProfileHoldsWhatTheEpisodesShow(t *testing.T) {
	t.Parallel()
	stream := trainer.Stream{}
	for day := range 3 {
		e := trainer.Episode{Curve: outcomes.Curve{}}
		for lead := range 13 {
			e.Curve.Leads = append(e.Curve.Leads, time.Duration(lead)*time.Hour)
			e.Curve.Outcomes = append(e.Curve.Outcomes, 0)
			e.Features = append(e.Features, toymodel.Features("pending.jobs_log", float32(100*day+lead))...)
		}
		stream.Episodes = append(stream.Episodes, e)
	}
	p, err := profileOf([]trainer.Stream{stream})
	if err != nil {
		t.Fatal(err)
	}
	type seen struct {
		Rows     int
		Min, Max float64
	}
	var got seen
	var names []string
	for _, f := range p.Features {
		names = append(names, f.Name)
		if f.Name == "pending.jobs_log" {
			got = seen{p.Rows, f.Min, f.Max}
		}
	}
	if diff := cmp.Diff(seen{9, 0, 212}, got); diff != "" {
		t.Errorf("the profile saw something else (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(learned.Watched(), names); diff != "" {
		t.Errorf("features differ (-want +got):\n%s", diff)
	}
}
