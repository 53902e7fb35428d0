//go:build native

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/predictor"
	"github.com/segue-project/segue/predictor/waits"
	"github.com/segue-project/segue/trainer/learning"
)

// before returns the model that the new one follows: that of --parent, else the
// champion of the folder that --out is in; nil where there is none. A champion
// that cannot be read is no reason not to train the next one: w is told.
func (f *trainFlags) before(w io.Writer) (*models.Manifest, error) {
	if f.parent != "" {
		m, err := models.Open(f.parent)
		if err != nil {
			return nil, fmt.Errorf("--parent: %w", err)
		}
		return &m.Manifest, nil
	}
	registry := models.NewRegistry(filepath.Dir(f.out), func() segue.Time { return segue.TimeOf(time.Now()) })
	champion, err := registry.Champion()
	if segue.KindOf(err) == segue.NotFound {
		return nil, nil
	}
	var m *models.Model
	if err == nil {
		m, err = registry.Open(champion)
	}
	if err != nil {
		fmt.Fprintf(w, "There is nothing to compare with: %v.\n", err)
		return nil, nil
	}
	return &m.Manifest, nil
}

// besideTheResult are the flags that do not change what a training makes, or of
// which the manifest says more elsewhere.
var besideTheResult = []string{"trace", "also", "nodes", "out", "parent", "samples", "resume", "progress", "help"}

// describe completes the manifest but for the files.
func (f *trainFlags) describe(m *models.Manifest, flags *pflag.FlagSet, before *models.Manifest, result *learning.Learned) {
	m.ID = filepath.Base(f.out)
	m.Created = models.Instant(segue.TimeOf(time.Now()))
	m.Version = cli.Version()
	if before != nil {
		m.Parent = before.ID
	}
	m.Settings = map[string]string{}
	flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(besideTheResult, flag.Name) {
			m.Settings[flag.Name] = cli.FlagText(flag)
		}
	})
	m.Features = models.Features{Names: predictor.FeatureNames(), SHA256: predictor.FeatureHash(predictor.FeatureNames())}
	m.Forecaster = models.Forecaster{
		Name: waits.Source, What: "boosted trees of the kind " + string(result.Model.Waits.Kind) + ", recalibrated by how forecasts turned out; policies decide by their blend with the planner's",
	}
	for _, p := range result.Model.Policies {
		m.Policies = append(m.Policies, models.Policy{
			Name: p.Name, Kind: string(p.Spec.Kind), File: models.WeightsFile(p.Name), Settings: settingsOf(p.Name, result.Validation),
		})
	}
	m.Metrics = metricsOf(result)
}

// settingsOf says what a network costs on the fold that it was not trained on. It
// takes the preference as it is: nothing is tuned.
func settingsOf(policy string, v learning.Validation) []models.Setting {
	var list []models.Setting
	for _, p := range v.Policies {
		if p.Name != policy {
			continue
		}
		for i, cost := range p.Costs {
			list = append(list, models.Setting{
				Pair: models.PairOf(v.Pairs[i]), Prefer: float64(segue.Balanced), Parameter: float64(segue.Balanced), Cost: models.EstimateOf(cost),
			})
		}
	}
	return list
}
