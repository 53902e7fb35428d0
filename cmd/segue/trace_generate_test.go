package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/traces"
	"github.com/segue-project/segue/traces/synthetic"
)

// typed runs a command as it would be typed and returns what it printed.
func typed(t *testing.T, cmd *cobra.Command, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&bytes.Buffer{})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return out.String(), err
}

func TestGeneratedFilesReadBackAsTheHistory(t *testing.T) {
	t.Parallel()
	want, err := synthetic.Jobs(synthetic.Config{Seed: 7, Jobs: 500, Nodes: 40})
	if err != nil {
		t.Fatal(err)
	}
	// What a format has no words for is not compared.
	tests := map[string]cmp.Option{
		"history.parquet":  cmpopts.IgnoreFields(segue.Job{}, "Priority"),
		"history.sacct":    cmpopts.IgnoreFields(segue.Job{}, "Priority"),
		"history.log.gz":   cmpopts.IgnoreFields(segue.Job{}, "ID", "Account", "Partition", "QOS", "Eligible", "CPUs", "GPUs", "State", "Start"),
		"history.swf":      cmpopts.IgnoreFields(segue.Job{}, "ID", "Name", "User", "Account", "Partition", "QOS", "Eligible", "CPUs", "GPUs", "State", "ExitCode", "Signal"),
		"generated.csv.gz": nil,
	}
	for name, ignored := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			if _, err := typed(t, newTraceGenerateCommand(), "--seed", "7", "--jobs", "500", "--nodes", "40", "-o", path); err != nil {
				t.Fatal(err)
			}
			if ignored == nil { // written, not read
				return
			}
			got, err := traces.Load(path, traces.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Jobs, ignored); diff != "" {
				t.Errorf("jobs (-generated +read):\n%s", diff)
			}
		})
	}
}

func TestGenerateWritesEqualBytesForEqualFlags(t *testing.T) {
	t.Parallel()
	once, err := typed(t, newTraceGenerateCommand(), "--jobs", "300")
	if err != nil {
		t.Fatal(err)
	}
	again, err := typed(t, newTraceGenerateCommand(), "--jobs", "300")
	if err != nil {
		t.Fatal(err)
	}
	if once != again || !strings.HasPrefix(once, "JobID") {
		t.Errorf("two runs differ, or do not begin with sacct's header: %.60q, %.60q", once, again)
	}
}

func TestGenerateRefusesWhatNoClusterIs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		want string
	}{
		"no nodes":           {[]string{"--nodes", "-1"}, "Nodes"},
		"too much of a node": {[]string{"--part-node", "2"}, "PartNode"},
		"months backwards":   {[]string{"--months", "-1"}, "--months"},
		"no day":             {[]string{"--start", "tomorrow"}, "--start"},
		"no format":          {[]string{"--format", "xml"}, "xml"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := typed(t, newTraceGenerateCommand(), test.args...)
			if segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v (kind %s), want one of kind invalid that names %s", err, segue.KindOf(err), test.want)
			}
		})
	}
}

func TestGenerateReplacesAFileOnDemandOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.sacct")
	if _, err := typed(t, newTraceGenerateCommand(), "--jobs", "10", "-o", path); err != nil {
		t.Fatal(err)
	}
	if _, err := typed(t, newTraceGenerateCommand(), "--jobs", "10", "-o", path); segue.KindOf(err) != segue.Conflict {
		t.Errorf("got error %v (kind %s), want kind conflict", err, segue.KindOf(err))
	}
	if _, err := typed(t, newTraceGenerateCommand(), "--jobs", "10", "-o", path, "--force"); err != nil {
		t.Errorf("with --force: %v", err)
	}
}
