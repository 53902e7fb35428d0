package trainer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/traces/infer"
)

// FidelityConfig says what to compare. History and Cluster are required.
type FidelityConfig struct {
	History []segue.Job
	Cluster simulator.Config // of one pool
	// From is the first submission that counts; default the history's first.
	From segue.Time
	// HeldOut is the first submission that no choice may look at; default the
	// beginning of the last calendar month (UTC) that has half as many jobs as the
	// mean month.
	HeldOut segue.Time
	// Progress, when not nil, is told the number of replays done and to do.
	Progress func(done, total int)
}

// Fidelity says how far simulated waits agree with the recorded ones.
type Fidelity struct {
	Nodes    int        `json:"nodes"` // of the plain replay
	From     segue.Time `json:"-"`
	HeldOut  segue.Time `json:"-"`
	Attempts []Attempt  `json:"attempts"`
	// Faithful looks into the attempt of that name.
	Groups   []Group  `json:"groups"`
	Months   []Group  `json:"months"`
	Leftover Leftover `json:"leftover"`
}

// Attempt is one way to replay the history, and what came of it.
type Attempt struct {
	Name string `json:"name"` // stable
	What string `json:"what"`
	// Whole covers all submissions from From on, Fitted those before HeldOut, by
	// which the configuration was chosen, Held the others.
	Whole  Comparison `json:"whole"`
	Fitted Comparison `json:"fitted"`
	Held   Comparison `json:"held_out"`
}

// Comparison holds three sets of started jobs: all of them, those that their own
// users' jobs did not hold back, and of these the ones with long limits.
type Comparison struct {
	All  Agreement `json:"all"`
	Free Agreement `json:"not_held_back"`
	Long Agreement `json:"not_held_back_long"`
}

// LongLimit is the time limit from which on a job counts as long.
const LongLimit = 40 * time.Hour

// Group is a set of jobs with its agreement.
type Group struct {
	Name string `json:"name"`
	Agreement
}

// Agreement compares recorded waits with simulated ones, in hours.
type Agreement struct {
	Jobs int `json:"jobs"`
	// R is Pearson's correlation, LogR that of log(1 + hours), Rank Spearman's.
	R    evaluation.Number `json:"r"`
	LogR evaluation.Number `json:"r_of_logs"`
	Rank evaluation.Number `json:"rank_correlation"`
	// MAE is the mean absolute error.
	MAE       evaluation.Number `json:"mean_absolute_error_hours"`
	Recorded  Spread            `json:"recorded_hours"`
	Simulated Spread            `json:"simulated_hours"`
}

// Spread is the mean, the median and the 90 % point of waits in hours.
type Spread struct {
	Mean evaluation.Number `json:"mean"`
	P50  evaluation.Number `json:"p50"`
	P90  evaluation.Number `json:"p90"`
}

// Agree compares two equally long lists of waits in hours.
func Agree(recorded, simulated []float64) Agreement {
	logs := func(waits []float64) []float64 {
		l := make([]float64, len(waits))
		for i, w := range waits {
			l[i] = math.Log1p(max(w, 0))
		}
		return l
	}
	return Agreement{
		Jobs:     len(recorded),
		R:        evaluation.Number(evaluation.Pearson(recorded, simulated)),
		LogR:     evaluation.Number(evaluation.Pearson(logs(recorded), logs(simulated))),
		Rank:     evaluation.Number(evaluation.Spearman(recorded, simulated)),
		MAE:      evaluation.Number(evaluation.MAE(recorded, simulated)),
		Recorded: spreadOf(recorded), Simulated: spreadOf(simulated),
	}
}

func spreadOf(waits []float64) Spread {
	sorted := slices.Sorted(slices.Values(waits))
	if len(sorted) == 0 {
		nan := evaluation.Number(math.NaN())
		return Spread{nan, nan, nan}
	}
	sum := 0.0
	for _, w := range sorted {
		sum += w
	}
	n := float64(len(sorted))
	return Spread{evaluation.Number(sum / n), quantileOf(sorted, 0.5), quantileOf(sorted, 0.9)}
}

// study is a fidelity study under way.
type study struct {
	FidelityConfig
	found *infer.Result
	plain Replay
}

// MeasureFidelity replays the history in every way that Attempts lists and
// compares the waits with the recorded ones, job by job.
func MeasureFidelity(ctx context.Context, cfg FidelityConfig) (Fidelity, error) {
	s, err := newStudy(cfg)
	if err != nil {
		return Fidelity{}, fmt.Errorf("fidelity: %w", err)
	}
	result := Fidelity{Nodes: cfg.Cluster.Pools[0].Nodes, From: s.From, HeldOut: s.HeldOut}
	ways := s.ways()
	for k, way := range ways {
		starts, err := s.starts(ctx, way.replay)
		if err != nil {
			return Fidelity{}, fmt.Errorf("fidelity: %s: %w", way.name, err)
		}
		result.Attempts = append(result.Attempts, s.attempt(way, starts))
		if way.name == faithfulName {
			result.Groups, result.Months = s.groups(way.replay, starts), s.months(starts)
			result.Leftover = s.leftover(way.replay, starts)
		}
		if s.Progress != nil {
			s.Progress(k+1, len(ways))
		}
	}
	return result, nil
}

func newStudy(cfg FidelityConfig) (*study, error) {
	replays, err := Replays(cfg.History, cfg.Cluster, false)
	if err != nil {
		return nil, err
	}
	s := &study{FidelityConfig: cfg, plain: replays[0], found: infer.Infer(cfg.History, infer.Config{})}
	if s.From == 0 {
		s.From = firstSubmit(cfg.History)
	}
	if s.HeldOut == 0 {
		s.HeldOut = lastMonth(cfg.History)
	}
	if s.count(func(i int) bool { return s.counts(i) }) == 0 {
		return nil, segue.Errorf(segue.Invalid, "no job that was submitted from %s on started and took time: there is no wait to compare", s.From)
	}
	return s, nil
}

