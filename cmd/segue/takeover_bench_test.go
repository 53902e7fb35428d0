package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue/internal/pgtest"
)

// BenchmarkTakeOver measures how long it takes until another server submits when
// the one that does is killed, and when it ends by itself, with the settings that
// operators get: go test ./cmd/segue -run xxx -bench TakeOver -benchtime 6x.
func BenchmarkTakeOver(b *testing.B) {
	if !pgtest.Have(b) {
		return
	}
	program := buildSegue(b)
	for name, end := range map[string]func(*running){
		"killed": (*running).kill,
		"told": func(r *running) {
			_ = r.process.Process.Signal(syscall.SIGTERM)
			_ = r.process.Wait()
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := newService(b, program, time.Minute)
			leader := s.start("a", freeAddress(b))
			s.until("one leads", leader.leads)
			var most time.Duration
			for i := 0; b.Loop(); i++ {
				follower := s.start(fmt.Sprint("b", i), freeAddress(b))
				pause(b.Context(), time.Duration(rand.Int64N(int64(9*time.Second)))) // anywhere between two renewals
				from := time.Now()
				end(leader)
				s.until("the other leads", follower.leads)
				most = max(most, time.Since(from))
				leader = follower
			}
			b.ReportMetric(most.Seconds(), "most-s")
		})
	}
}
