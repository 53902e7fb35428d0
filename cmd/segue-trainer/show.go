//go:build native

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/reports"
	"github.com/segue-project/segue/trainer/learning"
)

// stepper shows the steps of a training: each on a line of its own when it
// begins and ends, and now and then in between.
type stepper struct {
	mu      sync.Mutex
	w       io.Writer
	step    string
	started time.Time
	shown   time.Time
	last    string
	took    []reports.Step // that are over
}

// showEvery is the time between two lines of one step. The program of the tests
// that is killed in the middle of a step shows all of them.
var showEvery = 10 * time.Second

func newStepper(w io.Writer) *stepper { return &stepper{w: w} }

// report takes the progress of learning.Learn.
func (s *stepper) report(step string, done, total int, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if step != s.step {
		s.finish(now)
		s.step, s.started, s.shown, s.last = step, now, now, ""
		fmt.Fprintf(s.w, "%s\n", step)
	}
	line := fmt.Sprintf("  %d of %d", done, total)
	if detail != "" {
		line += ": " + detail
	}
	if elapsed := now.Sub(s.started); done > 0 && done < total {
		line += fmt.Sprintf(" (%s left at most)", (elapsed * time.Duration(total-done) / time.Duration(done)).Round(time.Second))
	}
	s.last = line
	if now.Sub(s.shown) >= showEvery {
		s.shown = now
		fmt.Fprintln(s.w, line)
	}
}

// finish ends the step under way.
func (s *stepper) finish(now time.Time) {
	if s.step != "" {
		fmt.Fprintf(s.w, "%s, took %s\n", s.last, now.Sub(s.started).Round(100*time.Millisecond))
		s.took = append(s.took, reports.Step{Name: s.step, Seconds: now.Sub(s.started).Seconds()})
	}
}

func (s *stepper) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finish(time.Now())
	s.step = ""
}

// metricsOf returns the numbers of a model's manifest.
func metricsOf(r *learning.Learned) map[string]float64 {
	metrics := map[string]float64{"episodes": float64(r.Episodes)}
	for i, rounds := range r.Rounds {
		metrics[fmt.Sprintf("tree_rounds/fold_%d", i+1)] = float64(rounds)
	}
	for _, t := range r.Trainings {
		metrics["validation_cost/"+t.Policy] = t.Best
		for k, use := range t.GateUse {
			metrics[fmt.Sprintf("gate_use/%s/expert_%d", t.Policy, k+1)] = use
		}
	}
	for _, c := range r.Coverage {
		metrics[fmt.Sprintf("coverage_0.9/%s/%s/%s", c.Replay, c.Pair, c.Month)] = c.At90
	}
	return metrics
}

// printSummary says what came of it.
func printSummary(w io.Writer, out string, r *learning.Learned) error {
	fmt.Fprintf(w, "The model is in %s: learned from %d starts.\n", out, r.Episodes)
	for _, c := range r.Coverage {
		fmt.Fprintf(w, "  forecasts of %s, %s, %s: %.0f %% of waits up to the 0.9 quantile, %.0f %% up to the median, CRPS %.2f h\n",
			c.Month, c.Pair, c.Replay, 100*c.At90, 100*c.At50, c.CRPS)
	}
	for _, t := range r.Trainings {
		fmt.Fprintf(w, "  %s: validation cost %.3f", t.Policy, t.Best)
		if len(t.GateUse) > 0 {
			fmt.Fprintf(w, ", the gate uses its experts %.2f", t.GateUse)
		}
		fmt.Fprintln(w)
	}
	printMethod(w, r)
	_, err := fmt.Fprintf(w, "How it came about: %s\nJudge it with: segue backtest --model %s ...\n", filepath.Join(out, models.ReportFile), out)
	return err
}
