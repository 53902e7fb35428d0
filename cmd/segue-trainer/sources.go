//go:build native

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/trainer"
)

// source is a history to learn from.
type source struct {
	path  string
	nodes int
	name  string // in the names of replays; empty for the first
}

// sources returns the histories of --trace and --also.
func (f *trainFlags) sources() ([]source, error) {
	list := []source{{path: f.history.Path, nodes: f.scheduler.Nodes}}
	for _, also := range f.also {
		path, nodes, _ := strings.Cut(also, "=")
		n, err := strconv.Atoi(nodes)
		if err != nil || n < 1 || path == "" {
			return nil, segue.Errorf(segue.Invalid, "--also %q: want a file and the nodes of its cluster, as in jobs.swf=64", also)
		}
		list = append(list, source{path: path, nodes: n, name: " of " + filepath.Base(path)})
	}
	return list, nil
}

// mostLoad is the load up to which fewer nodes show anything: beyond it the queue
// grows without end, and every sample takes longer than the one before.
const mostLoad = 0.95

// replays appends the replays of what was known of a history at the instant
// until, each on its shares of the nodes, and returns the number of its jobs and
// which shares it left out.
func (s source) replays(w io.Writer, list *[]trainer.Replay, f *trainFlags, cluster simulator.Config, until segue.Time) (jobs int64, notes []string, err error) {
	cluster.Pools = []simulator.Pool{cluster.Pools[0]}
	cluster.Pools[0].Nodes = s.nodes
	replays, known, err := replaysOf(w, cli.History{Path: s.path, Format: f.history.Format, Zone: f.history.Zone}, cluster, !f.plainOnly, until)
	if err != nil {
		return 0, nil, err
	}
	for i, r := range replays {
		r.Name += s.name
		shares := f.loads
		if i > 0 {
			shares = f.faithfulLoads
		}
		for _, share := range shares {
			changed := r
			if share != 1 {
				changed = r.WithNodes(share)
			}
			if load := changed.Load(); share < 1 && load > mostLoad {
				notes = append(notes, fmt.Sprintf("left out: %s, of which the jobs ask for %.0f %%", changed.Name, 100*load))
				continue
			}
			*list = append(*list, changed)
		}
	}
	return int64(known), notes, nil
}

// replaysOf reads a history as it was known at the instant until, and returns its
// replays, the plain one and with faithful another, with the number of its jobs.
// It says on w if records were left out.
func replaysOf(w io.Writer, history cli.History, cluster simulator.Config, faithful bool, until segue.Time) (replays []trainer.Replay, jobs int, err error) {
	h, err := history.LoadAloud(w)
	if err != nil {
		return nil, 0, err
	}
	known := trainer.KnownBefore(h.Jobs, until)
	if len(known) == 0 {
		return nil, 0, segue.Errorf(segue.Invalid, "--until %s is before the first job of %s", until, history.Path)
	}
	if replays, err = trainer.Replays(known, cluster, faithful); err != nil {
		return nil, 0, err
	}
	for i := range replays {
		replays[i] = replays[i].RequestedLimits(known)
	}
	return replays, len(known), nil
}

// pairFlags are --pairs and --pair-time.
type pairFlags struct {
	nodes []int
	limit string
}

func (f *pairFlags) add(flags *pflag.FlagSet, what string) {
	flags.IntSliceVar(&f.nodes, "pairs", []int{1, 8}, "nodes of the jobs of the pairs that are "+what+"; without it, no more than the cluster has")
	flags.StringVar(&f.limit, "pair-time", "48h", "time limit of the jobs of the pairs")
}

// shapes returns the shapes of the jobs of the pairs on a cluster of so many
// nodes. Nodes that nobody named are made to fit.
func (f *pairFlags) shapes(flags *pflag.FlagSet, cluster int) ([]segue.Shape, error) {
	if !flags.Changed("pairs") {
		for i := range f.nodes {
			f.nodes[i] = min(f.nodes[i], cluster)
		}
		f.nodes = slices.Compact(f.nodes)
	}
	limit, err := cli.Limit("pair-time", f.limit)
	if err != nil {
		return nil, err
	}
	if limit < time.Minute || limit == segue.Unlimited {
		return nil, segue.Errorf(segue.Invalid, "--pair-time %s: want a time limit of at least a minute, at which the jobs of a pair end", f.limit)
	}
	var shapes []segue.Shape
	for i, n := range f.nodes {
		switch {
		case n < 1:
			return nil, segue.Errorf(segue.Invalid, "--pairs: jobs of %d nodes, want at least 1", n)
		case n > cluster:
			return nil, segue.Errorf(segue.Invalid, "--pairs: jobs of %d nodes on a cluster of %d", n, cluster)
		case slices.Contains(f.nodes[:i], n):
			return nil, segue.Errorf(segue.Invalid, "--pairs names %d twice", n)
		}
		shapes = append(shapes, segue.Shape{Nodes: n, Limit: limit})
	}
	return shapes, nil
}

// checkPace refuses times between starts and numbers of simulated futures of which
// nothing comes. What is 0 would be a default elsewhere.
func checkPace(every time.Duration, replicas int) error {
	switch {
	case every < time.Minute:
		return segue.Errorf(segue.Invalid, "--every %s: want at least a minute between starts", every)
	case replicas < 1:
		return segue.Errorf(segue.Invalid, "--replicas %d: want at least 1 simulated future", replicas)
	}
	return nil
}
