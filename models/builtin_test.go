package models_test

import (
	"testing"

	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/predictor"
)

// The model that is part of the program must read what the program computes.
// When the lists of features or states change, it has to be trained anew.
func TestBuiltInModelFitsTheProgram(t *testing.T) {
	t.Parallel()
	const remedy = "train it anew with scripts/default-model, and commit models/default"
	m, err := models.Default()
	if err != nil {
		t.Fatalf("%v: %s", err, remedy)
	}
	if err := m.CheckFeatures(predictor.FeatureNames()); err != nil {
		t.Fatalf("%v: %s", err, remedy)
	}
	model, err := learned.Read(m.File)
	if err != nil {
		t.Fatalf("the built-in model: %v: %s", err, remedy)
	}
	if got := model.PolicyNames()[0]; got != "moe-dqn" {
		t.Errorf("the built-in model decides by %s, want moe-dqn", got)
	}
	if model.Drift == nil {
		t.Error("the built-in model does not know what its training saw, and would never stand aside")
	}
}

func TestBuiltInModelIsSmall(t *testing.T) {
	t.Parallel()
	m, err := models.Default()
	if err != nil {
		t.Fatal(err)
	}
	bytes := int64(0)
	for _, f := range m.Manifest.Files {
		bytes += f.Size
	}
	if most := int64(1_500_000); bytes > most {
		t.Errorf("the built-in model has %d bytes, want at most %d: every segue carries them", bytes, most)
	}
}
