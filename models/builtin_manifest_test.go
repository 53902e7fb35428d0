package models_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/segue-project/segue/models"
)

// Whoever wonders what the built-in model is asks its manifest: which program made it,
// and with which flags.
func TestBuiltInModelSaysHowItWasMade(t *testing.T) {
	t.Parallel()
	const remedy = "train it anew with scripts/default-model, in a clone that git knows, and commit models/default"
	model, err := models.Default()
	if err != nil {
		t.Fatalf("%v: %s", err, remedy)
	}
	m := model.Manifest
	if m.Version == "" || m.Version == "(devel)" {
		t.Errorf("it was made by segue-trainer %q, want a version or a commit: %s", m.Version, remedy)
	}
	// Every flag is there, also those that nobody typed, and nothing of the manifest
	// says otherwise.
	for _, name := range []string{
		"every", "forecast", "lead-step", "node-shares", "pair-time", "pairs", "plain-only", "policies", "replicas", "seed", "steps", "until",
	} {
		if _, ok := m.Settings[name]; !ok {
			t.Errorf("it does not say with which --%s it was trained, only with which %q: %s", name, slices.Sorted(maps.Keys(m.Settings)), remedy)
		}
	}
	if want, got := fmt.Sprint(m.Seeds), "["+m.Settings["seed"]+"]"; got != want {
		t.Errorf("its --seed is %s, and its seeds are %s", got, want)
	}
	if want, got := m.Window.Until.Time().Std().Format(time.DateOnly), m.Settings["until"]; got != want {
		t.Errorf("its --until is %q, and its training ends on %s", got, want)
	}
}
