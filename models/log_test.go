package models

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRollbackPassesOverAnEventWithoutEffect(t *testing.T) {
	t.Parallel()
	promote := func(id, before string) Event { return Event{Action: Promoted, Model: id, Before: before} }
	back := func(id, before string) Event { return Event{Action: RolledBack, Model: id, Before: before} }
	for name, tc := range map[string]struct {
		champion string
		events   []Event
		want     string
	}{
		"the first has none before": {"a", []Event{promote("a", "")}, ""},
		"two":                       {"b", []Event{promote("a", ""), promote("b", "a")}, "a"},
		"a refusal between":         {"b", []Event{promote("a", ""), {Action: Kept, Model: "x", Before: "a"}, promote("b", "a")}, "a"},
		"rolled back":               {"b", []Event{promote("a", ""), promote("b", "a"), promote("c", "b"), back("b", "c")}, "a"},
		"rolled back to the first":  {"a", []Event{promote("a", ""), promote("b", "a"), back("a", "b")}, ""},
		"promoted again":            {"b", []Event{promote("a", ""), promote("b", "a"), back("a", "b"), promote("b", "a")}, "a"},
		"there and back":            {"a", []Event{promote("a", ""), promote("b", "a"), promote("a", "b")}, "b"},
		"died before the last":      {"b", []Event{promote("a", ""), promote("b", "a"), promote("c", "b")}, "a"},
		"died and went on":          {"d", []Event{promote("a", ""), promote("c", "a"), promote("d", "a")}, "a"},
		"died while rolling back":   {"b", []Event{promote("a", ""), promote("b", "a"), back("a", "b")}, "a"},
		"a log that was lost":       {"b", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := former(tc.events, tc.champion); got != tc.want {
				t.Errorf("before %s there was %q, want %q", tc.champion, got, tc.want)
			}
		})
	}
}

// TestRollbackUndoesPromotions plays random decisions against a stack: the
// champions are what promotions pushed, and a rollback pops one. Some writers
// die between the log and the champion's file.
func TestRollbackUndoesPromotions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var events []Event
		stack := []string{""} // the champions, under them none
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			champion, before := stack[len(stack)-1], ""
			if len(stack) > 1 {
				before = stack[len(stack)-2]
			}
			if got := former(events, champion); got != before {
				t.Fatalf("after %v there was %q before %q, want %q", events, got, champion, before)
			}
			e := Event{Action: RolledBack, Model: before, Before: champion}
			if before == "" || rapid.Bool().Draw(t, "go on") {
				e.Action = rapid.SampledFrom([]Action{Promoted, Kept}).Draw(t, "action")
				e.Model = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "model")
			}
			if e.Model == champion {
				continue
			}
			events = append(events, e)
			switch died := rapid.Bool().Draw(t, "died"); {
			case died:
			case e.Action == Promoted:
				stack = append(stack, e.Model)
			case e.Action == RolledBack:
				stack = stack[:len(stack)-1]
			}
		}
	})
}
