package trainer

import (
	"context"
	"fmt"
	"time"

	"github.com/segue-project/segue/simulator"
)

// Run replays a history from its first to its last event. progress, when not
// nil, is told now and then how many jobs have been submitted. The error is
// segue.Invalid for a cluster or job that cannot be, or that of ctx.
func Run(ctx context.Context, r Replay, progress func(arrived int)) (simulator.Result, error) {
	cluster, err := simulator.New(r.Cluster, r.Jobs)
	if err != nil {
		return simulator.Result{}, fmt.Errorf("replay: %w", err)
	}
	span := r.span()
	const slices = 200
	slice := max(span.To.Sub(span.From)/slices, time.Second)
	arrived := 0
	for t := span.From; t <= span.To; t = t.Add(slice) {
		if err := ctx.Err(); err != nil {
			return simulator.Result{}, err
		}
		cluster.AdvanceTo(t)
		if progress == nil {
			continue
		}
		for arrived < len(r.Jobs) && r.Jobs[arrived].Submit < t {
			arrived++
		}
		progress(arrived)
	}
	cluster.Run()
	if progress != nil {
		progress(len(r.Jobs))
	}
	return cluster.Result(), nil
}
