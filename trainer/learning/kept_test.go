//go:build native

package learning_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/trainer/learning"
)

// A file of finished work of which one bit has changed, or which is cut off, is
// refused by name, wherever the bit is: in most places it is a number like others.
func TestDamagedWorkIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	few := func(dir string) learning.Config {
		cfg := quickly(dir)
		cfg.Samples.Until, cfg.Policies = first.Add(28*day), []string{}
		return cfg
	}
	filesOf(t, few(dir))
	shard := filepath.Join(dir, "shard")
	cfg := few("")
	cfg.Samples.Shard, cfg.Samples.Shards = 1, 1
	if err := learning.GatherShard(t.Context(), cfg, shard); err != nil {
		t.Fatal(err)
	}
	resume := few(dir)
	resume.Resume = true
	train := func() error {
		_, err := learning.Learn(t.Context(), resume)
		return err
	}
	for path, read := range map[string]func() error{
		shard:                             func() error { return learning.MergeShards([]string{shard}, filepath.Join(dir, "merged")) },
		filepath.Join(dir, "samples.gob"): train,
		filepath.Join(dir, "trees.gob"):   train,
	} {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := [][]byte{whole[:len(whole)/2], whole[:len(whole)-1], whole[:5], {}, append(slices.Clone(whole), 0)}
		for i := range 16 {
			flipped := slices.Clone(whole)
			flipped[(len(whole)-1)*i/15] ^= 1 << (i % 8)
			damaged = append(damaged, flipped)
		}
		for i, content := range damaged {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := read(); segue.KindOf(err) != segue.Corrupt || !strings.Contains(err.Error(), path+" is damaged") {
				t.Errorf("damage %d of %s: error %v, want one of kind corrupt that names it", i, filepath.Base(path), err)
			}
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := read(); err != nil {
			t.Errorf("%s as it was: %v", filepath.Base(path), err)
		}
	}
}
