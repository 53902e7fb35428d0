package schedulers

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
)

// Fate is what became of a job that waited when it was last shown, and that no
// source knows by its number any more.
type Fate uint8

// What may have become of such a job. FateUnknown is the zero value.
const (
	FateUnknown Fate = iota // it cannot be told yet: the accounting lags behind
	FateOpen                // nobody can tell any more: it may have run, and been forgotten
	FateThere               // it is there all the same, or has run
	FateLost                // the scheduler has lost it, and never started it
)

// Traced is a job's fate.
type Traced struct {
	Fate Fate
	// Job is its number where Fate is FateThere.
	Job segue.JobID
	// Status is what the accounting says of a job that is there, and that the
	// scheduler does not show: its Life is Unknown where the scheduler shows it.
	Status Status
}

// Trace tells the fate of a job that waited when it was last shown, that carries
// the token and was submitted at the instant since, once Status has said that it
// ended, and of no source how. Before another one may take its place it is looked
// for by its token. Where the accounting answers, and has been told everything, a
// job of which it knows no start never had one. Without accounting only a job that
// was submitted so lately that it could not have run and been forgotten is lost for
// certain. An error, of kind Unavailable, leaves the fate unknown.
func (c *Cluster) Trace(ctx context.Context, id segue.JobID, token string, since segue.Time) (Traced, error) {
	books, ok := c.driver.(Bookkeeper)
	if !ok {
		return c.traceAlone(ctx, id, token, since)
	}
	c.forget()
	state, err := c.State(ctx)
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if shown := state.Carrying(token); len(shown) > 0 {
		return Traced{Fate: FateThere, Job: shown[0], Status: unknown()}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	ledger, err := books.Ledger(ctx, since)
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	return ledger.fate(id, token, since), nil
}

// traceAlone asks a driver that is no Bookkeeper.
func (c *Cluster) traceAlone(ctx context.Context, id segue.JobID, token string, since segue.Time) (Traced, error) {
	jobs, unseen := c.find(ctx, token, since)
	if unseen == nil && len(jobs) == 0 {
		return Traced{Fate: FateLost, Status: unknown()}, nil
	}
	c.forget()
	state, err := c.State(ctx)
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if shown := state.Carrying(token); len(shown) > 0 {
		return Traced{Fate: FateThere, Job: shown[0], Status: unknown()}, nil
	}
	caps, err := c.Capabilities(ctx)
	switch {
	case err != nil:
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	case !caps.Accounting:
		return Traced{Fate: FateOpen, Status: unknown()}, nil
	case unseen == nil:
		id = jobs[0] // else the accounting keeps no tokens, and is asked by the number
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	accounted, err := c.driver.Status(ctx, []segue.JobID{id})
	if err != nil {
		return Traced{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if s, ok := accounted[id]; ok && s.Token == token && s.HasRun() {
		return Traced{Fate: FateThere, Job: id, Status: s}, nil
	}
	return Traced{Fate: FateLost, Status: unknown()}, nil
}
