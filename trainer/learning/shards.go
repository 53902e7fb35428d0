//go:build native

package learning

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer"
)

// shard is what a file of one holds.
type shard struct {
	Index, Of int
	Until     segue.Time
	Streams   []trainer.Stream
}

// GatherShard gathers one shard of the samples, cfg.Samples.Shard of
// cfg.Samples.Shards, and writes it to a file, in place of what was there.
// Shards may be gathered in any order, anywhere, and again.
func GatherShard(ctx context.Context, cfg Config, path string) error {
	cfg = cfg.withDefaults()
	s := cfg.Samples
	if s.Shards < 1 {
		return segue.Errorf(segue.Invalid, "gather a shard: %d shards, want at least 1", s.Shards)
	}
	streams, err := trainer.Gather(ctx, s)
	if err != nil {
		return fmt.Errorf("gather shard %d of %d: %w", s.Shard, s.Shards, err)
	}
	return keep(path, keptValue[shard]{cfg.Key, shard{s.Shard, s.Shards, s.Until, slim(streams)}})
}

// MergeShards puts the shards in files together and keeps them in dir, where a
// training with Resume and the same Key finds them. Every shard must be there; a
// shard that is there twice counts once. The result does not depend on the
// number of shards.
func MergeShards(paths []string, dir string) error {
	var first keptValue[shard]
	var byIndex [][]trainer.Stream
	for i, path := range paths {
		s, err := readKept[shard](path)
		if err != nil {
			return fmt.Errorf("merge shards: %w", err)
		}
		if i == 0 {
			first, byIndex = s, make([][]trainer.Stream, max(s.Value.Of, 0))
		}
		switch {
		case s.Key != first.Key:
			return segue.Errorf(segue.Conflict, "merge shards: %s is of other samples than %s (%s)", path, paths[0], difference(s.Key, first.Key))
		case s.Value.Of != first.Value.Of || s.Value.Index < 1 || s.Value.Index > len(byIndex):
			return segue.Errorf(segue.Conflict, "merge shards: %s is shard %d of %d, and %s one of %d", path, s.Value.Index, s.Value.Of, paths[0], first.Value.Of)
		}
		byIndex[s.Value.Index-1] = s.Value.Streams
	}
	for i, streams := range byIndex {
		if streams == nil {
			return segue.Errorf(segue.NotFound, "merge shards: shard %d of %d is missing", i+1, len(byIndex))
		}
	}
	for _, streams := range byIndex {
		joined(streams)
	}
	merged, err := trainer.Merge(byIndex, first.Value.Until)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("merge shards: %w", err)
	}
	return keep(filepath.Join(dir, samplesName+".gob"), keptValue[[]trainer.Stream]{first.Key, slim(merged)})
}