// lastMonth returns the beginning of the last calendar month with at least half
// as many jobs as the mean month.
func lastMonth(history []segue.Job) segue.Time {
	jobs := map[segue.Time]int{}
	for i := range history {
		at := history[i].Submit.Std()
		jobs[segue.TimeOf(time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC))]++
	}
	last := segue.NoTime
	for month, n := range jobs {
		if n*len(jobs)*2 >= len(history) {
			last = max(last, month)
		}
	}
	return last
}

func (s *study) starts(ctx context.Context, r Replay) ([]segue.Time, error) {
	result, err := Run(ctx, r, nil)
	return result.Starts, err
}

// counts reports whether the job started, took time and was submitted late
// enough to count.
func (s *study) counts(i int) bool {
	j := &s.History[i]
	return j.Submit >= s.From && j.Ran() && j.End > j.Start
}

func (s *study) count(selected func(i int) bool) int {
	n := 0
	for i := range s.History {
		if selected(i) {
			n++
		}
	}
	return n
}

func (s *study) free(i int) bool   { return !s.found.SelfBlocked[i] }
func (s *study) fitted(i int) bool { return s.History[i].Submit < s.HeldOut }

func (s *study) attempt(w way, starts []segue.Time) Attempt {
	compare := func(period func(i int) bool) Comparison {
		return Comparison{
			All:  s.agree(starts, period),
			Free: s.agree(starts, func(i int) bool { return period(i) && s.free(i) }),
			Long: s.agree(starts, func(i int) bool { return period(i) && s.free(i) && s.History[i].Limit >= LongLimit }),
		}
	}
	return Attempt{
		Name: w.name, What: w.what,
		Whole:  compare(func(int) bool { return true }),
		Fitted: compare(s.fitted),
		Held:   compare(func(i int) bool { return !s.fitted(i) }),
	}
}

// agree compares the waits from submission of the selected jobs that count.
func (s *study) agree(starts []segue.Time, selected func(i int) bool) Agreement {
	var recorded, simulated []float64
	for i := range s.History {
		if j := &s.History[i]; s.counts(i) && starts[i].Known() && selected(i) {
			recorded = append(recorded, j.Wait().Hours())
			simulated = append(simulated, starts[i].Sub(j.Submit).Hours())
		}
	}
	return Agree(recorded, simulated)
}

// groups compares the faithful replay over sets of jobs. The waits of jobs that
// were held back count from when they could run: in the simulated schedule as
// inferred from it, as in the recorded one.
func (s *study) groups(r Replay, starts []segue.Time) []Group {
	shape := func(lo, hi int32) func(i int) bool {
		return func(i int) bool { return s.free(i) && s.History[i].Nodes >= lo && s.History[i].Nodes <= hi }
	}
	return []Group{
		{"all jobs", s.agree(starts, func(int) bool { return true })},
		{"not held back by own jobs", s.agree(starts, s.free)},
		{"held back, from submission", s.agree(starts, func(i int) bool { return !s.free(i) })},
		{"held back, from when they could run", s.sinceEligible(r, starts)},
		{"not held back, limit of 40 h and more", s.agree(starts, func(i int) bool { return s.free(i) && s.History[i].Limit >= LongLimit })},
		{"not held back, 1 node", s.agree(starts, shape(1, 1))},
		{"not held back, 2 to 4 nodes", s.agree(starts, shape(2, 4))},
		{"not held back, more nodes", s.agree(starts, shape(5, math.MaxInt32))},
	}
}

func (s *study) sinceEligible(r Replay, starts []segue.Time) Agreement {
	simulated := slices.Clone(s.History)
	for i := range simulated {
		j := &simulated[i]
		if starts[i].Known() {
			j.Start, j.End, j.Eligible = starts[i], starts[i].Add(r.Jobs[i].Run), segue.NoTime
		}
	}
	eligible := infer.Infer(simulated, infer.Config{}).Eligible
	for _, d := range s.found.Dependencies {
		eligible[d.Job] = max(eligible[d.Job], min(simulated[d.After].End, starts[d.Job]))
	}
	var a, b []float64
	for i := range s.History {
		if s.counts(i) && !s.free(i) && starts[i].Known() {
			a = append(a, s.History[i].Start.Sub(s.found.Eligible[i]).Hours())
			b = append(b, starts[i].Sub(max(eligible[i], s.History[i].Submit)).Hours())
		}
	}
	return Agree(a, b)
}

// months compares the jobs that were not held back, by month of submission.
func (s *study) months(starts []segue.Time) []Group {
	var names []string
	for i := range s.History {
		if s.counts(i) {
			names = append(names, monthOf(s.History[i].Submit))
		}
	}
	slices.Sort(names)
	var groups []Group
	for _, name := range slices.Compact(names) {
		groups = append(groups, Group{name, s.agree(starts, func(i int) bool { return s.free(i) && monthOf(s.History[i].Submit) == name })})
	}
	return groups
}

func monthOf(t segue.Time) string { return t.Std().Format("2006-01") }

// quantileOf returns the p-quantile of sorted values, interpolated linearly
// (type 7 of Hyndman and Fan).
func quantileOf(sorted []float64, p float64) evaluation.Number {
	pos := p * float64(len(sorted)-1)
	lo := int(pos)
	hi := min(lo+1, len(sorted)-1)
	return evaluation.Number(sorted[lo] + (pos-float64(lo))*(sorted[hi]-sorted[lo]))
}
