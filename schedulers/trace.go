package schedulers

import (
	"context"
	"fmt"

	"github.com/segue-project/segue"
)

// Fate is what became of a job that waited when it was last shown, and that no
// source knows by its number any more.
type Fate uint8

// What may have become of such a job. FateOpen is the zero value.
const (
	FateOpen  Fate = iota // nobody can tell: it may have run, and been forgotten
	FateThere             // it is there all the same
	FateLost              // the scheduler has lost it, and never started it
)

// Trace tells the fate of a job that waited when it was last shown, that carries
// the token and was submitted at the instant since, once Status has said that it
// ended, and of no source how. Before another one may take its place it is looked
// for by its token; job is its number where it is there. Where the accounting
// answers, a job of which it knows no start never had one. Without accounting only
// a job that was submitted so lately that it could not have run and been forgotten
// is lost for certain.
func (c *Cluster) Trace(ctx context.Context, id segue.JobID, token string, since segue.Time) (fate Fate, job segue.JobID, err error) {
	jobs, unseen := c.find(ctx, token, since)
	if unseen == nil && len(jobs) == 0 {
		return FateLost, segue.JobID{}, nil
	}
	c.forget()
	state, err := c.State(ctx)
	if err != nil {
		return FateOpen, segue.JobID{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if shown := state.Carrying(token); len(shown) > 0 {
		return FateThere, shown[0], nil
	}
	caps, err := c.Capabilities(ctx)
	switch {
	case err != nil:
		return FateOpen, segue.JobID{}, fmt.Errorf("trace %s: %w", token, err)
	case !caps.Accounting:
		return FateOpen, segue.JobID{}, nil
	case unseen == nil:
		id = jobs[0] // else the accounting keeps no tokens, and is asked by the number
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	accounted, err := c.driver.Status(ctx, []segue.JobID{id})
	if err != nil {
		return FateOpen, segue.JobID{}, fmt.Errorf("trace %s: %w", token, err)
	}
	if s, ok := accounted[id]; ok && s.Token == token && s.HasRun() {
		return FateThere, id, nil
	}
	return FateLost, segue.JobID{}, nil
}
