package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
)

// million is what the design asks for.
const million = 1_000_000

// madeUp returns n jobs of two years and 500 users, made without chance: one every
// minute or so, most of them small.
func madeUp(n int) iter.Seq2[segue.Job, error] {
	begin := segue.TimeOf(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC))
	limits := []time.Duration{time.Hour, 2 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour}
	return func(yield func(segue.Job, error) bool) {
		for i := range n {
			mixed := int(uint32(i*2654435761) >> 8) // Knuth's multiplicative hash
			submit := begin.Add(time.Duration(i) * 63 * time.Second)
			start := submit.Add(time.Duration(mixed%40_000) * time.Second)
			run := time.Duration(60+mixed%7000) * time.Second
			nodes := int32(1 << (mixed % 8) % 96)
			if !yield(segue.Job{
				ID: segue.JobID{Number: int64(1_000_000 + i)}, Name: fmt.Sprintf("train.%d", mixed%5000), User: fmt.Sprintf("user%03d", mixed%500),
				Account: fmt.Sprintf("group%02d", mixed%50), Partition: []string{"gpu-a100", "gpu-a100-small", "gpu-h100"}[mixed%3], QOS: "normal",
				Submit: submit, Eligible: submit, Start: start, End: start.Add(run), Limit: limits[mixed%len(limits)],
				Nodes: nodes, CPUs: nodes * 128, GPUs: nodes * 3, Priority: int64(mixed % 100_000), State: segue.Completed,
			}, nil) {
				return
			}
		}
	}
}

// durable is a server with the settings of an ordinary one.
var durable = pgtest.Server{Durable: true, Prepare: migrated}

func freshDurable(b *testing.B) string {
	b.Helper()
	if err := durable.Start(); err != nil {
		b.Fatal(err)
	}
	return durable.URL(durable.Clone(b, "TEMPLATE migrated"))
}

