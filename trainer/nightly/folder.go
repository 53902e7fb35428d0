package nightly

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
)

// history is the name of the exported history in the folder of a run.
const history = "history.parquet"

// export writes the history to a file that segue-trainer reads.
func (r *run) export(ctx context.Context) error {
	w, err := traces.Create(r.path(history), traces.WriteOptions{})
	if err != nil {
		return err
	}
	n, first, last := 0, segue.NoTime, segue.NoTime
	for j, err := range r.under.Jobs(ctx, store.JobQuery{Cluster: r.cfg.Cluster, From: r.until.Add(-r.cfg.Back), Until: r.until}) {
		if err == nil {
			err = w.Write(j)
		}
		if segue.KindOf(err) == segue.Invalid {
			fmt.Fprintf(r.log, "left out: %v\n", err)
			continue
		}
		if err != nil {
			w.Abort()
			return err
		}
		if n++; n == 1 {
			first = j.Submit
		}
		last = j.Submit
	}
	if n == 0 || last.Sub(first) < 3*r.cfg.Judge-24*time.Hour {
		w.Abort()
		return fmt.Errorf("%w: %d jobs over %s, want at least %s", errEnough, n, segue.FormatLimit(last.Sub(first)), segue.FormatLimit(3*r.cfg.Judge))
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Fprintf(r.log, "%d jobs, submitted from %s to %s\n", n, first, last)
	return r.size(ctx)
}

// size finds out how many nodes the cluster has.
func (r *run) size(ctx context.Context) error {
	if r.nodes = r.cfg.Nodes; r.nodes > 0 {
		return nil
	}
	loads, err := r.under.Loads(ctx, r.cfg.Cluster, r.until.Add(-30*24*time.Hour))
	if err != nil {
		return err
	}
	for _, l := range loads {
		r.nodes = max(r.nodes, l.Nodes)
	}
	if r.nodes == 0 {
		return segue.Errorf(segue.Invalid, "no snapshot of cluster %s says how many nodes it has: say it (nodes)", r.cfg.Cluster)
	}
	return nil
}

// tidy removes the exported history of the run, which is large, what of its model is
// not finished, and the folders of the oldest runs.
func (r *run) tidy() error {
	err := sweep(r.t.Folder)
	entries, listing := os.ReadDir(r.cfg.Dir)
	if listing != nil {
		return errors.Join(err, ignoreMissing(listing))
	}
	var runs []string // sorted by name, which is by time
	for _, e := range entries {
		if _, wrong := time.Parse("20060102-150405", e.Name()); wrong == nil && e.IsDir() {
			runs = append(runs, e.Name())
		}
	}
	slices.Sort(runs)
	for _, name := range runs[:max(0, len(runs)-r.cfg.Keep)] {
		err = errors.Join(err, os.RemoveAll(filepath.Join(r.cfg.Dir, name)))
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// free returns how many bytes a folder has free for us.
func free(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("look how much room %s has: %w", dir, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
