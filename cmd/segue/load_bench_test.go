package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// BenchmarkLoad loads `segue serve`, which holds a history of 100,000 jobs and asks
// the model that segue carries, by advice for 40 different questions. The load comes
// from vegeta, in a process of its own, which asks at its pace whether answers come
// or not; the handler to compare with answers the same bytes. Each load lasts for
// SEGUE_LOAD_SECONDS (15). `make load` runs it and makes a table of it.
func BenchmarkLoad(b *testing.B) {
	vegeta := os.Getenv("SEGUE_VEGETA")
	if vegeta == "" {
		b.Fatal("SEGUE_VEGETA does not name the program vegeta: make load builds it")
	}
	span := 15 * time.Second
	if n, err := strconv.Atoi(os.Getenv("SEGUE_LOAD_SECONDS")); err == nil {
		span = time.Duration(n) * time.Second
	}
	r := loaded(b)
	for _, how := range []struct {
		name    string
		rate    int // requests a second; 0 for as many as come of the workers
		workers int // that ask at once, at most
		of      target
	}{
		{"2000 a second", 2000, 600, r.bounded},
		{"10 times that", 20_000, 600, r.bounded},
		{"2000 a second again", 2000, 600, r.bounded},
		{"as many as can be", 0, 16, r.free},
		{"a bare handler, 2000 a second", 2000, 600, r.bare},
		{"a bare handler, as many as can be", 0, 16, r.bare},
	} {
		b.Run(how.name, func(b *testing.B) {
			for b.Loop() {
				how.of.warm(b)
				attack(b, vegeta, how.of, how.rate, how.workers, span).report(b)
			}
			if how.of.server != nil {
				b.ReportMetric(float64(memoryOf(b, how.of.server.process.Process.Pid))/(1<<20), "MB")
			}
		})
	}
}

// target is what is loaded: vegeta's file of requests, and the server that answers
// them, nil for the bare handler.
type target struct {
	requests string
	server   *running
}

// warm asks each question once, which is worked out anew after a while in which
// nobody asked.
func (t target) warm(b *testing.B) (answer string) {
	b.Helper()
	for i := 0; t.server != nil && i < questions; i++ {
		var status int
		if status, answer, _ = t.server.ask(http.MethodPost, "/v1/advice", "", questionOf(i)); status != http.StatusOK {
			b.Fatalf("status %d: %s", status, answer)
		}
	}
	return answer
}

// loads are two servers to load, one of which bounds the rate, and a bare handler.
type loads struct{ bounded, free, bare target }

func loaded(b *testing.B) loads {
	b.Helper()
	program := buildSegue(b)
	dir := b.TempDir()
	start := func(name, limits string) *running {
		s := &service{t: b, program: program, dir: dir, client: http.Client{Timeout: time.Minute}}
		s.variables = []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		data := filepath.Join(dir, name)
		busyHistory(b, filepath.Join(data, "segue.db"), 100_000)
		file := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(file, []byte("limits: {"+limits+"}\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		return s.start(name, freeAddress(b), "--config", file, "--no-scheduler", "--model", "default")
	}
	aim := func(r *running) target { return target{requestsFor(b, r.address, r.secret), r} }
	all := loads{bounded: aim(start("bounded", "rate: 2500")), free: aim(start("free", "rate: 0"))}
	answer := all.free.warm(b)
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	b.Cleanup(bare.Close)
	all.bare.requests = requestsFor(b, bare.URL, "nobody asks for it")
	return all
}

// busyHistory keeps n jobs of 30 days, on some 80 nodes.
func busyHistory(b *testing.B, path string, n int) {
	b.Helper()
	s, err := store.Open(b.Context(), path, store.Config{Volatile: true})
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	first := segue.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	every := 29 * 24 * time.Hour / time.Duration(n)
	jobs := func(yield func(segue.Job, error) bool) {
		for i := range n {
			at := first.Add(time.Duration(i) * every)
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
	_, err = s.ImportJobs(b.Context(), "busy", jobs)
	if err = errors.Join(err, s.Close()); err != nil {
		b.Fatal(err)
	}
}

// questions is how many different ones are asked.
const questions = 40

func questionOf(i int) string {
	return fmt.Sprintf(`{"nodes":%d,"time_limit":"48:00:00","remaining":"%dh","user":"user%d"}`, 1+i%4, 6+i%5, i%questions/2)
}

// requestsFor writes the requests for a server as vegeta reads them, and returns
// where.
func requestsFor(b *testing.B, address, secret string) string {
	b.Helper()
	var all strings.Builder
	lines := json.NewEncoder(&all)
	for i := range questions {
		err := lines.Encode(struct {
			Method string              `json:"method"`
			URL    string              `json:"url"`
			Body   []byte              `json:"body"` // in base64
			Header map[string][]string `json:"header"`
		}{
			http.MethodPost, address + "/v1/advice", []byte(questionOf(i)),
			map[string][]string{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "requests.json")
	if err := os.WriteFile(path, []byte(all.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// measured is what came of a load.
type measured struct {
	answered     []time.Duration // how long each answer took
	shed, failed int
	span         time.Duration
}

// attack lets vegeta load a target.
func attack(b *testing.B, vegeta string, of target, rate, workers int, span time.Duration) *measured {
	b.Helper()
	results := filepath.Join(b.TempDir(), "results")
	said, err := exec.CommandContext(b.Context(), vegeta, "attack", "-format", "json", "-targets", of.requests, "-output", results,
		"-rate", strconv.Itoa(rate), "-max-workers", strconv.Itoa(workers), "-duration", span.String(), "-max-body", "0", "-timeout", "10s").CombinedOutput()
	if err != nil {
		b.Fatalf("vegeta: %v: %s", err, said)
	}
	table := results + ".csv"
	if said, err := exec.CommandContext(b.Context(), vegeta, "encode", "-to", "csv", "-output", table, results).CombinedOutput(); err != nil {
		b.Fatalf("vegeta: %v: %s", err, said)
	}
	return measuredIn(b, table)
}

// measuredIn reads a table of vegeta's: an instant, a status and a span in nanoseconds
// come first in each line.
func measuredIn(b *testing.B, path string) *measured {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var m measured
	var first, last int64
	lines := csv.NewReader(f)
	for {
		line, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		at, atErr := strconv.ParseInt(line[0], 10, 64)
		took, err := strconv.ParseInt(line[2], 10, 64)
		if err = errors.Join(atErr, err); err != nil {
			b.Fatal(err)
		}
		if first == 0 || at < first {
			first = at
		}
		last = max(last, at+took)
		switch line[1] {
		case "200":
			m.answered = append(m.answered, time.Duration(took))
		case "503":
			m.shed++
		default:
			m.failed++
		}
	}
	m.span = time.Duration(last - first)
	return &m
}

func (m *measured) report(b *testing.B) {
	b.Helper()
	if len(m.answered) == 0 {
		b.Fatalf("no answer, %d were shed and %d failed", m.shed, m.failed)
	}
	slices.Sort(m.answered)
	at := func(p float64) float64 {
		return float64(m.answered[int(p*float64(len(m.answered)-1))].Microseconds()) / 1000
	}
	all := float64(len(m.answered) + m.shed + m.failed)
	b.ReportMetric(all/m.span.Seconds(), "asked/s")
	b.ReportMetric(float64(len(m.answered))/m.span.Seconds(), "answered/s")
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(100*float64(m.shed)/all, "shed-%")
	b.ReportMetric(100*float64(m.failed)/all, "failed-%")
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
