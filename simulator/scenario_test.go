package simulator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/simulator"
)

// A scenario file holds small clusters with a few jobs each, and what must
// become of them. scenariofile_test.go says how it is written.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario files (%v)", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, s := range parseScenarios(t, file, string(text)) {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				got, err := simulator.Replay(s.cfg, s.jobs, nil)
				if err != nil {
					t.Fatalf("%v", err)
				}
				if diff := cmp.Diff(s.want, lives(got, s.names)); diff != "" {
					t.Errorf("what became of the jobs (-want +got):\n%s", diff)
				}
				checkUse(t, s.cfg, s.jobs, got)
				checkForks(t, s.cfg, s.jobs)
			})
		}
	}
}

// lives writes what became of each job as a scenario's want lines do.
func lives(r simulator.Result, names []string) map[string]string {
	runs := make([][]string, len(names))
	for _, a := range r.Attempts {
		word := map[segue.JobState]string{segue.Preempted: "preempted", segue.NodeFail: "failed"}[a.State]
		runs[a.Job] = append(runs[a.Job], clock(a.Start)+"-"+clock(a.End)+" "+word)
	}
	life := map[string]string{}
	for i, name := range names {
		switch start, end := r.Starts[i], r.Ends[i]; {
		case start.Known():
			runs[i] = append(runs[i], clock(start)+"-"+clock(end))
		case end.Known():
			runs[i] = append(runs[i], "gone "+clock(end))
		default:
			runs[i] = append(runs[i], "never")
		}
		life[name] = strings.Join(runs[i], ", ")
	}
	return life
}
