package toymodel

import (
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/predictor"
)

// Script is a command of test scripts that writes a model into a folder:
// "toymodel folder wait lead policies [feature most]". It forecasts that wait, and
// its policies, separated by commas, submit when no more than the lead remains.
// Training saw anything of every feature, but of that one at most so much. It was
// trained in January 2023, on 4 nodes, for pairs of 2 nodes and 12 hours.
func Script(ts *testscript.TestScript, neg bool, args []string) {
	if neg || (len(args) != 4 && len(args) != 6) {
		ts.Fatalf("usage: toymodel folder wait lead policies [feature most]")
	}
	wait, err := time.ParseDuration(args[1])
	ts.Check(err)
	lead, err := time.ParseDuration(args[2])
	ts.Check(err)
	m := New(ts, wait, lead, strings.Split(args[3], ",")...)
	if len(args) == 6 {
		most, err := strconv.ParseFloat(args[5], 64)
		ts.Check(err)
		m.Drift = Drift(args[4], 0, most)
	}
	ts.Check(models.Write(ts.MkAbs(args[0]), Manifest(path.Base(args[0])), Files(ts, m)))
}

// Manifest returns the manifest of a model that was trained in January 2023, on 4
// nodes, for pairs of 2 nodes and 12 hours.
func Manifest(id string) models.Manifest {
	day := func(d int) models.Instant {
		return models.Instant(segue.TimeOf(time.Date(2023, time.January, d, 0, 0, 0, 0, time.UTC)))
	}
	return models.Manifest{
		ID: id, Created: day(31), Version: "v0.2.0",
		Trace: models.Trace{SHA256: strings.Repeat("ab", 32)}, Window: models.Window{From: day(1), Until: day(31)},
		Cluster: models.Cluster{Nodes: 4}, Pairs: []models.Pair{{Nodes: 2, LimitSeconds: 12 * 3600}}, Features: models.Features{Names: predictor.FeatureNames()},
	}
}
