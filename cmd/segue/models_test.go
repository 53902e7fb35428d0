package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/models"
)

// model writes a small model into a folder of models: "model folder ID day".
// The day of March 2023 is when it was made and until when it was trained.
func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: model folder ID day")
	}
	day, err := strconv.Atoi(args[2])
	ts.Check(err)
	at := segue.TimeOf(time.Date(2023, time.March, day, 0, 0, 0, 0, time.UTC))
	pair := models.PairOf(segue.Shape{Nodes: 8, Limit: 48 * time.Hour})
	m := models.Manifest{
		ID: args[1], Created: models.Instant(at), Version: "v0.2.0", Notes: []string{"made for a test"},
		Trace:      models.Trace{SHA256: strings.Repeat("ab", 32), Name: "jobs.log"},
		Window:     models.Window{From: models.Instant(at.Add(-28 * 24 * time.Hour)), Until: models.Instant(at)},
		Cluster:    models.Cluster{Nodes: 76},
		Pairs:      []models.Pair{pair},
		Seeds:      []uint64{7},
		Settings:   map[string]string{"every": fmt.Sprintf("%dh0m0s", day), "plain-only": "false"},
		Features:   models.Features{Names: []string{"pending_jobs", "free_nodes"}},
		Forecaster: models.Forecaster{Name: "trees", Files: []string{models.TreesFile("wait")}},
		Policies: []models.Policy{{
			Name: "moe-dqn", Kind: "moe", File: models.WeightsFile("moe-dqn"),
			Settings: []models.Setting{{
				Pair: pair, Prefer: 4, Parameter: float64(day) / 10, Cost: &models.Estimate{Mean: 2.5, Lo: 2, Hi: 3},
			}},
		}},
		Metrics: map[string]float64{"coverage_0.9": 0.9 + float64(day)/1000},
	}
	if args[1] != "first" {
		m.Parent = "first"
	}
	files := map[string][]byte{
		models.TreesFile("wait"):      []byte("trees"),
		models.WeightsFile("moe-dqn"): []byte("weights"),
		models.CalibrationFile:        []byte("{}"),
		models.ReportFile:             []byte("<html>"),
	}
	ts.Check(models.Write(ts.MkAbs(args[0]+"/"+args[1]), m, files))
}

// flip flips the lowest bit of the first byte of each file.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: flip file...")
	}
	for _, name := range args {
		path := ts.MkAbs(name)
		data, err := os.ReadFile(path)
		ts.Check(err)
		data[0] ^= 1
		ts.Check(os.WriteFile(path, data, 0o600))
	}
}
