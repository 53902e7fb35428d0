package trainer

import (
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
)

// contestOf judges models that submit with constant leads of hours, on a busy
// cluster where a link waits for hours.
func contestOf(t *testing.T, change func(*ContestConfig)) (evaluation.Verdict, error) {
	t.Helper()
	cfg := ContestConfig{
		Replays: []Replay{busyReplay(1, 40)}, Pairs: []segue.Shape{pair}, Period: evaluation.Period{From: midnight(8), To: midnight(34)},
		Every: 12 * hour, Monte: predictor.MonteCarloConfig{Replicas: 2, ArrivalDays: 3}, Workers: 2,
	}
	cfg.Grid.Step = hour
	change(&cfg)
	return Contest(t.Context(), cfg)
}

func TestContest(t *testing.T) {
	t.Parallel()
	lead := func(hours int) *learned.Model { return toymodel.New(t, hour, time.Duration(hours)*hour, "moe-dqn") }
	tests := map[string]struct {
		champion, challenger *learned.Model
		margin               float64
		promote              bool
		reason               string
	}{
		"a better challenger takes the place":        {lead(0), lead(1), 0, true, "h less a start than the champion (95 % interval from "},
		"a worse one does not":                       {lead(2), lead(0), 0, false, "h more a start than the champion (95 % interval from "},
		"nor one that is the same":                   {lead(2), lead(2), 0, false, "it costs 0 h more a start than the champion"},
		"nor a first one that a planner beats":       {nil, lead(0), 0, false, "h more a start than forward-limits-scaled, whose cost is "},
		"but a first one that is nearly as good may": {nil, lead(12), 3, true, "h more a start than forward-limits-scaled, whose cost is "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := contestOf(t, func(c *ContestConfig) {
				c.Champion, c.Challenger, c.Judge.Margin = tt.champion, tt.challenger, tt.margin
			})
			if err != nil {
				t.Fatal(err)
			}
			if v.Promote != tt.promote || !strings.Contains(v.Reason, tt.reason) {
				t.Errorf("promote %t: %q; want %t and %q", v.Promote, v.Reason, tt.promote, tt.reason)
			}
		})
	}
}

func TestContestThatNobodyCanHold(t *testing.T) {
	t.Parallel()
	toy := toymodel.New(t, hour, hour)
	for want, change := range map[string]func(*ContestConfig){
		"contest: no replay":     func(c *ContestConfig) { c.Replays = nil },
		"contest: no pair":       func(c *ContestConfig) { c.Pairs = nil },
		"contest: no challenger": func(c *ContestConfig) { c.Challenger = nil },
		"contest: the period ends at 2023-01-08T00:00:00Z and begins at 2023-01-08T00:00:00Z": func(c *ContestConfig) { c.Period.To = c.Period.From },
		"admit a first model: no starts": func(c *ContestConfig) { c.Period.To = c.Period.From.Add(hour) },
	} {
		_, err := contestOf(t, func(c *ContestConfig) { c.Challenger = toy; change(c) })
		if err == nil || err.Error() != want || segue.KindOf(err) != segue.Invalid {
			t.Errorf("error %v, want %q (invalid)", err, want)
		}
	}
}
