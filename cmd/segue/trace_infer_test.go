package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
)

func TestInferPrintsRulesWithTheirEvidence(t *testing.T) {
	t.Parallel()
	log := shared.Path(t, "traces/ls6-a100-to-2023-02.log")
	out, err := typed(t, newTraceInferCommand(), log)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"17,975 jobs of 300 users, 15,611 of them ran",
		"at exactly 8: 21 users; there 1717 user-hours",
		"at exactly 40: 8 users",
		"1394 of 5393 jobs that waited over ten minutes",
		"segue simulate --trace " + log + " --nodes 75 --faithful",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the report does not say %q:\n%s", want, out)
		}
	}
}

func TestInferNamesTheJobsOfEveryDependency(t *testing.T) {
	t.Parallel()
	out, err := typed(t, newTraceInferCommand(), "--json", shared.Path(t, "traces/ls6-a100-to-2023-02.log"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Dependencies []struct {
			Job, After, Kind, Evidence string
			Confidence                 float64
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	for _, d := range got.Dependencies {
		if d.Job == "478732" && d.After == "478731" && d.Kind == "afterany" && d.Confidence > 0.9 &&
			strings.Contains(d.Evidence, "its name counts on") {
			return
		}
	}
	t.Errorf("478732 (dimer.13) is not said to depend on 478731 (dimer.12) among %d dependencies", len(got.Dependencies))
}

func TestInferRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	if _, err := typed(t, newTraceInferCommand(), "no-such-file.log"); segue.KindOf(err) != segue.NotFound {
		t.Errorf("got error %v (kind %s), want kind not found", err, segue.KindOf(err))
	}
}
