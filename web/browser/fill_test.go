package browser

import (
	"cmp"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/internal/toymodel"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// manyChains is how many chains there are beside those with a story.
const manyChains = 5000

// filler fills a store for the test, relative to now.
type filler struct {
	t   *testing.T
	s   *store.Store
	now segue.Time
	rng *rand.Rand
	dir string
}

// fill makes what a server has after two months, and returns the secrets of a user
// and of a reader.
func fill(t *testing.T, dir string) map[string]string {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, "segue.db"), store.Config{Volatile: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	f := &filler{t: t, s: s, now: segue.TimeOf(time.Now().Truncate(time.Minute)), rng: rand.New(rand.NewPCG(1, 2)), dir: dir}
	f.history()
	f.stories()
	f.many()
	f.models()
	f.trainings()
	secrets := map[string]string{}
	for user, scopes := range map[string][]api.Scope{"ada": {api.ScopeChains}, "reader": {api.ScopeRead}} {
		_, secret, err := server.CreateToken(t.Context(), s, server.Grant{User: user, Scopes: scopes}, "test", f.now)
		f.must(err)
		secrets[user] = secret
	}
	f.must(s.Close())
	return secrets
}

func (f *filler) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

var shapes = []segue.Shape{{Nodes: 1, Limit: 48 * time.Hour}, {Nodes: 4, Limit: 48 * time.Hour}, {Nodes: 8, Limit: 24 * time.Hour}, {Nodes: 2, Limit: 4 * time.Hour}}

// history is two months of a cluster of 60 nodes, with three days missing.
func (f *filler) history() {
	jobs := func(yield func(segue.Job, error) bool) {
		for i := range 6000 {
			submit := f.now.Add(-60*24*time.Hour + time.Duration(i)*(60*24*time.Hour/6000))
			if age := f.now.Sub(submit); age > 20*24*time.Hour && age < 23*24*time.Hour {
				continue
			}
			s := shapes[f.rng.IntN(len(shapes))]
			wait := time.Duration(f.rng.ExpFloat64() * float64(time.Duration(s.Nodes)*time.Hour))
			run := time.Duration(f.rng.Float64() * float64(s.Limit))
			j := segue.Job{
				ID: segue.JobID{Number: int64(i + 1)}, User: fmt.Sprintf("u%d", i%40), Submit: submit, Eligible: submit, Start: submit.Add(wait),
				Limit: s.Limit, Nodes: int32(s.Nodes), State: segue.Completed,
			}
			j.End = j.Start.Add(run)
			if j.End > f.now {
				j.End, j.State = segue.NoTime, segue.Running
			}
			if j.Start > f.now {
				j.Start, j.End, j.State = segue.NoTime, segue.NoTime, segue.Pending
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	_, err := f.s.ImportJobs(f.t.Context(), "ls6", jobs)
	f.must(err)
	f.must(f.s.SetAccounted(f.t.Context(), "ls6", f.now.Add(-40*time.Minute)))
}

// stories are chains with links, decisions and outcomes.
func (f *filler) stories() {
	for i, c := range []struct{ id, name, user string }{
		{"llama70b", "llama-70b-pretrain", "ada"}, {"serve01", "inference-server", "ada"}, {"vision3", "vision-encoder", "bob"}, {"protein9", "protein-folding", "cleo"},
	} {
		f.story(c.id, c.name, c.user, 8+3*i, i)
	}
}

func (f *filler) story(id, name, user string, links, kind int) {
	ctx, shape := f.t.Context(), shapes[kind%2]
	request := segue.Request{Shape: shape, User: user, Partition: "gpu", Account: "research"}
	remaining := time.Duration(9+3*kind) * time.Hour
	start := f.now.Add(-shape.Limit + remaining).Add(-time.Duration(links-1) * 46 * time.Hour)
	first := f.link(id, 1, start, start.Add(-time.Hour), start.Add(shape.Limit))
	f.must(f.s.CreateChain(ctx, segue.Chain{
		ID: id, Name: name, User: user, Created: start.Add(-time.Hour), Request: request, Terms: segue.Terms{Prefer: segue.Balanced}.WithDefaults(),
	}, first))
	last := first
	for n := 2; n <= links; n++ {
		at := last.End.Add(-time.Duration(5+f.rng.IntN(4)) * time.Hour)
		d := f.decision(at, request, last.End.Sub(at), true)
		waits := f.decision(at.Add(-4*time.Hour), request, last.End.Sub(at)+4*time.Hour, false)
		f.must(f.s.RecordDecision(ctx, store.Recorded{Chain: id, Number: n, Attempt: 1, Decision: waits}))
		next, err := f.s.NextLink(ctx, last, d)
		f.must(err)
		wait := d.Forecast.Quantile(min(1, f.rng.Float64()*1.08))
		l := f.link(id, n, at.Add(wait), at, at.Add(wait+shape.Limit))
		l.Planned = next.Planned
		if n == links {
			l.Start = f.now.Add(-shape.Limit + remaining)
			l.Submitted, l.End = l.Start.Add(-wait), l.Start.Add(shape.Limit)
			l.State = segue.LinkRunning
		}
		f.must(f.s.UpdateLink(ctx, next.State, l))
		gap := l.Start.Sub(last.End)
		f.must(f.s.RecordOutcome(ctx, store.Outcome{Chain: id, Number: n, At: l.Start, Interruption: max(0, gap), Overlap: max(0, -gap)}))
		last = l
	}
	open := f.decision(f.now.Add(-2*time.Minute), request, remaining, false)
	f.must(f.s.RecordDecision(ctx, store.Recorded{Chain: id, Number: links + 1, Attempt: 1, Decision: open}))
}

func (f *filler) link(chain string, number int, start, submitted, end segue.Time) segue.Link {
	return segue.Link{
		Chain: chain, Number: number, Attempt: 1, State: segue.LinkEnded, Job: segue.JobID{Number: 40_000 + int64(number)}, Planned: submitted,
		Submitted: submitted, Start: start, End: end, Ready: segue.NoTime, Ended: segue.Timeout,
	}
}

// decision is one by a forecast whose waits are about 4 hours.
func (f *filler) decision(at segue.Time, r segue.Request, remaining time.Duration, submit bool) segue.Decision {
	waits := make([]time.Duration, 100)
	for i := range waits {
		waits[i] = time.Duration((0.4 + f.rng.ExpFloat64()*3) * float64(time.Hour))
	}
	d := segue.Decision{
		At: at, Policy: "planner", Request: r, Remaining: remaining, Prefer: segue.Balanced, Submit: submit, SubmitAt: at,
		Forecast: segue.NewForecast(at, "montecarlo", waits), Reason: "The planner covers the 80 % quantile of the wait.",
	}
	for lead := time.Duration(0); ; lead += time.Hour {
		lead = min(lead, remaining)
		left := remaining - lead
		a := segue.Alternative{
			SubmitAt: at.Add(lead), Interruption: d.Forecast.Interruption(left), Overlap: d.Forecast.Overlap(left), StartsBeforeEnd: d.Forecast.StartsWithin(left), Forecaster: "montecarlo",
		}
		a.Cost = d.Prefer.Cost(a.Interruption, a.Overlap)
		d.Alternatives = append(d.Alternatives, a)
		if lead == remaining {
			break
		}
	}
	if !submit { // the cheapest moment of those that are later
		d.SubmitAt = slices.MinFunc(d.Alternatives[1:], func(a, b segue.Alternative) int { return cmp.Compare(a.Cost, b.Cost) }).SubmitAt
	}
	return d
}

// many are chains of one link each.
func (f *filler) many() {
	states := []segue.ChainState{segue.ChainActive, segue.ChainDone, segue.ChainPaused, segue.ChainFailed, segue.ChainStopped}
	for i := range manyChains {
		id := fmt.Sprintf("many%04d", i)
		created := f.now.Add(-time.Duration(i+3) * 20 * time.Minute)
		user := fmt.Sprintf("u%d", i%40)
		c := segue.Chain{ID: id, Name: fmt.Sprintf("sweep-%d", i%17), User: user, Created: created, Request: segue.Request{Shape: shapes[i%3], User: user}}
		l := f.link(id, 1, created.Add(time.Hour), created, created.Add(49*time.Hour))
		if l.End > f.now {
			l.State = segue.LinkRunning
		}
		f.must(f.s.CreateChain(f.t.Context(), c, l))
		if to := states[i%len(states)]; to != segue.ChainActive {
			f.must(f.s.SetChainState(f.t.Context(), id, segue.ChainActive, to, "What the test says of a chain that is "+to.String()+"."))
		}
	}
}

// models are three, of which the second is the champion after the first.
func (f *filler) models() {
	folder := filepath.Join(f.dir, "models")
	f.must(os.MkdirAll(folder, 0o700))
	at := f.now.Add(-72 * time.Hour)
	r := models.NewRegistry(folder, func() segue.Time { return at })
	parent := ""
	for i, id := range []string{"2026-01", "2026-02", "2026-03"} {
		m := toymodel.Manifest(id)
		m.Parent, m.Created = parent, models.Instant(at.Add(time.Duration(i)*24*time.Hour))
		m.Metrics = map[string]float64{"pinball_hours": 1.42 - 0.1*float64(i), "coverage_0.9": 0.86 + 0.02*float64(i), "cost_hours": 2.31 - 0.2*float64(i)}
		f.must(r.Write(m, toymodel.Files(f.t, toymodel.New(f.t, 4*time.Hour, time.Duration(5+i)*time.Hour, "moe"))))
		if i < 2 {
			f.must(r.Promote(id, "It costs 0.2 h a start less on the days that both had not seen."))
			parent = id
		}
	}
	f.must(r.Keep("2026-03", "The interval of the difference holds 0."))
}

func (f *filler) trainings() {
	for i, t := range []store.Training{
		{State: store.TrainingPromoted, Step: "promote", Why: "It costs 0.2 h a start less.", Model: "2026-02", Cause: "schedule"},
		{State: store.TrainingKept, Step: "promote", Why: "The interval of the difference holds 0.", Model: "2026-03", Cause: "schedule"},
		{State: store.TrainingRunning, Step: "train", Cause: "hand"},
	} {
		t.Started = f.now.Add(-time.Duration(2-i)*24*time.Hour - 17*time.Minute)
		t.ID, t.Cluster, t.Scheduled, t.Ended = t.Started.Std().Format("20060102-150405"), "ls6", segue.NoTime, t.Started.Add(41*time.Minute)
		if t.State == store.TrainingRunning {
			t.Ended = segue.NoTime
		}
		t.Folder = filepath.Join(f.dir, "trainings", t.ID)
		f.must(os.MkdirAll(t.Folder, 0o700))
		f.must(os.WriteFile(filepath.Join(t.Folder, "log"), []byte(logOf(t)), 0o600))
		f.must(f.s.BeginTraining(f.t.Context(), t))
	}
}

// logOf is what a training writes, up to where it came.
func logOf(t store.Training) string {
	at := func(after time.Duration) string { return t.Started.Add(after).Std().UTC().Format(time.RFC3339) }
	log := fmt.Sprintf(`%s collect
%s export
5700 jobs, submitted from %s to %s
%s train
+ segue-trainer train --out trainings/%s/%s --until %s --trace trainings/%s/history.parquet --nodes 60
samples
trees
policy moe-dqn
`, at(0), at(9*time.Second), at(-60*24*time.Hour), at(-time.Minute), at(12*time.Second), t.ID, t.Model, at(-21*24*time.Hour), t.ID)
	if t.State == store.TrainingRunning {
		return log
	}
	return log + fmt.Sprintf(`%s promote
+ segue-trainer promote --registry models --challenger trainings/%s/%s --from %s --until %s
Reason: %s
`, at(33*time.Minute), t.ID, t.Model, at(-21*24*time.Hour), at(0), t.Why)
}
