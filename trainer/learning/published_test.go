//go:build native

package learning_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy"
	"github.com/segue-project/segue/policy/learned"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/trainer"
	"github.com/segue-project/segue/trainer/learning"
)

// quickMethod returns a training of the published method alone, with networks of
// next to nothing, on the first month.
func quickMethod(dir string) learning.Config {
	cfg := quickly(dir)
	cfg.Policies = published.PolicyNames()
	cfg.Samples.Until, cfg.Samples.Every = first.Add(28*day), 32*hour
	cfg.Published = learning.PublishedConfig{Trees: 5, Width: 4, Epochs: 2}
	return cfg
}

// The published method is trained, written into a model's folder, read from it
// again, and has its rows in a backtest of the weeks that follow.
func TestPublishedMethodFromTrainingToBacktest(t *testing.T) {
	t.Parallel()
	cfg := quickMethod("")
	result, err := learning.Learn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Model.Policies) != 0 || len(result.PublishedFits) != 4 {
		t.Fatalf("%d networks of ours and %d fits of the published method, want none and 4", len(result.Model.Policies), len(result.PublishedFits))
	}
	folder := written(t, cfg, result)
	files, err := models.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	model, err := learned.Read(files.File)
	if err != nil {
		t.Fatal(err)
	}
	method, err := published.Read(files.File)
	if err != nil {
		t.Fatal(err)
	}
	trained := trainer.Trained{Model: model, Until: cfg.Samples.Until}
	trained.Published, trained.Notes = method.For(cfg.Samples.Pairs[0])
	report, err := trainer.Backtest(t.Context(), trainer.BacktestConfig{
		Replays: cfg.Samples.Replays, Pair: cfg.Samples.Pairs[0], Families: policy.Families()[:1], Models: []trainer.Trained{trained},
		Every: 24 * hour, Grid: cfg.Samples.Grid, Monte: cfg.Samples.Monte, Replicates: 20,
		Split: evaluation.Split{
			Train: evaluation.Period{From: first, To: cfg.Samples.Until},
			Tune:  evaluation.Period{From: cfg.Samples.Until, To: first.Add(37 * day)},
			Test:  evaluation.Period{From: first.Add(37 * day), To: first.Add(47 * day)}, Embargo: 18 * hour,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.Manifest.Files {
		if strings.HasPrefix(f.Name, "published") {
			refusesFlippedBit(t, folder, f.Name)
		}
	}
	var rows []string
	for _, p := range report.Report.Policies {
		if strings.HasPrefix(p.Name, "published") {
			rows = append(rows, p.Name)
			if !p.Cost.Mean.Known() {
				t.Errorf("%s has no cost", p.Name)
			}
		}
	}
	want := []string{
		"published-forest", "published-forest-as-published", "published-xgboost", "published-xgboost-as-published",
		"published-transformer", "published-transformer-as-published", "published-moe", "published-moe-as-published",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(method.Notes(), report.Report.Notes); diff != "" || len(method.Notes()) != 3 {
		t.Errorf("notes of the forest and the two networks that are smaller than published differ (-want +got):\n%s", diff)
	}
}

// written writes the model into a folder.
func written(t *testing.T, cfg learning.Config, result *learning.Learned) string {
	t.Helper()
	files, err := learned.Encode(result.Model)
	if err != nil {
		t.Fatal(err)
	}
	more, err := published.Encode(result.Published)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(files, more)
	folder := filepath.Join(t.TempDir(), "model")
	at := models.Instant(segue.TimeOf(time.Date(2023, time.March, 1, 0, 0, 0, 0, time.UTC)))
	if err := models.Write(folder, models.Manifest{
		ID: "model", Created: at, Version: "v0", Trace: models.Trace{SHA256: strings.Repeat("ab", 32)},
		Window:  models.Window{From: models.Instant(cfg.Samples.From), Until: models.Instant(cfg.Samples.Until)},
		Cluster: models.Cluster{Nodes: 8}, Features: models.Features{Names: predictor.FeatureNames()},
	}, files); err != nil {
		t.Fatal(err)
	}
	return folder
}

// refusesFlippedBit wants the folder refused by the name of the file of which a bit
// is flipped.
func refusesFlippedBit(t *testing.T, folder, name string) {
	t.Helper()
	path := filepath.Join(folder, name)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 4
	for _, data := range [][]byte{flipped, whole} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := models.Open(folder)
		if damaged := err != nil && strings.Contains(err.Error(), name+" is damaged"); damaged == slices.Equal(data, whole) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestPublishedMethodTakenUpAgainIsTheSame(t *testing.T) {
	t.Parallel()
	encoded := func(cfg learning.Config) map[string][]byte {
		result, err := learning.Learn(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		files, err := published.Encode(result.Published)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	cfg := quickMethod(t.TempDir())
	cfg.Policies = []string{published.Mixture, published.XGBoost}
	want := encoded(cfg)
	fresh := cfg
	fresh.Dir = ""
	if diff := cmp.Diff(want, encoded(fresh)); diff != "" {
		t.Error("the same seed gives another method")
	}
	cfg.Resume = true
	for lost, wantFit := range map[string]string{
		"": "", "published-xgboost-0.gob": "published-xgboost for 2 nodes x 12h0m0s",
	} {
		if lost != "" {
			if err := os.Remove(filepath.Join(cfg.Dir, lost)); err != nil {
				t.Fatal(err)
			}
		}
		var told steps
		if diff := cmp.Diff(want, encoded(told.of(cfg))); diff != "" {
			t.Errorf("taken up again without %q it gives another method", lost)
		}
		for step := range told.seen {
			if fit, _, _ := strings.Cut(step, ","); step != "samples of the published method" && fit != wantFit {
				t.Errorf("taken up again without %q it works on %s", lost, step)
			}
		}
		if wantFit != "" && !told.seen[wantFit] {
			t.Errorf("taken up again without %q it does not work on %s", lost, wantFit)
		}
	}
	cfg.Published.Epochs = 3
	if _, err := learning.Learn(t.Context(), cfg); segue.KindOf(err) != segue.Conflict {
		t.Errorf("error %v of a training with other settings, want one of kind conflict", err)
	}
}

func TestPublishedMethodIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*learning.PublishedConfig){
		"an odd width": func(c *learning.PublishedConfig) { c.Width = 7 },
		"no tree":      func(c *learning.PublishedConfig) { c.Trees = -1 },
		"no epoch":     func(c *learning.PublishedConfig) { c.Epochs = -1 },
	} {
		cfg := quickMethod("")
		change(&cfg.Published)
		if _, err := learning.Learn(t.Context(), cfg); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%s: error %v, want one of kind invalid", name, err)
		}
	}
}
