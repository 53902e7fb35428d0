package store

import (
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// t0 is when the tests begin.
var t0 = segue.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func aRequest() segue.Request {
	return segue.Request{
		Shape: segue.Shape{Nodes: 4, GPUsPerNode: 8, Limit: 48 * time.Hour},
		User:  "ada", Account: "physics", Partition: "gpu", QOS: "normal",
	}
}

// aChain returns a chain whose strings are not all UTF-8, as a shell allows.
func aChain(id string) segue.Chain {
	return segue.Chain{
		ID: id, Name: "train", User: "ada", Created: t0, State: segue.ChainActive, Request: aRequest(),
		Terms: segue.Terms{Prefer: segue.NoGap, MaxLinks: 9, DoneCodes: []int{0, 7}, Startup: 20 * time.Minute}.WithDefaults(),
		Submission: segue.Submission{
			Args: []string{"--job-name", "train", "caf\xe9.sh", ""}, ScriptAt: 2,
			Script: []byte("#!/bin/sh\nexec ./train \xff\x00\n"), Env: []string{"HOME=/home/ada", "ODD=\xfe\xff"},
			Dir: "/scratch/ada/\xe9", Umask: 0o027, Limits: []segue.ResourceLimit{{Name: "NOFILE", Soft: 1024, Hard: 1<<64 - 1}},
		},
	}
}

// aLink returns a link that is about to be submitted.
func aLink(chain string, number int) segue.Link {
	return segue.Link{
		Chain: chain, Number: number, Attempt: 1, State: segue.LinkSubmitting,
		Planned: t0, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
}

// running returns the link as it runs.
func running(l segue.Link) segue.Link {
	l.State, l.Job, l.Submitted, l.Start = segue.LinkRunning, segue.JobID{Number: 100 + int64(l.Number)}, t0, t0.Add(time.Hour)
	return l
}

func aDecision(at segue.Time) segue.Decision {
	return segue.Decision{
		At: at, Policy: "planner", Model: "m-1", Request: aRequest(), Remaining: 6 * time.Hour, Prefer: segue.Balanced,
		Submit: true, SubmitAt: at,
		Forecast: segue.NewForecast(at, "recent", []time.Duration{time.Hour, 2 * time.Hour, 5 * time.Hour}),
		Alternatives: []segue.Alternative{
			{SubmitAt: at, Overlap: 3 * time.Hour, StartsBeforeEnd: 0.9, Cost: 0.75, Forecaster: "recent"},
			{SubmitAt: at.Add(time.Hour), Interruption: 10 * time.Minute, Overlap: 2 * time.Hour, StartsBeforeEnd: 0.7, Cost: 0.6},
		},
		Reason: "3 of 4 such jobs started within 2 h.",
	}
}

// create records a chain whose first link runs, and returns that link.
func create(t *testing.T, s *Store, id string) segue.Link {
	t.Helper()
	first := aLink(id, 1)
	if err := s.CreateChain(t.Context(), aChain(id), first); err != nil {
		t.Fatal(err)
	}
	first = running(first)
	if err := s.UpdateLink(t.Context(), segue.LinkSubmitting, first); err != nil {
		t.Fatal(err)
	}
	return first
}
