package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/web"
)

// historiesFresh is how long a count of the jobs serves everybody.
const historiesFresh = 30 * time.Second

// counted returns the histories, whose jobs are counted now and then.
func (d *dashboard) counted(ctx context.Context) ([]store.History, error) {
	now := d.server.cfg.Now()
	d.mu.Lock()
	known, at := d.histories, d.historiesAt
	d.mu.Unlock()
	if at.Known() && now.Sub(at).Abs() < historiesFresh {
		return known, nil
	}
	all, err := d.server.store.Histories(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.histories, d.historiesAt = all, now
	return all, nil
}

// Histories implements web.Histories.
func (d *dashboard) Histories(ctx context.Context) ([]web.History, error) {
	all, err := d.counted(ctx)
	out := make([]web.History, len(all))
	for i, h := range all {
		out[i] = web.History{Cluster: h.Cluster, Jobs: h.Jobs, First: h.First, Last: h.Last, Seen: h.Seen, Accounted: h.Accounted}
	}
	return out, err
}

// Coverage implements web.Histories.
func (d *dashboard) Coverage(ctx context.Context, cluster string) (web.Coverage, error) {
	c, err := d.server.store.Coverage(ctx, cluster)
	out := web.Coverage{Estimated: c.Estimated, Snapshots: c.Snapshots, FirstSnapshot: c.FirstSnapshot}
	for _, day := range c.Days {
		out.Days = append(out.Days, web.Day{Begin: day.Day, Jobs: day.Jobs})
	}
	return out, err
}

// webTrainings are the trainings of a store, for the pages.
type webTrainings struct{ *dashboard }

// Trainings implements web.Trainings.
func (t webTrainings) Trainings(ctx context.Context, n int) ([]web.Training, error) {
	all, err := t.server.store.Trainings(ctx, "", n)
	out := make([]web.Training, len(all))
	for i, one := range all {
		out[i] = web.Training{
			ID: one.ID, Cluster: one.Cluster, Cause: one.Cause, Started: one.Started, Ended: one.Ended,
			State: string(one.State), Step: one.Step, Why: one.Why, Model: one.Model,
		}
	}
	return out, err
}

// mostTrainings is among how many of the latest a log is looked for.
const mostTrainings = 1000

// Log implements web.Trainings. The folder is the one that the store names, never
// one that a request does.
func (t webTrainings) Log(ctx context.Context, id string, most int64) (tail []byte, size int64, err error) {
	all, err := t.server.store.Trainings(ctx, "", mostTrainings)
	if err != nil {
		return nil, 0, err
	}
	i := slices.IndexFunc(all, func(one store.Training) bool { return one.ID == id })
	if i < 0 || all[i].Folder == "" {
		return nil, 0, segue.Errorf(segue.NotFound, "there is no log of training %q", id)
	}
	f, err := os.Open(filepath.Join(all[i].Folder, "log"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, segue.Errorf(segue.NotFound, "the log of training %s is not on this machine, or was removed", id)
	case err != nil:
		return nil, 0, fmt.Errorf("open the log of training %s: %w", id, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of training %s: %w", id, err)
	}
	size = info.Size()
	tail, err = io.ReadAll(io.NewSectionReader(f, max(0, size-most), most))
	if err != nil {
		return nil, 0, fmt.Errorf("read the log of training %s: %w", id, err)
	}
	return tail, size, nil
}
