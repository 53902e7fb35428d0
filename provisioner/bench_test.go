package provisioner_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/simulated"
	"github.com/segue-project/segue/simulator"
	"github.com/segue-project/segue/store"
)

// A month of a hundred chains of 12-hour links: the loop that runs in
// production, its store, and the simulated cluster.
func BenchmarkMonthOfAHundredChains(b *testing.B) {
	for b.Loop() {
		month(b, 100)
	}
}

func month(b *testing.B, n int) {
	b.Helper()
	cfg := simulator.Config{Pools: []simulator.Pool{{Name: "batch", Nodes: 3 * n}}, Backfill: simulator.EASY}
	sim, err := simulator.New(cfg, nil)
	if err != nil {
		b.Fatal(err)
	}
	sim.AdvanceTo(noon)
	driver, err := simulated.New(sim, cfg, func(schedulers.Submission) simulated.Run { return simulated.Run{For: 1000 * hour} })
	if err != nil {
		b.Fatal(err)
	}
	cluster, err := schedulers.New(driver, schedulers.Config{Now: driver.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), filepath.Join(b.TempDir(), "segue.db"), store.Config{Volatile: true})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	chains, err := provisioner.NewChains(s, cluster, provisioner.ChainsConfig{
		Now: driver.Now, Decider: constantLead(hour), Exists: func(string, string) bool { return false }, MaxSubmissions: 10 * n,
		DecideEvery: 30 * time.Minute, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		chain := segue.Chain{ID: fmt.Sprintf("c%d", i), Name: "train", User: "ada", Created: noon, Request: link}
		first := segue.Link{
			Chain: chain.ID, Number: 1, Attempt: 1, State: segue.LinkQueued,
			Planned: noon, Submitted: noon, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
		}
		got, err := driver.Submit(b.Context(), schedulers.Submission{Token: first.Token(), Request: link})
		if err != nil {
			b.Fatal(err)
		}
		first.Job = got.Job
		if err := s.CreateChain(b.Context(), chain, first); err != nil {
			b.Fatal(err)
		}
	}
	for at := noon; at < noon.Add(30*24*time.Hour); at = at.Add(5 * time.Minute) {
		driver.Advance(at)
		if err := chains.RunOnce(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
