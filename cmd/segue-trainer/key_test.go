//go:build native

package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
)

// What samples are kept for is everything that changes them, and nothing else.
func TestSamplesAreOfWhatChangesThem(t *testing.T) {
	t.Parallel()
	key := func(m models.Manifest, program string, args ...string) string {
		cmd := newTrainCommand()
		if err := cmd.ParseFlags(append([]string{"--trace", "a", "--nodes", "8", "--until", "2023-03-01", "--out", "m"}, args...)); err != nil {
			t.Fatal(err)
		}
		return keyOf(cmd.Flags(), m, program)
	}
	m := models.Manifest{Trace: models.Trace{SHA256: "ab"}}
	base := key(m, "v1")
	for _, args := range []string{
		"--timezone Europe/Zurich", "--trace-format swf", "--nodes 9", "--backfill easy", "--bf-interval 1m", "--from 2023-02-01", "--until 2023-03-02",
		"--pairs 1", "--pair-time 24h", "--node-shares 1", "--faithful-node-shares 1", "--plain-only", "--every 8h", "--lead-step 2h", "--replicas 3",
		"--samples-seed 2",
	} {
		words := strings.Fields(args)
		got := key(m, "v1", words...)
		if got == base || !strings.Contains(got, words[0]+` "`) {
			t.Errorf("with %s samples are kept for\n%s", args, got)
		}
	}
	if got := key(m, "v1", strings.Fields("--trace b --seed 2 --policies pg --forecast aft --steps 9 --samples s --resume --parent p --out n --published-width 4")...); got != base {
		t.Errorf("with other flags of a training samples are kept for\n%s\nwant\n%s", got, base)
	}
	other := m
	other.Trace.SHA256 = "cd"
	also := m
	also.Notes = []string{"also learned from b.swf"}
	for name, got := range map[string]string{"another program": key(m, "v2"), "another history": key(other, "v1"), "one more history": key(also, "v1")} {
		if got == base {
			t.Errorf("of %s samples are kept for the same", name)
		}
	}
}

// A build is told by its version where that says all that it was made from, and by
// its executable otherwise.
func TestWhichProgramItIs(t *testing.T) {
	t.Parallel()
	executable := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(executable, []byte("abc"), 0o755); err != nil {
		t.Fatal(err)
	}
	const digest = "of SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v0.0.0-20261130000000-0123456789ab": "v0.0.0-20261130000000-0123456789ab",
		"": digest, "(devel)": digest, "v1.2.3+dirty": digest,
	} {
		build := &debug.BuildInfo{Main: debug.Module{Version: version}}
		got, err := programOf(build, func() (string, error) { return executable, nil })
		if err != nil || got != want {
			t.Errorf("version %q: program %q, %v; want %q", version, got, err, want)
		}
	}
	if _, err := programOf(&debug.BuildInfo{}, func() (string, error) { return "", errors.New("unknown") }); err == nil {
		t.Error("a program that cannot be found is one")
	}
}

func TestPartsOfShards(t *testing.T) {
	t.Parallel()
	const slurm, kubernetes = "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"
	tests := map[string]struct {
		which  string
		env    map[string]string
		want   [2]int
		refuse string
	}{
		"named":                    {which: "3/20", want: [2]int{3, 20}},
		"named, in a task":         {which: "3/20", env: map[string]string{slurm: "7"}, want: [2]int{3, 20}},
		"a task of Slurm":          {which: "20", env: map[string]string{slurm: "20"}, want: [2]int{20, 20}},
		"the first of Kubernetes":  {which: "20", env: map[string]string{kubernetes: "0"}, want: [2]int{1, 20}},
		"the last of Kubernetes":   {which: "20", env: map[string]string{kubernetes: "19"}, want: [2]int{20, 20}},
		"one too many":             {which: "20", env: map[string]string{kubernetes: "20"}, refuse: "shard 21 of 20: they are numbered from 1 on"},
		"a Slurm array from 0 on":  {which: "20", env: map[string]string{slurm: "0"}, refuse: "as tasks of a Slurm array with --array=1-20"},
		"no task":                  {which: "20", refuse: "which either SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX numbers"},
		"a task of both":           {which: "20", env: map[string]string{slurm: "1", kubernetes: "1"}, refuse: "which either SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX numbers"},
		"an index that is none":    {which: "20", env: map[string]string{kubernetes: "x"}, refuse: "which either SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX numbers"},
		"an empty number":          {which: "/20", env: map[string]string{slurm: "1"}, refuse: `shard "/20": want a part of a number of parts, such as 3/20`},
		"none of none":             {which: "0/0", refuse: "shard 0 of 0"},
		"a word after the numbers": {which: "3/20x", refuse: `shard "3/20x": want a part`},
		"three numbers":            {which: "3/20/4", refuse: `shard "3/20/4": want a part`},
	}
	for name, tt := range tests {
		shard, shards, err := part(tt.which, func(name string) string { return tt.env[name] })
		if tt.refuse != "" {
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("%s: error %v, want an invalid one with %q", name, err, tt.refuse)
			}
			continue
		}
		if err != nil || [2]int{shard, shards} != tt.want {
			t.Errorf("%s: shard %d of %d, %v; want %v", name, shard, shards, err, tt.want)
		}
	}
}
