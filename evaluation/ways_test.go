package evaluation_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// fourHandovers are four hand-overs of two users on two days, by two ways.
func fourHandovers() evaluation.Ways {
	const day = 24 * time.Hour
	start := segue.Seconds(1675641600)
	return evaluation.Ways{
		At:    []segue.Time{start, start.Add(time.Hour), start.Add(day), start.Add(day + time.Hour)},
		Users: []string{"ben", "ada", "ben", "ben"}, Reactive: []float64{1, 3, 13, 20},
		Names: []string{"user", "segue"},
		X: [][]float64{
			{1, 3, 13, -8}, // costs 1, 3, 13, 2
			{-4, 0, 1, -8}, // costs 1, 0, 1, 2
		},
	}
}

func compare(t testing.TB, w evaluation.Ways) evaluation.WaysReport {
	t.Helper()
	r, err := evaluation.CompareWays(w, "user", evaluation.Config{Replicates: 200})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWaysAreScoredAsToldByHand(t *testing.T) {
	t.Parallel()
	r := compare(t, fourHandovers())
	if r.Handovers != 4 || r.Days != 2 || r.Blocks != 1 {
		t.Errorf("%d hand-overs on %d days in %d blocks, want 4, 2 and 1", r.Handovers, r.Days, r.Blocks)
	}
	user, own := r.Ways[0], r.Ways[1]
	for _, tt := range []struct {
		name      string
		got, want evaluation.Number
	}{
		{"interruption of the user", user.Interruption.Mean, 4.25},
		{"overlap of the user", user.Overlap.Mean, 2},
		{"cost of the user", user.Cost.Mean, 4.75},
		{"cost of segue", own.Cost.Mean, 1},
		{"change", own.Change.Mean, -3.75},
		{"change of the reference", user.Change.Hi, 0},
		// The two days: ben 1 and ada 3 on the first, 13 and 2 on the second.
		{"best day of the change", own.Change.Lo, -6},
		{"worst day of the change", own.Change.Hi, -1.5},
		{"cost where users count alike", user.CostOfUsers, (16.0/3 + 3) / 2},
		{"no gap", own.NoGap, 0.75},
		{"cheaper", own.Cheaper, 0.5},
		{"dearer", own.Dearer, 0},
		{"heavy cost of the user", user.ByLoad.Heavy.Cost, 7.5},
		{"worst", user.Worst.Cost, 13},
	} {
		if math.Abs(float64(tt.got-tt.want)) > 1e-9 {
			t.Errorf("%s is %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if got := own.ChangeFourDays; got.Mean != own.Change.Mean || got.Lo.Known() {
		t.Errorf("one block of four days gives %+v, want the mean and no interval", got)
	}
	if got := own.ByLoad.Light.Starts + own.ByLoad.Medium.Starts + own.ByLoad.Heavy.Starts; got != 4 {
		t.Errorf("%d hand-overs by load, want 4", got)
	}
}

func TestUsersWhomTheirWayCostsMostComeFirst(t *testing.T) {
	t.Parallel()
	want := []evaluation.UserScore{
		{User: "ben", Handovers: 3, Ways: []evaluation.UserOfWay{
			{Name: "user", Interruption: 14.0 / 3, Overlap: 8.0 / 3, Cost: 16.0 / 3, Worst: 13},
			{Name: "segue", Interruption: 1.0 / 3, Overlap: 4, Cost: 4.0 / 3, Worst: 2},
		}},
		{User: "ada", Handovers: 1, Ways: []evaluation.UserOfWay{
			{Name: "user", Interruption: 3, Cost: 3, Worst: 3}, {Name: "segue"},
		}},
	}
	near := cmp.Comparer(func(a, b evaluation.Number) bool { return math.Abs(float64(a-b)) < 1e-9 })
	if diff := cmp.Diff(want, compare(t, fourHandovers()).Users, near); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
}

func TestNoHandoverIsNothingToCompare(t *testing.T) {
	t.Parallel()
	r := compare(t, evaluation.Ways{Names: []string{"user"}, X: [][]float64{nil}})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"handovers":0,"reference":"user","overlap_price":0.25,"days":0,"four_day_blocks":0,"ways":[],"users":[]}`
	if string(text) != want {
		t.Errorf("the JSON is\n%s, want\n%s", text, want)
	}
}

func TestWaysThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*evaluation.Ways){
		"a missing user":         func(w *evaluation.Ways) { w.Users = w.Users[1:] },
		"a missing load":         func(w *evaluation.Ways) { w.Reactive = nil },
		"a missing outcome":      func(w *evaluation.Ways) { w.X[1] = w.X[1][1:] },
		"a missing row":          func(w *evaluation.Ways) { w.X = w.X[:1] },
		"an outcome of NaN":      func(w *evaluation.Ways) { w.X[0][2] = math.NaN() },
		"a name twice":           func(w *evaluation.Ways) { w.Names[1] = "user" },
		"no name":                func(w *evaluation.Ways) { w.Names[1] = "" },
		"no way of the user":     func(w *evaluation.Ways) { w.Names[0] = "other" },
		"an outcome of infinity": func(w *evaluation.Ways) { w.X[0][2] = math.Inf(1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := fourHandovers()
			change(&w)
			if _, err := evaluation.CompareWays(w, "user", evaluation.Config{}); segue.KindOf(err) != segue.Invalid {
				t.Errorf("the error is %v, want one of kind invalid", err)
			}
		})
	}
}

// Whatever the outcomes: a mean lies within its interval, a way differs from itself
// by nothing, and users' hand-overs add up to all.
func TestWaysAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(r, "hand-overs")
		w := evaluation.Ways{Names: []string{"user", "segue", "same"}, X: make([][]float64, 3)}
		for range n {
			w.At = append(w.At, segue.Seconds(1675641600+rapid.Int64Range(0, 20*86400).Draw(r, "second")))
			w.Users = append(w.Users, rapid.SampledFrom([]string{"ada", "ben", "cem"}).Draw(r, "user"))
			w.Reactive = append(w.Reactive, rapid.Float64Range(0, 50).Draw(r, "reactive"))
			x, y := rapid.Float64Range(-50, 50).Draw(r, "user's outcome"), rapid.Float64Range(-50, 50).Draw(r, "other outcome")
			w.X[0], w.X[1], w.X[2] = append(w.X[0], x), append(w.X[1], y), append(w.X[2], x)
		}
		report, err := evaluation.CompareWays(w, "user", evaluation.Config{Replicates: 50})
		if err != nil {
			r.Fatal(err)
		}
		if c := report.Ways[2].Change; c.Mean != 0 || (c.Lo.Known() && (c.Lo != 0 || c.Hi != 0)) {
			r.Fatalf("a way differs from itself by %+v", c)
		}
		sum, handovers := 0.0, 0
		for _, u := range report.Users {
			handovers += u.Handovers
			sum += float64(u.Ways[1].Cost) * float64(u.Handovers)
		}
		if handovers != n || math.Abs(sum/float64(n)-float64(report.Ways[1].Cost.Mean)) > 1e-9 {
			r.Fatalf("users have %d hand-overs of mean cost %v, all %d of %v", handovers, sum/float64(n), n, report.Ways[1].Cost.Mean)
		}
	})
}
