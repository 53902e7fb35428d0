package nightly_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer/nightly"
)

// at returns an instant of the spring of 2023 in a zone.
func at(t *testing.T, zone, clock string) segue.Time {
	t.Helper()
	where, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	x, err := time.ParseInLocation("2006-01-02 15:04", clock, where)
	if err != nil {
		t.Fatal(err)
	}
	return segue.TimeOf(x)
}

// follow runs the schedule over some days, looking as often as it says, and
// returns when trainings began, by the clock of the zone, and their causes.
func (r *rig) follow(n *nightly.Nightly, zone *time.Location, until segue.Time) (began []string) {
	r.t.Helper()
	for r.now < until {
		wait, err := n.RunOnce(r.t.Context())
		if err != nil {
			r.t.Fatal(err)
		}
		r.now = r.now.Add(max(wait, time.Second))
	}
	for _, t := range r.trainings() {
		began = append([]string{t.Started.Std().In(zone).Format("01-02 15:04 ") + t.Cause}, began...)
	}
	return began
}

// The clock of the zone counts, in spring too, when an hour is missing.
func TestTrainingsBeginByTheClockOfTheZone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	zone, err := time.LoadLocation("Europe/Zurich")
	if err != nil {
		t.Fatal(err)
	}
	r.now = at(t, "Europe/Zurich", "2023-03-25 12:00")
	r.cfg.Schedule, r.cfg.Zone = "15 3 * * *", zone
	got := r.follow(r.nightly(), zone, at(t, "Europe/Zurich", "2023-03-28 00:00"))
	if diff := cmp.Diff([]string{"03-26 03:15 schedule", "03-27 03:15 schedule"}, got); diff != "" {
		t.Errorf("trainings (-want +got):\n%s", diff)
	}
}

// Of all that were missed while nobody was there one is caught up, and the
// schedule goes on.
func TestMissedTrainingsAreCaughtUpOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.cfg.Schedule = "0 2 * * *"
	n := r.nightly()
	r.follow(n, time.UTC, midnight.Add(3*time.Hour))
	r.now = midnight.Add(4*day + 9*time.Hour) // asleep over three nights
	got := r.follow(r.nightly(), time.UTC, midnight.Add(5*day+3*time.Hour))
	want := []string{"03-01 02:00 schedule", "03-05 09:00 catch-up", "03-06 02:00 schedule"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trainings (-want +got):\n%s", diff)
	}
	if last, err := r.store.LastScheduled(t.Context(), "c"); err != nil || last != midnight.Add(5*day+2*time.Hour) {
		t.Errorf("the latest was scheduled at %s, %v", last, err)
	}
}

// Trainings begin later by a part of the jitter, always the same for the same
// night, and other clusters by other parts.
func TestJitter(t *testing.T) {
	t.Parallel()
	begins := func(cluster string) time.Duration {
		r := newRig(t)
		r.cfg.Schedule, r.cfg.Jitter, r.cfg.Cluster = "0 2 * * *", 20*time.Minute, cluster
		wait, err := r.nightly().RunOnce(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return wait - 2*time.Hour
	}
	one, again, other := begins("c"), begins("c"), begins("d")
	if one != again || one == other || one < 0 || one >= 20*time.Minute || other < 0 || other >= 20*time.Minute {
		t.Errorf("later by %s, again by %s, another cluster by %s", one, again, other)
	}
}

func TestConfigsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*nightly.Config)
		want   string
	}{
		"no cluster":     {func(c *nightly.Config) { c.Cluster = "" }, "no cluster"},
		"four fields":    {func(c *nightly.Config) { c.Schedule = "0 2 * *" }, `schedule "0 2 * *": want five fields`},
		"judge too long": {func(c *nightly.Config) { c.Judge = c.Back }, "no more than a third"},
		"no folder":      {func(c *nightly.Config) { c.Dir = "" }, "no folder for runs"},
		"negative nodes": {func(c *nightly.Config) { c.Nodes = -1 }, "-1 nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.cfg.Back = 100 * day
			c.change(&r.cfg)
			if _, err := nightly.New(r.store, r.cfg); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
