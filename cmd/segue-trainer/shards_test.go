//go:build native

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/segue-project/segue/internal/slurmtest"
)

// smallFlags are those of a training of seconds, with a forecast alone.
const smallFlags = "--trace jobs.swf --nodes 8 --until 2023-03-01 --pairs 2 --pair-time 12h --every 24h --lead-step 4h --node-shares 1 --plain-only --replicas 2 --policies="

// workplace returns a folder with a history, jobs.swf, a model "alone" that was
// trained from it in one run, and an environment in which segue-trainer is found.
func workplace(t *testing.T) (dir string, env []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, "segue-trainer")); err != nil { // by which name this program is it
		t.Fatal(err)
	}
	if err := writeHistory(filepath.Join(dir, "jobs.swf"), 45); err != nil {
		t.Fatal(err)
	}
	env = []string{"PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH")}
	run(t, dir, env, append([]string{"segue-trainer", "train", "--out", "alone"}, strings.Fields(smallFlags)...)...)
	return dir, env
}

// run runs a command in the folder, and returns what it prints.
func run(t *testing.T, dir string, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "env", append(slices.Clone(env), argv...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", argv, err, out, stderr.Bytes())
	}
	return strings.TrimSpace(string(out))
}

// sameModel wants the model of shards to be the one of one run.
func sameModel(t *testing.T, dir string) {
	t.Helper()
	var content [2][]byte
	for i, model := range []string{"alone", "model"} {
		var err error
		if content[i], err = os.ReadFile(filepath.Join(dir, model, "trees-wait-00.bin")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(content[0], content[1]) {
		t.Error("the trees of shards are other ones than those of one run")
	}
}

// edited returns a file of packaging/training as somebody edits it, from, to, from, to:
// each of the texts must be there.
func edited(t *testing.T, name string, texts ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "packaging", "training", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(texts); i += 2 {
		if !bytes.Contains(content, []byte(texts[i])) {
			t.Fatalf("%s has no %q", name, texts[i])
		}
		content = bytes.ReplaceAll(content, []byte(texts[i]), []byte(texts[i+1]))
	}
	return content
}

// The script for Slurm is run by a real one: an array of shards, of which one is lost
// and run again alone, and the training after it.
func TestShardsAreTasksOfASlurmArray(t *testing.T) {
	t.Parallel()
	dir, env := workplace(t)
	script := edited(t, "shards.sbatch", "shards=20", "shards=3", "--trace jobs.log --nodes 76 --until 2023-01-01", smallFlags)
	if err := os.WriteFile(filepath.Join(dir, "shards.sbatch"), script, 0o644); err != nil {
		t.Fatal(err)
	}
	slurm := slurmtest.Start(t, slurmtest.Config{})
	env = append(env, "SLURM_CONF="+slurm.Conf)
	sbatch := func(args ...string) string {
		argv := append([]string{"sbatch", "--parsable", "--cpus-per-task=1", "--mem=0", "--time=5"}, args...)
		return run(t, dir, env, append(argv, "shards.sbatch")...)
	}

	tasks := sbatch("--wait", "--array=1-3")
	if err := os.Remove(filepath.Join(dir, "model.shards", "2")); err != nil {
		t.Fatal(err)
	}
	again := sbatch("--array=2")
	sbatch("--wait", "--dependency=afterok:"+tasks+":"+again)
	sameModel(t, dir)
}

// job is what the Jobs of Kubernetes have to say.
type job struct {
	Kind string
	Spec struct {
		Completions int
		Template    struct {
			Spec struct {
				InitContainers []container `yaml:"initContainers"`
				Containers     []container
			}
		}
	}
}

type container struct {
	Command, Args []string
	WorkingDir    string `yaml:"workingDir"`
}

// The Jobs for Kubernetes are run here as a kubelet runs them, one container after the
// other.
func TestShardsArePodsOfAnIndexedJob(t *testing.T) {
	t.Parallel()
	dir, env := workplace(t)
	flags := ""
	for word := range strings.FieldsSeq(smallFlags) {
		flags += fmt.Sprintf("%q, ", word)
	}
	flags = strings.TrimSuffix(flags, ", ")
	const theirs = `--trace, jobs.log, --nodes, "76", --until, "2023-01-01"`
	for _, manifest := range [][]byte{
		edited(t, "shards.yaml", theirs, flags, `[shard, "20"`, `[shard, "3"`, "completions: 20", "completions: 3"),
		edited(t, "merge.yaml", theirs, flags),
	} {
		var j job
		if err := yaml.Load(bytes.Split(manifest, []byte("\n---\n"))[0], &j); err != nil || j.Kind != "Job" {
			t.Fatalf("a %s, %v; want a Job", j.Kind, err)
		}
		for index := range max(1, j.Spec.Completions) {
			own := slices.Clone(env)
			if j.Spec.Completions > 0 {
				own = append(own, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", index))
			}
			for _, c := range slices.Concat(j.Spec.Template.Spec.InitContainers, j.Spec.Template.Spec.Containers) {
				argv := slices.Concat(c.Command, c.Args)
				for i := range argv {
					argv[i] = strings.ReplaceAll(argv[i], "$(JOB_COMPLETION_INDEX)", fmt.Sprint(index))
				}
				if c.WorkingDir != "/work" {
					t.Errorf("%s runs in %q, want the claim at /work", argv, c.WorkingDir)
				}
				run(t, dir, own, argv...)
			}
		}
	}
	sameModel(t, dir)
}
