package server

import (
	"context"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
)

// chains are the chains of a store.
type chains struct{ store *store.Store }

func (c chains) Chains(ctx context.Context, q api.ChainQuery) ([]segue.Chain, error) {
	return c.store.Chains(ctx, store.ChainQuery{User: q.User, States: q.States, Limit: q.Limit, Before: q.Before, BeforeID: q.BeforeID})
}

func (c chains) Chain(ctx context.Context, id string) (segue.Chain, error) {
	chain, err := c.store.Chain(ctx, id)
	chain.Submission = segue.Submission{} // an environment is nobody's business
	return chain, err
}

func (c chains) Links(ctx context.Context, id string) ([]segue.Link, error) {
	return c.store.Links(ctx, id)
}

func (c chains) Decisions(ctx context.Context, q api.DecisionQuery) ([]api.Recorded, error) {
	all, err := c.store.DecisionsBefore(ctx, q.Chain, store.Place{At: q.Before, Number: q.BeforeLink, Attempt: q.BeforeTry}, q.Limit)
	if err != nil {
		return nil, err
	}
	out := make([]api.Recorded, len(all))
	for i, r := range all {
		out[i] = api.Recorded{Number: r.Number, Attempt: r.Attempt, Decision: r.Decision, Known: r.Outcome != nil}
		if o := r.Outcome; o != nil {
			out[i].Interruption, out[i].Overlap = o.Interruption, o.Overlap
		}
	}
	return out, nil
}

func (c chains) SetState(ctx context.Context, id string, from, to segue.ChainState, why string) error {
	return c.store.SetChainState(ctx, id, from, to, why)
}

// histories are the histories of a store.
type histories struct {
	store   *store.Store
	advisor *advisor
	// counts and statistics look at every job.
	counts     fresh[[]api.History]
	statistics fresh[api.Statistics]
}

// How long a count of the jobs and a description of a history serve everybody: what
// comes in through this server is seen at once.
const (
	countsFresh     = 10 * time.Second
	statisticsFresh = time.Minute
)

func newHistories(s *store.Store, a *advisor, now func() segue.Time) *histories {
	return &histories{
		store: s, advisor: a,
		counts: fresh[[]api.History]{now: now, span: countsFresh}, statistics: fresh[api.Statistics]{now: now, span: statisticsFresh},
	}
}

// Histories implements api.Histories.
func (h *histories) Histories(ctx context.Context) ([]api.History, error) {
	return h.counts.get(ctx, "", h.count)
}

func (h *histories) count(ctx context.Context) ([]api.History, error) {
	all, err := h.store.Histories(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]api.History, len(all))
	for i, one := range all {
		out[i] = api.History{Cluster: one.Cluster, Jobs: one.Jobs, First: one.First, Last: one.Last, Seen: one.Seen, Accounted: one.Accounted}
	}
	return out, nil
}

// Statistics implements api.Histories.
func (h *histories) Statistics(ctx context.Context, cluster string) (api.Statistics, error) {
	return h.statistics.get(ctx, cluster, func(ctx context.Context) (api.Statistics, error) { return h.describe(ctx, cluster) })
}

func (h *histories) describe(ctx context.Context, cluster string) (api.Statistics, error) {
	s, err := traces.Stats(h.store.Jobs(ctx, store.JobQuery{Cluster: cluster}), traces.Header{})
	if err != nil {
		return api.Statistics{}, err
	}
	if s.Jobs == 0 {
		return api.Statistics{}, segue.Errorf(segue.NotFound, "there is no history of cluster %q", cluster)
	}
	out := api.Statistics{
		Cluster: cluster, Jobs: s.Jobs, Started: s.Started, NeverStarted: s.NeverStarted, NotEnded: s.NotEnded,
		FirstSubmit: known(s.FirstSubmit), LastSubmit: known(s.LastSubmit), NodeHours: s.NodeHours, GPUHours: s.GPUHours,
		Users: s.Users.Distinct, Wait: spread(s.Wait), Run: spread(s.Run), Nodes: s.Busy.Proposed,
		Shapes: []api.ShapeCount{}, Months: []api.Month{},
	}
	for _, shape := range s.Shapes.Top {
		out.Shapes = append(out.Shapes, api.ShapeCount{Shape: shape.String(), Jobs: shape.Jobs})
	}
	for _, m := range s.Months {
		out.Months = append(out.Months, api.Month{Name: m.Name, Jobs: m.Jobs, MeanWait: m.MeanWait.Seconds()})
	}
	return out, nil
}

func known(t segue.Time) *string {
	if !t.Known() {
		return nil
	}
	s := t.String()
	return &s
}

func spread(d traces.Durations) *api.Spread {
	if d.Count == 0 {
		return nil
	}
	return &api.Spread{Count: d.Count, Mean: d.Mean.Seconds(), P50: d.P50.Seconds(), P90: d.P90.Seconds(), P99: d.P99.Seconds(), Max: d.Max.Seconds()}
}

// auditor is the audit log of a store.
type auditor struct{ store *store.Store }

func (a auditor) Begin(ctx context.Context, l api.AuditLine) error {
	return a.store.BeginAudit(ctx, store.Audit(l))
}

func (a auditor) End(ctx context.Context, id string, status int, detail string) error {
	return a.store.EndAudit(ctx, id, status, detail)
}

func (a auditor) Lines(ctx context.Context, before segue.Time, beforeID string, limit int) ([]api.AuditLine, error) {
	lines, err := a.store.AuditLog(ctx, store.AuditQuery{Before: before, BeforeID: beforeID, Limit: limit})
	out := make([]api.AuditLine, len(lines))
	for i, l := range lines {
		out[i] = api.AuditLine(l)
	}
	return out, err
}

// answersKept is how long an answer to a write is kept.
const answersKept = 24 * time.Hour

// answers are answers to writes in a store.
type answers struct {
	store *store.Store
	now   func() segue.Time
}

func (a answers) Claim(ctx context.Context, c api.Answer, within time.Duration) (api.Answer, bool, error) {
	now := a.now()
	known, mine, err := a.store.ClaimAnswer(ctx, a.kept(c, now), now.Add(-answersKept), now.Add(-within))
	return api.Answer{
		Owner: known.Owner, Key: known.Key, Fingerprint: known.Fingerprint, At: known.At, Status: known.Status, Kind: known.Kind, Body: known.Body,
	}, mine, err
}

func (a answers) Keep(ctx context.Context, c api.Answer) error {
	return a.store.KeepAnswer(ctx, a.kept(c, a.now()))
}

func (a answers) Drop(ctx context.Context, owner, key string) error {
	return a.store.DropAnswer(ctx, owner, key)
}

func (answers) kept(c api.Answer, at segue.Time) store.Answer {
	return store.Answer{Owner: c.Owner, Key: c.Key, Fingerprint: c.Fingerprint, At: at, Status: c.Status, Kind: c.Kind, Body: c.Body}
}
