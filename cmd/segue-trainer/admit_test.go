//go:build native

package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
)

// Flags of which nothing good can come are refused before the history is read,
// which here is not there.
func TestFlagsAreRefusedBeforeTheWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const admitted = "no such file" // the history
	tests := map[string]struct {
		args string
		want string
	}{
		"nothing wrong":              {"", admitted},
		"pairs that fit exactly":     {"--pairs 1,8", admitted},
		"pairs beyond the cluster":   {"--pairs 1,9", "--pairs: jobs of 9 nodes on a cluster of 8"},
		"default pairs that do not":  {"--nodes 4", admitted},
		"a pair twice":               {"--pairs 1,1", "--pairs names 1 twice"},
		"a pair of none":             {"--pairs 0", "--pairs: jobs of 0 nodes, want at least 1"},
		"a pair that never ends":     {"--pair-time UNLIMITED", "--pair-time UNLIMITED: want a time limit of at least a minute, at which the jobs of a pair end"},
		"a policy twice":             {"--policies pg,dqn,pg", `policy "pg" is named twice`},
		"an unknown policy":          {"--policies oracle", `policy "oracle", want one of [dqn moe-dqn pg transformer-pg published-forest published-xgboost published-transformer published-moe]`},
		"no policy":                  {"--policies=", admitted},
		"an unknown forecast":        {"--forecast foo", `forecast "foo", want one of [thresholds aft quantiles forest]`},
		"steps below 0":              {"--steps -5", "-5 steps of training, want 0 or more"},
		"steps by default":           {"--steps 0", admitted},
		"no time between starts":     {"--every 0s", "--every 0s: want at least a minute between starts"},
		"no time between submits":    {"--lead-step 0s", "--lead-step 0s: want from a minute to --pair-time, 48h0m0s"},
		"one submit time":            {"--lead-step 49h", "--lead-step 49h0m0s: want from a minute to --pair-time, 48h0m0s"},
		"no simulated future":        {"--replicas 0", "--replicas 0: want at least 1 simulated future"},
		"a seed of 0":                {"--seed 0", "--seed 0: want 1 or more"},
		"a published forest of none": {"--published-trees 0", "--published-trees, --published-width or --published-epochs is 0: want 1 or more"},
		"an odd published width":     {"--published-width 7", "the published networks: a width of 7, want an even number from 2 to 4096"},
		"a share that is none":       {"--faithful-node-shares NaN", "a share NaN of the nodes: want --node-shares and --faithful-node-shares from 0.1 to 10"},
		"an end before the begin":    {"--from 2023-03-02", "--from 2023-03-02 is not before --until 2023-03-01"},
		"a begin that is no time":    {"--from soon", `--from "soon": want a time such as 2023-02-14T09:00Z or 2023-02-14 (UTC)`},
		"another history of nothing": {"--also b.swf", `--also "b.swf": want a file and the nodes of its cluster, as in jobs.swf=64`},
	}
	common := []string{"--trace", filepath.Join(dir, "none"), "--nodes", "8", "--until", "2023-03-01", "--out", filepath.Join(dir, "model")}
	for name, tt := range tests {
		for _, command := range [][]string{{"train"}, {"shard", "2/3"}} { // which takes the flags of train
			refuses(t, command[0]+": "+name, slices.Concat(command, common, strings.Fields(tt.args)), tt.want)
		}
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"train over a model":          {[]string{"train", "--out", filepath.Join(dir, "file")}, "exists already: a model is never replaced"},
		"train into nowhere":          {[]string{"train", "--out", filepath.Join(dir, "none", "model")}, "there is no folder " + filepath.Join(dir, "none")},
		"train without a folder":      {[]string{"train", "--out="}, "--out is missing: name the folder of the model"},
		"a shard into a folder":       {[]string{"shard", "2/3", "--out", dir}, "--out: " + dir + " is a folder, want a file"},
		"a shard into nowhere":        {[]string{"shard", "2/3", "--out", filepath.Join(dir, "none", "s")}, "--out: there is no folder " + filepath.Join(dir, "none")},
		"a shard beyond all":          {[]string{"shard", "4/3"}, "shard 4 of 3: they are numbered from 1 on, as tasks of a Slurm array with --array=1-3"},
		"merged shards over a model":  {[]string{"merge", "--out", filepath.Join(dir, "file"), "s"}, "exists already: a model is never replaced"},
		"merged shards without model": {[]string{"merge", "s"}, "--out is missing: name the folder of the model"},
	} {
		args := tt.args
		if args[0] != "merge" {
			args = slices.Concat(args[:1], common, args[1:])
		}
		refuses(t, name, args, tt.want)
	}
	promote := []string{"promote", "--registry", dir, "--challenger", "c", "--trace", "none", "--nodes", "8", "--from", "2023-03-01", "--until", "2023-04-01"}
	for name, tt := range map[string]struct{ args, want string }{
		"pairs beyond the cluster": {"--pairs 9", "--pairs: jobs of 9 nodes on a cluster of 8"},
		"no time between starts":   {"--every 0s", "--every 0s: want at least a minute between starts"},
		"no simulated future":      {"--replicas 0", "--replicas 0: want at least 1 simulated future"},
	} {
		refuses(t, "promote: "+name, slices.Concat(promote, strings.Fields(tt.args)), tt.want)
	}
}

// refuses runs a command line, and wants an error that ends so.
func refuses(t *testing.T, name string, args []string, want string) {
	t.Helper()
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%s: error %v, want one that ends in %q", name, err, want)
	} else if !strings.Contains(want, "no such file") && segue.KindOf(err) != segue.Invalid {
		t.Errorf("%s: error %v, want one of kind invalid", name, err)
	}
}

// Pairs that nobody named are those that fit, and the model says which they were.
func TestDefaultPairsFitTheCluster(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[int]string{100: "1,8", 8: "1,8", 4: "1,4", 1: "1"} {
		var f pairFlags
		var flags pflag.FlagSet
		f.add(&flags, "judged")
		shapes, err := f.shapes(&flags, cluster)
		if err != nil {
			t.Fatal(err)
		}
		if got := cli.FlagText(flags.Lookup("pairs")); got != want || len(shapes) != len(f.nodes) {
			t.Errorf("%d nodes: pairs %s and %d shapes, want %s", cluster, got, len(shapes), want)
		}
	}
}