// BenchmarkImport imports a million jobs into an empty store, and then the same
// again: use -benchtime=1x.
func BenchmarkImport(b *testing.B) {
	for engine, fresh := range map[string]func(*testing.B) string{
		"sqlite":   func(b *testing.B) string { b.Helper(); return filepath.Join(b.TempDir(), "segue.db") },
		"postgres": freshDurable,
	} {
		b.Run(engine, func(b *testing.B) {
			if engine == "postgres" && !pgtest.Have(b) {
				return
			}
			for b.Loop() {
				b.StopTimer()
				s := open(b, fresh(b))
				s.write.SetMaxOpenConns(1)
				cpu := cpuSeconds(b, s)
				b.StartTimer()
				importMillion(b, s, million)
				b.StopTimer()
				b.ReportMetric(cpuSeconds(b, s)-cpu, "cpu-s/op")
				cpu = cpuSeconds(b, s)
				again := time.Now()
				importMillion(b, s, 0)
				b.ReportMetric(time.Since(again).Seconds(), "again-s/op")
				b.ReportMetric(cpuSeconds(b, s)-cpu, "again-cpu-s/op")
				b.StartTimer()
			}
			b.ReportMetric(million*float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}

// cpuSeconds returns how long processors have worked for this process, and for
// the server's that serves the one connection of s: what a wall clock hides on a
// machine that does other things, too.
func cpuSeconds(b *testing.B, s *Store) float64 {
	b.Helper()
	processes := []string{"self"}
	if s.engine.name() == "postgres" {
		var pid string
		if err := s.write.QueryRowContext(b.Context(), `SELECT pg_backend_pid()::text`).Scan(&pid); err != nil {
			b.Fatal(err)
		}
		processes = append(processes, pid)
	}
	ticks := 0.0
	for _, process := range processes {
		stat, err := os.ReadFile("/proc/" + process + "/stat")
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
		for _, field := range fields[12:14] { // utime and stime: proc(5)
			n, err := strconv.ParseFloat(field, 64)
			if err != nil {
				b.Fatal(err)
			}
			ticks += n
		}
	}
	return ticks / 100
}

func importMillion(b *testing.B, s *Store, changed int) {
	b.Helper()
	done, err := s.ImportJobs(b.Context(), "c", madeUp(million))
	if err != nil || done.Read != million || done.Changed != changed {
		b.Fatalf("imported %+v, %v; want %d changed", done, err, changed)
	}
}

// filled are stores of a million jobs, for all benchmarks of queries.
var filled = map[string]func(b *testing.B) *Store{
	"sqlite":   onceFilled(func(b *testing.B) string { b.Helper(); return filepath.Join(keptDir(b), "segue.db") }),
	"postgres": onceFilled(func(b *testing.B) string { b.Helper(); return keptPostgres(b) }),
}

func onceFilled(where func(*testing.B) string) func(*testing.B) *Store {
	var once sync.Once
	var s *Store
	return func(b *testing.B) *Store {
		b.Helper()
		once.Do(func() {
			var err error
			if s, err = Open(context.Background(), where(b), Config{}); err != nil {
				b.Fatal(err)
			}
			importMillion(b, s, million)
		})
		return s
	}
}

// keptDir returns a folder that outlives the benchmark.
func keptDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp("", "segue-bench-") //nolint:usetesting // it is used by the next benchmark too
	if err != nil {
		b.Fatal(err)
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(dir) })
	return dir
}

func keptPostgres(b *testing.B) string {
	b.Helper()
	if err := durable.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := durable.Admin().ExecContext(b.Context(), `CREATE DATABASE filled TEMPLATE migrated`); err != nil {
		b.Fatal(err)
	}
	return durable.URL("filled")
}

// query asks a store something, and returns how many jobs the answer has.
type query func(b *testing.B, s *Store) int

// BenchmarkForecastQueries asks a store of a million jobs what a forecast wants to
// know. On a machine that is busy with other things the least time says most.
func BenchmarkForecastQueries(b *testing.B) {
	until := segue.TimeOf(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).Add(million * 63 * time.Second)
	week := JobQuery{Cluster: "c", From: until.Add(-7 * 24 * time.Hour), Until: until}
	ofUser, ofShape := week, week
	ofUser.User = "user007"
	ofShape.Nodes, ofShape.Limit = 8, 48*time.Hour
	started := func(q JobQuery, n int) query {
		return func(b *testing.B, s *Store) int {
			b.Helper()
			jobs, err := s.Started(b.Context(), q, n)
			if err != nil {
				b.Fatal(err)
			}
			return len(jobs)
		}
	}
	queries := []struct {
		name string
		ask  query
	}{
		{"last-100-started", started(JobQuery{Cluster: "c", Until: until}, 100)},
		{"last-100-of-shape", started(JobQuery{Cluster: "c", Until: until, Nodes: 8, Limit: 48 * time.Hour}, 100)},
		{"last-100-of-user", started(JobQuery{Cluster: "c", Until: until, User: "user007"}, 100)},
		{"last-100-of-partition", started(JobQuery{Cluster: "c", Until: until, Partition: "gpu-h100"}, 100)},
		{"week-of-user", started(ofUser, million)},
		{"week-of-shape", started(ofShape, million)},
		{"week", func(b *testing.B, s *Store) (n int) {
			b.Helper()
			for _, err := range s.Jobs(b.Context(), week) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			return n
		}},
		{"waits-of-week", func(b *testing.B, s *Store) int {
			b.Helper()
			waits, err := s.Waits(b.Context(), week)
			if err != nil {
				b.Fatal(err)
			}
			return len(waits)
		}},
	}
	for engine := range filled {
		if engine == "postgres" && !pgtest.Have(b) {
			continue
		}
		for _, q := range queries {
			b.Run(engine+"/"+q.name, func(b *testing.B) {
				s := filled[engine](b)
				var n int
				times := make([]time.Duration, 0, 100)
				for b.Loop() {
					begin := time.Now()
					if n = q.ask(b, s); n == 0 {
						b.Fatal("no jobs")
					}
					times = append(times, time.Since(begin))
				}
				slices.Sort(times)
				b.ReportMetric(float64(n), "jobs")
				b.ReportMetric(times[0].Seconds()*1e3, "least-ms")
				b.ReportMetric(times[len(times)/2].Seconds()*1e3, "median-ms")
			})
		}
	}
}

// BenchmarkLoop does what an agent does in a round for one chain of a thousand:
// look, plan a link, see it run.
func BenchmarkLoop(b *testing.B) {
	for engine, fresh := range map[string]func(*testing.B) string{
		"sqlite":   func(b *testing.B) string { b.Helper(); return filepath.Join(b.TempDir(), "segue.db") },
		"postgres": freshDurable,
	} {
		b.Run(engine, func(b *testing.B) {
			if engine == "postgres" && !pgtest.Have(b) {
				return
			}
			s := open(b, fresh(b))
			var last segue.Link
			for i := range 1000 {
				last = aLink(fmt.Sprintf("c%d", i), 1)
				if err := s.CreateChain(b.Context(), aChain(last.Chain), last); err != nil {
					b.Fatal(err)
				}
			}
			for i := 0; b.Loop(); i++ {
				links, err := s.LiveLinks(b.Context())
				if err != nil || len(links) < 1000 {
					b.Fatalf("%d links, %v", len(links), err)
				}
				last = running(last)
				if err := s.UpdateLink(b.Context(), segue.LinkSubmitting, last); err != nil {
					b.Fatal(err)
				}
				if last, err = s.NextLink(b.Context(), last, aDecision(t0.Add(time.Duration(i)*time.Second))); err != nil {
					b.Fatal(err)
				}
				ended := running(last)
				ended.Number--
				ended.State, ended.End = segue.LinkEnded, t0
				if err := s.UpdateLink(b.Context(), segue.LinkRunning, ended); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
