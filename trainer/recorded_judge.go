package trainer

import (
	"fmt"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// RecordedReport is the judgement of forecasts of recorded waits.
type RecordedReport struct {
	From  segue.Time  `json:"-"`
	Until segue.Time  `json:"-"`
	Sets  []ScoredSet `json:"sets"`
}

// ScoredSet is the judgement over one set of jobs: all that count, or those that
// were not held back.
type ScoredSet struct {
	Name   string     `json:"name"` // stable: "all", "not-held-back"
	Jobs   int        `json:"jobs"`
	Scores []RowScore `json:"scores"`
	// Best is the baseline with the least pinball loss of the set, known only
	// afterwards.
	Best string `json:"best_baseline"`
}

// RowScore says how good the forecasts of one forecaster were, in hours.
type RowScore struct {
	Name         string            `json:"name"`
	Recalibrated bool              `json:"recalibrated"`
	MAE          evaluation.Number `json:"mean_absolute_error_of_median"`
	// Pinball is the mean pinball loss over the levels 0.1, 0.2, ... 0.9.
	Pinball evaluation.Number `json:"pinball"`
	CRPS    evaluation.Number `json:"crps"`
	R       evaluation.Number `json:"r_of_mean"` // Pearson's, of the mean
	Cover50 evaluation.Number `json:"coverage_0.5"`
	Cover90 evaluation.Number `json:"coverage_0.9"`
	Months  []CoverageOf      `json:"months"`
	Loads   []CoverageOf      `json:"loads"`
	// Against compares the pinball loss with that of the best baseline.
	Against evaluation.Paired `json:"pinball_against_best_baseline"`
}

// CoverageOf is the coverage and the pinball loss within a month or a load.
type CoverageOf struct {
	Group   string            `json:"group"`
	Jobs    int               `json:"jobs"`
	Cover50 evaluation.Number `json:"coverage_0.5"`
	Cover90 evaluation.Number `json:"coverage_0.9"`
	Pinball evaluation.Number `json:"pinball"`
}

// recordedLevels are those over which the pinball loss is averaged.
var recordedLevels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// JudgeRecorded scores forecasts of the jobs that count and were submitted from
// an instant on, before another. learned are compared with the best of the
// baselines. Every list must have one forecast for every submission.
func JudgeRecorded(asked []Asked, baselines, learned []Foretold, from, until segue.Time, seed uint64) (RecordedReport, error) {
	report := RecordedReport{From: from, Until: until}
	for _, set := range []struct {
		name string
		in   func(a *Asked) bool
	}{
		{"all", func(*Asked) bool { return true }},
		{"not-held-back", func(a *Asked) bool { return !a.HeldBack }},
	} {
		var keep []int
		for i := range asked {
			if a := &asked[i]; a.Counts && a.At >= from && a.At < until && set.in(a) {
				keep = append(keep, i)
			}
		}
		if len(keep) == 0 {
			return report, segue.Errorf(segue.Invalid, "judge forecasts of recorded waits: no job of the set %s started that was submitted from %s up to %s", set.name, from, until)
		}
		report.Sets = append(report.Sets, scoreSet(set.name, asked, keep, baselines, learned, seed))
	}
	return report, nil
}

func scoreSet(name string, asked []Asked, keep []int, baselines, learned []Foretold, seed uint64) ScoredSet {
	set := ScoredSet{Name: name, Jobs: len(keep)}
	var losses [][]float64
	best := 0
	for k, row := range append(append([]Foretold{}, baselines...), learned...) {
		j := judgement{asked: asked, keep: keep, row: row}
		set.Scores, losses = append(set.Scores, j.score()), append(losses, j.losses)
		if k < len(baselines) && set.Scores[k].Pinball < set.Scores[best].Pinball {
			best = k
		}
	}
	set.Best = set.Scores[best].Title()
	at := make([]segue.Time, len(keep))
	for n, i := range keep {
		at[n] = asked[i].At
	}
	const blockDays, replicates = 4, 2000
	for k := range set.Scores {
		set.Scores[k].Against = evaluation.PairedDifference(at, losses[k], losses[best], blockDays, replicates, seed)
	}
	return set
}

// Title returns the name for tables.
func (s RowScore) Title() string {
	if s.Recalibrated {
		return s.Name + ", recalibrated"
	}
	return s.Name
}

// judgement scores one forecaster over the submissions to keep.
type judgement struct {
	asked  []Asked
	keep   []int
	row    Foretold
	losses []float64 // pinball, by submission
}

func (j *judgement) score() RowScore {
	n := len(j.keep)
	waited, medians, means, tops := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	months, loads := make([]string, n), make([]string, n)
	j.losses = make([]float64, n)
	crps := 0.0
	var sample []float64
	for k, i := range j.keep {
		a, f := &j.asked[i], j.row.Forecasts[i]
		waited[k] = countedWait(a.Left.Sub(a.At)).Hours()
		medians[k], means[k], tops[k] = f.Quantile(0.5).Hours(), f.Mean().Hours(), f.Quantile(0.9).Hours()
		for _, p := range recordedLevels {
			j.losses[k] += evaluation.Pinball(p, f.Quantile(p).Hours(), waited[k]) / float64(len(recordedLevels))
		}
		sample = sample[:0]
		for _, w := range f.Waits {
			sample = append(sample, w.Hours())
		}
		crps += evaluation.CRPS(sample, waited[k]) / float64(n)
		months[k], loads[k] = monthOf(a.At), a.load()
	}
	byLoad := j.groups(loads, medians, tops, waited)
	for k := range byLoad {
		byLoad[k].Group = strings.TrimLeft(byLoad[k].Group, "012 ")
	}
	return RowScore{
		Name: j.row.Name, Recalibrated: j.row.Recalibrated,
		MAE: evaluation.Number(evaluation.MAE(medians, waited)), Pinball: mean(j.losses), CRPS: evaluation.Number(crps),
		R:       evaluation.Number(evaluation.Pearson(means, waited)),
		Cover50: evaluation.Number(evaluation.Coverage(medians, waited)), Cover90: evaluation.Number(evaluation.Coverage(tops, waited)),
		Months: j.groups(months, medians, tops, waited), Loads: byLoad,
	}
}

// groups returns the coverage of each group.
func (j *judgement) groups(group []string, medians, tops, waited []float64) []CoverageOf {
	half, top := evaluation.CoverageBy(group, medians, waited), evaluation.CoverageBy(group, tops, waited)
	list := make([]CoverageOf, len(half))
	for k := range half {
		var losses []float64
		for i, g := range group {
			if g == half[k].Group {
				losses = append(losses, j.losses[i])
			}
		}
		list[k] = CoverageOf{half[k].Group, half[k].N, evaluation.Number(half[k].Coverage), evaluation.Number(top[k].Coverage), mean(losses)}
	}
	return list
}

func mean(values []float64) evaluation.Number {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return evaluation.Number(sum / float64(len(values)))
}

// load returns the load at the submission, after its number, by which it sorts: as
// told by the mean wait of the last hundred jobs that had started, which is
// evaluation.LoadOf of what anyone could see.
func (a *Asked) load() string {
	load := evaluation.LoadOf(a.Told["recent"].Mean().Hours())
	return fmt.Sprintf("%d %s", load, load)
}

// RecordedOrigins returns the instants at which models are trained: from, and
// then every step up to until, or the beginning of every month (UTC) for a step
// of 0.
func RecordedOrigins(from, until segue.Time, step time.Duration) []segue.Time {
	var origins []segue.Time
	for at := from; at < until; {
		origins = append(origins, at)
		if step > 0 {
			at = at.Add(step)
			continue
		}
		std := at.Std()
		at = segue.TimeOf(time.Date(std.Year(), std.Month()+1, 1, 0, 0, 0, 0, time.UTC))
	}
	return origins
}
