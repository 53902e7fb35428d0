//go:build native

package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/reports"
	"github.com/segue-project/segue/trainer/learning"
)

// reportPage returns the report of a training: what the manifest says, what the
// training kept, and what it took.
func reportPage(cmd *cobra.Command, m models.Manifest, before *models.Manifest, result *learning.Learned, steps *stepper) ([]byte, error) {
	report := reports.Training{
		Title:    "How the model " + m.ID + " came about",
		Trace:    traceSentence(m),
		Command:  cli.CommandLine(cmd),
		Facts:    factsOf(m, result),
		Settings: settingsTable(m.Settings),
		Effort:   steps.took, MemoryMiB: peakMemory(),
		Notes: append(slices.Clone(m.Notes),
			"Planners have no row here: 'segue backtest --model' puts the policies beside every planner, on time that the model never saw."),
	}
	result.AddTo(&report)
	if before != nil {
		report.Parent = before.ID
		report.Changes, report.Metrics = changesSince(*before, m), metricsOfBoth(*before, m)
	}
	return report.HTML()
}

func traceSentence(m models.Manifest) string {
	return fmt.Sprintf("Learned from %d jobs of %s on %d nodes, as known at %s.", m.Trace.Jobs, m.Trace.Name, m.Cluster.Nodes, m.Window.Until)
}

// factsOf says what the model was made from.
func factsOf(m models.Manifest, result *learning.Learned) [][2]string {
	forecasts := 0
	for _, c := range result.Coverage {
		forecasts += c.Count
	}
	facts := [][2]string{
		{"training window", fmt.Sprintf("%s until %s", m.Window.From, m.Window.Until)},
		{"history", fmt.Sprintf("%s, SHA-256 %.16s", m.Trace.Name, m.Trace.SHA256)},
		{"jobs known at its end", fmt.Sprint(m.Trace.Jobs)},
		{"nodes", fmt.Sprint(m.Cluster.Nodes)},
	}
	for _, p := range m.Pairs {
		facts = append(facts, [2]string{"pairs of", p.String()})
	}
	facts = append(facts, [][2]string{
		{"starts learned from", fmt.Sprint(result.Episodes)},
		{"starts of the validation fold", fmt.Sprint(result.Validation.Starts)},
		{"forecasts compared with waits", fmt.Sprint(forecasts)},
		{"features", fmt.Sprintf("%d, SHA-256 %.16s", len(m.Features.Names), m.Features.SHA256)},
		{"forecast", m.Forecaster.What},
		{"seed", strings.Trim(fmt.Sprint(m.Seeds), "[]")},
		{"parent", cmp.Or(m.Parent, "none")},
		{"segue-trainer", m.Version},
		{"built by", cli.Build().GoVersion},
	}...)
	for _, module := range cli.Build().Deps {
		if slices.Contains([]string{"github.com/sugarme/gotch", "github.com/dmitryikh/leaves", "gonum.org/v1/gonum"}, module.Path) {
			facts = append(facts, [2]string{module.Path, module.Version})
		}
	}
	return facts
}

func settingsTable(settings map[string]string) [][2]string {
	var list [][2]string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		list = append(list, [2]string{"--" + name, cmp.Or(settings[name], "not given")})
	}
	return list
}

// changesSince returns in what a model differs from an earlier one. Metrics stand
// beside each other elsewhere, and files always differ.
func changesSince(before, m models.Manifest) []reports.Change {
	var list []reports.Change
	for _, d := range models.Diff(before, m) {
		if d.Section != "metrics" && d.Section != "files" {
			list = append(list, reports.Change{Section: d.Section, Name: d.Name, Before: d.A, After: d.B})
		}
	}
	return list
}

// metricsOfBoth returns the metrics that either model has, side by side.
func metricsOfBoth(before, m models.Manifest) []reports.Change {
	names := maps.Clone(m.Metrics)
	maps.Copy(names, before.Metrics)
	var list []reports.Change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, reports.Change{Name: name, Before: metricText(before.Metrics, name), After: metricText(m.Metrics, name)})
	}
	return list
}

func metricText(metrics map[string]float64, name string) string {
	if v, ok := metrics[name]; ok {
		return fmt.Sprintf("%.4g", v)
	}
	return ""
}

// peakMemory returns the most memory in MiB that the process had at once, as the
// kernel counted it; 0 where it does not say.
func peakMemory() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return float64(usage.Maxrss) / 1024 // Linux counts KiB
}
