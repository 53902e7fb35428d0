package evaluation_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// contest is six blocks of four days, each with one start of every load; the
// champion costs 1 h in light, 4 h in medium and 20 h in heavy load.
func contest() (starts evaluation.Starts, champion []float64) {
	for block := range 6 {
		for load, reactive := range []float64{1, 6, 30} {
			starts.At = append(starts.At, day(2023, 3, 1+4*block).Add(time.Duration(load)*time.Hour))
			starts.Reactive = append(starts.Reactive, reactive)
			champion = append(champion, []float64{1, 4, 20}[load])
		}
	}
	return starts, champion
}

// plus returns the costs, those of each load changed by its number of hours.
func plus(costs []float64, light, medium, heavy float64) []float64 {
	changed := make([]float64, len(costs))
	for i, cost := range costs {
		changed[i] = cost + []float64{light, medium, heavy}[i%3]
	}
	return changed
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	starts, champion := contest()
	uneven := plus(champion, 0, 0, -1)
	uneven[17] += 5 // in the last block most of the gain of the others is lost
	for name, tc := range map[string]struct {
		challenger []float64
		cfg        evaluation.JudgeConfig
		promote    bool
		reason     string
	}{
		"better everywhere": {
			challenger: plus(champion, -0.3, -0.6, -0.9), promote: true,
			reason: "it costs 0.60 h less a start than the champion (95 % interval from 0.60 h less to 0.60 h less; " +
				"18 starts in 6 blocks of four days), and in no load class more than is allowed: at most 5 % or 0.05 h is allowed",
		},
		"a little worse where it is light": {
			challenger: plus(champion, 0.04, 0, -1), promote: true,
			reason: "it costs 0.32 h less",
		},
		"too much worse where it is light": {
			challenger: plus(champion, 0.06, 0, -1),
			reason:     ", but in light load 0.06 h more: 1.06 h instead of 1.00 h on 6 starts, and at most 5 % or 0.05 h is allowed",
		},
		"worse where it is heavy, within the share": {
			challenger: plus(champion, 0, -2, 0.99), promote: true,
			reason: "it costs 0.34 h less",
		},
		"worse where it is heavy, beyond a smaller share": {
			challenger: plus(champion, 0, -2, 0.99), cfg: evaluation.JudgeConfig{Margin: 0.04},
			reason: ", but in heavy load 0.99 h more: 20.99 h instead of 20.00 h on 6 starts, and at most 4 % or 0.05 h is allowed",
		},
		"the same": {
			challenger: champion,
			reason:     "it costs 0 h more a start than the champion (95 % interval from 0 h more to 0 h more; 18 starts in 6 blocks of four days): not surely less",
		},
		"worse": {
			challenger: plus(champion, 1, 1, 1),
			reason:     "it costs 1.00 h more a start than the champion (95 % interval from 1.00 h more to 1.00 h more; 18 starts in 6 blocks of four days): not surely less",
		},
		"less on average, but not surely": {
			challenger: uneven,
			reason:     "it costs 0.06 h less a start than the champion (95 % interval from 0.33 h less to ",
		},
		"too few blocks": {
			challenger: plus(champion, -1, -1, -1), cfg: evaluation.JudgeConfig{MinBlocks: 7},
			reason: "18 starts in 6 blocks of four days are too few to judge, want at least 7 blocks; there it costs 1.00 h less a start than the champion",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, err := evaluation.Judge(starts, champion, tc.challenger, tc.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if v.Promote != tc.promote || !strings.Contains(v.Reason, tc.reason) {
				t.Errorf("promote is %v because %q;\nwant %v because %q", v.Promote, v.Reason, tc.promote, tc.reason)
			}
			if strings.Contains(v.Reason, "\n") {
				t.Errorf("the reason has more than one line: %q", v.Reason)
			}
		})
	}
}

func TestVerdictHoldsWhatItRestsOn(t *testing.T) {
	t.Parallel()
	starts, champion := contest()
	got, err := evaluation.Judge(starts, champion, plus(champion, 0.5, 0, -1), evaluation.JudgeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got.Loads)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"load":"light","starts":6,"champion_cost":1,"challenger_cost":1.5,"cost_difference":{"mean":0.5,"lo":0.5,"hi":0.5},"too_much":true},` +
		`{"load":"medium","starts":6,"champion_cost":4,"challenger_cost":4,"cost_difference":{"mean":0,"lo":0,"hi":0},"too_much":false},` +
		`{"load":"heavy","starts":6,"champion_cost":20,"challenger_cost":19,"cost_difference":{"mean":-1,"lo":-1,"hi":-1},"too_much":false}]`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("loads (-want +got):\n%s", diff)
	}
	if got.Starts != 18 || got.Blocks != 6 {
		t.Errorf("it rests on %d starts in %d blocks, want 18 in 6", got.Starts, got.Blocks)
	}
}

func TestWhatCannotBeJudgedIsRefused(t *testing.T) {
	t.Parallel()
	starts, champion := contest()
	for name, tc := range map[string]struct {
		starts     evaluation.Starts
		challenger []float64
		cfg        evaluation.JudgeConfig
		want       string
	}{
		"no starts":     {evaluation.Starts{}, nil, evaluation.JudgeConfig{}, "no starts"},
		"a cost less":   {starts, champion[1:], evaluation.JudgeConfig{}, "18 costs of the champion and 17 of the challenger"},
		"not a number":  {starts, plus(champion, 0, math.NaN(), 0), evaluation.JudgeConfig{}, "start 1: a cost is NaN"},
		"infinite":      {starts, plus(champion, 0, math.Inf(1), 0), evaluation.JudgeConfig{}, "start 1: a cost is +Inf"},
		"negative":      {starts, plus(champion, -2, 0, 0), evaluation.JudgeConfig{}, "start 0: a cost is -1"},
		"one block":     {starts, champion, evaluation.JudgeConfig{MinBlocks: 1}, "MinBlocks is 1"},
		"less than all": {starts, champion, evaluation.JudgeConfig{Margin: -0.1}, "Margin is -0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluation.Judge(tc.starts, champion[:len(tc.starts.At)], tc.challenger, tc.cfg)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v (%s), want invalid with %q", err, segue.KindOf(err), tc.want)
			}
		})
	}
}

// TestOfTwoModelsAtMostOneBeatsTheOther draws any costs: the difference turns
// its sign when the two change places, and no two beat each other.
func TestOfTwoModelsAtMostOneBeatsTheOther(t *testing.T) {
	t.Parallel()
	starts, _ := contest()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(0, 100), 18, 18).Draw(t, name)
		}
		a, b := draw("a"), draw("b")
		cfg := evaluation.JudgeConfig{Replicates: 50, Margin: 0.5}
		ab, err := evaluation.Judge(starts, a, b, cfg)
		if err != nil {
			t.Fatal(err)
		}
		ba, err := evaluation.Judge(starts, b, a, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if ab.Promote && ba.Promote {
			t.Fatalf("each beats the other: %q and %q", ab.Reason, ba.Reason)
		}
		mirrored := evaluation.Estimate{Mean: -ba.Difference.Mean, Lo: -ba.Difference.Hi, Hi: -ba.Difference.Lo}
		if diff := cmp.Diff(mirrored, ab.Difference, nearly); diff != "" {
			t.Fatalf("exchanged (-want +got):\n%s", diff)
		}
		if ab.Promote && ab.Difference.Hi >= 0 {
			t.Fatalf("promoted with an interval up to %v", ab.Difference.Hi)
		}
	})
}
