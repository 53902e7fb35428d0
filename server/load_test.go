package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/store"
)

// BenchmarkAdvice loads a server process, which holds a history of 100,000 jobs and
// asks the model that segue carries, by advice for 40 different questions:
//
//   - paced: 2,000 requests a second on 16 connections;
//   - full speed: 16 connections, each asking again at once, of a server without a
//     bound;
//   - beyond the bound: 600 connections, of which the server, bound to 2,500 requests
//     a second, sheds what is more;
//   - bare: a handler that answers the same bytes, at full speed, for comparison.
//
// Run it with -benchtime 10s -cpu 2.
func BenchmarkAdvice(b *testing.B) {
	r := loaded(b)
	for _, how := range []struct {
		name        string
		connections int
		pace        float64 // requests a second; 0 for as many as can be
		of          target
	}{
		{"paced", 16, 2000, r.bounded},
		{"full speed", 16, 0, r.free},
		{"beyond the bound", 600, 0, r.bounded},
		{"afterwards", 16, 2000, r.bounded},
		{"bare", 16, 0, r.bare},
	} {
		b.Run(how.name, func(b *testing.B) {
			load := loadOf(b, how.of.address, r.secret, how.connections, how.pace)
			load.report(b)
			if how.of.pid != 0 {
				b.ReportMetric(float64(memoryOf(b, how.of.pid))/(1<<20), "MB")
			}
		})
	}
}

// rig are two server processes to load, one of which bounds the rate, and a bare
// handler.
type rig struct {
	bounded, free, bare target
	secret              string
}

// target is what is loaded; pid is 0 for what is no process of its own.
type target struct {
	address string
	pid     int
}

func loaded(b *testing.B) rig {
	b.Helper()
	path := filepath.Join(b.TempDir(), "segue.db")
	s, err := store.Open(b.Context(), path, store.Config{Volatile: true})
	if err != nil {
		b.Fatal(err)
	}
	busyHistory(b, s, 100_000)
	_, secret, err := CreateToken(b.Context(), s, Grant{User: "olga", Scopes: []api.Scope{api.ScopeOperator}}, "olga", realNow())
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	r := rig{secret: secret}
	var answer []byte
	start := func(more ...string) target {
		child := startChild(b, secret, append(more, childDatabase+"="+path, childModel+"=default")...)
		for i := range questions { // each is worked out once
			if answer, _, err = ask(b.Context(), http.DefaultClient, "http://"+child.address, secret, questionOf(i)); err != nil {
				b.Fatal(err)
			}
		}
		return target{child.address, child.process.Process.Pid}
	}
	r.bounded, r.free = start(childRate+"=2500"), start()
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
	b.Cleanup(bare.Close)
	r.bare.address = strings.TrimPrefix(bare.URL, "http://")
	return r
}

// busyHistory keeps n jobs of the last 30 days, on some 80 nodes.
func busyHistory(b *testing.B, s *store.Store, n int) {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	every := 29 * 24 * time.Hour / time.Duration(n)
	jobs := func(yield func(segue.Job, error) bool) {
		for i := range n {
			at := t0.Add(time.Duration(i) * every)
			start := at.Add(time.Duration(random.ExpFloat64() * float64(20*time.Minute)))
			run := time.Duration(random.ExpFloat64() * float64(30*time.Minute))
			j := segue.Job{
				ID: segue.JobID{Number: int64(i + 1)}, User: fmt.Sprint("user", i%50), Nodes: 1, Limit: 4 * time.Hour, Submit: at, Eligible: at,
				Start: start, End: start.Add(min(run, 4*time.Hour)), State: segue.Completed,
			}
			if !yield(j, nil) {
				return
			}
		}
	}
	if _, err := s.ImportJobs(b.Context(), "busy", jobs); err != nil {
		b.Fatal(err)
	}
}

// questions is how many different ones are asked.
const questions = 40

func questionOf(i int) []byte {
	return fmt.Appendf(nil, `{"nodes":%d,"time_limit":"48:00:00","remaining":"%dh","user":"user%d"}`, 1+i%4, 6+i%5, i%questions/2)
}

// measured is what came of a load.
type measured struct {
	mu      sync.Mutex
	times   []time.Duration // of the answers
	shed    int
	elapsed time.Duration
}

// loadOf asks for as long as the benchmark lasts.
func loadOf(b *testing.B, address, secret string, connections int, pace float64) *measured {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	var m measured
	var next atomic.Int64
	var work sync.WaitGroup
	b.ResetTimer()
	began := time.Now()
	for range connections {
		work.Go(func() {
			var times []time.Duration
			shed := 0
			for {
				i := next.Add(1)
				if i > int64(b.N) {
					break
				}
				if pace > 0 {
					until := began.Add(time.Duration(float64(i) / pace * float64(time.Second)))
					<-time.After(time.Until(until))
				}
				asked := time.Now()
				_, status, err := ask(b.Context(), client, "http://"+address, secret, questionOf(int(i)%questions))
				switch {
				case status == http.StatusServiceUnavailable:
					shed++
				case err != nil:
					b.Error(err)
					return
				default:
					times = append(times, time.Since(asked))
				}
			}
			m.mu.Lock()
			defer m.mu.Unlock()
			m.times, m.shed = append(m.times, times...), m.shed+shed
		})
	}
	work.Wait()
	m.elapsed = time.Since(began)
	return &m
}

func (m *measured) report(b *testing.B) {
	b.Helper()
	if len(m.times) == 0 {
		b.Fatalf("no answer, and %d were shed", m.shed)
	}
	slices.Sort(m.times)
	at := func(p float64) float64 {
		return float64(m.times[int(p*float64(len(m.times)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(float64(len(m.times))/m.elapsed.Seconds(), "advices/s")
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(float64(m.shed)/float64(m.shed+len(m.times)), "shed")
}

func ask(ctx context.Context, client *http.Client, server, secret string, body []byte) (answer []byte, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/v1/advice", bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", "application/json")
	got, err := client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = got.Body.Close() }()
	answer, err = io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", got.Status, answer)
	}
	return answer, got.StatusCode, err
}

// memoryOf returns the resident memory of a process in bytes.
func memoryOf(b *testing.B, pid int) int64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib << 10
}
