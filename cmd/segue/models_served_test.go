package main

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/config"
)

// A system service has no home folder. Its models are in the folder of its data, and
// until trainings have made a champion a planner decides.
func TestAServersModelsAreInItsData(t *testing.T) {
	t.Setenv("HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	data := t.TempDir()
	c := config.Config{Data: data, Model: champion}
	got := []string{modelsOf(c), modelsOf(config.Config{Data: data, Models: "/srv/models"})}
	if diff := cmp.Diff([]string{filepath.Join(data, "models"), "/srv/models"}, got); diff != "" {
		t.Errorf("folders of the models (-want +got):\n%s", diff)
	}
	if model, err := modelOf(c); model != nil || err != nil {
		t.Errorf("before any training %v decides, error %v; want nothing and none", model, err)
	}
}
