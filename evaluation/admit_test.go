package evaluation_test

import (
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

func TestFirstModelIsComparedWithAPlanner(t *testing.T) {
	t.Parallel()
	starts, planner := contest() // of 8.33 h on average, so that 0.42 h more are allowed
	for name, tc := range map[string]struct {
		model   []float64
		cfg     evaluation.JudgeConfig
		promote bool
		reason  string
	}{
		"the same": {
			model: planner, promote: true,
			reason: "there is no champion; it costs 0 h more a start than p, whose cost is 8.33 h (95 % interval from 0 h more to 0 h more; " +
				"18 starts in 6 blocks of four days), and in no load class more than is allowed: at most 5 % or 0.05 h is allowed",
		},
		"a little worse": {
			model: plus(planner, 0.04, 0.1, 0.9), promote: true, reason: "it costs 0.35 h more a start than p",
		},
		"better, and worse where it is medium": {
			model:  plus(planner, -0.1, 0.3, -9),
			reason: ", but in medium load 0.30 h more: 4.30 h instead of 4.00 h on 6 starts, and at most 5 % or 0.05 h is allowed",
		},
		"too much worse": {
			model: plus(planner, 0, 0, 3), reason: "18 starts in 6 blocks of four days): at most 5 % or 0.05 h is allowed",
		},
		"on too few days": {
			model: plus(planner, -1, -1, -1), cfg: evaluation.JudgeConfig{MinBlocks: 7}, reason: ": too few to judge, want at least 7 blocks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := evaluation.Admit(starts, "p", planner, tc.model, tc.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if v.Promote != tc.promote || !strings.Contains(v.Reason, tc.reason) {
				t.Errorf("promote %t: %q\nwant %t: %q", v.Promote, v.Reason, tc.promote, tc.reason)
			}
		})
	}
	if _, err := evaluation.Admit(starts, "p", planner, planner[1:], evaluation.JudgeConfig{}); segue.KindOf(err) != segue.Invalid {
		t.Errorf("with a cost too few: error %v, want an invalid one", err)
	}
}
