package sbatch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

func TestJobNumberIsFoundInWhatSbatchPrints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		printed  string
		parsable bool
		job      int64
		cluster  string
	}{
		"the sentence": {"Submitted batch job 42\n", false, 42, ""},
		"report 23: a banner with numbers": {
			"Welcome to the Stampede3 Supercomputer\n--> Verifying job 3 of 5...OK\nSubmitted batch job 42\n", false, 42, "",
		},
		"report 24: on a cluster":            {"Submitted batch job 60060368 on cluster slaking\n", false, 60060368, "slaking"},
		"report 25: parsable with a cluster": {"75168975;west\n", true, 75168975, "west"},
		"report 26: parsable":                {"75168975\n", true, 75168975, ""},
		"parsable after a banner":            {"Welcome to Stampede3\n42\n", true, 42, ""},
		"parsable when it was not asked for": {"42\n", false, 0, ""},
		"the sentence when parsable":         {"Submitted batch job 42\n", true, 0, ""},
		"quiet":                              {"", false, 0, ""},
		"the last of two":                    {"Submitted batch job 41\nSubmitted batch job 42\n", false, 42, ""},
		"a line that is not complete":        {"Submitted batch job 42", false, 42, ""},
		"no number":                          {"Submitted batch job x\n", false, 0, ""},
		"a number with a sign":               {"+42\n", true, 0, ""},
		"white space at the end":             {"42 \r\n", true, 42, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, cluster, ok := sbatch.Answer([]byte(c.printed), c.parsable)
			if job.Number != c.job || cluster != c.cluster || ok != (c.job != 0) {
				t.Errorf("job %d on %q, %v, want %d on %q", job.Number, cluster, ok, c.job, c.cluster)
			}
		})
	}
}

func TestReport1ATimeOutLeavesOpenWhetherThereIsAJob(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]bool{
		"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation\n":              true,
		"sbatch: error: Batch job submission failed: Invalid partition name specified\n":                     false,
		"sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)\n": false,
	} {
		if got := sbatch.Doubtful([]byte(stderr)); got != want {
			t.Errorf("%q is doubtful: %v, want %v", stderr, got, want)
		}
	}
}

func TestDependenciesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"afterok:12":                    "afterok 12",
		"afterany:12:13_4":              "afterany 12 13_4",
		"after:12+5":                    "after 12+5",
		"aftercorr:7_*":                 "aftercorr 7_*",
		"12:13":                         "afterany 12 13",
		"singleton":                     "singleton",
		"afterok:1,afternotok:2":        "afterok 1 and afternotok 2",
		"afterok:1?singleton":           "afterok 1 or singleton",
		"AfterOK:1":                     "afterok 1",
		"afterok:1?afterok:2,afterok:3": "",
		"afterok":                       "",
		"afterok:":                      "",
		"afterok:x":                     "",
		"afterok:1+5":                   "",
		"afterfoo:1":                    "",
		"singleton:3":                   "",
		"":                              "",
		",":                             "",
	} {
		d, err := sbatch.ParseDependency(text)
		got := ""
		for i, c := range d.Clauses {
			if i > 0 && d.Any {
				got += " or "
			} else if i > 0 {
				got += " and "
			}
			got += c.Type
			for _, j := range c.Jobs {
				got += " " + j.Job.String()
				if j.AllTasks {
					got += "_*"
				}
				if j.Minutes > 0 {
					got += "+5"
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != "") {
			t.Errorf("ParseDependency(%q): %v (-want +got):\n%s", text, err, diff)
		}
	}
}
