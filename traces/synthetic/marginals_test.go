package synthetic_test

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/traces/synthetic"
)

// measure is one line of the table in docs/synthetic.md: a number of a history,
// and how far a synthetic one may be from the real one.
type measure struct {
	name string
	of   func(*sample) float64
	// factor and slack bound the synthetic number by the real one:
	// within a factor of it, or within slack of it.
	factor, slack float64
}

// sample is a history, prepared for measuring.
type sample struct {
	jobs                         []segue.Job
	ran                          []segue.Job // that started and took time
	ratios, runs, waits          []float64   // run/limit, hours, hours
	perUser, nodeHours           []float64   // jobs, node-hours of each user, descending
	perDay, usersPerDay, sameGap []float64
	days                         float64
}

func newSample(jobs []segue.Job) *sample {
	s := &sample{jobs: jobs}
	byUser, hours := map[string]float64{}, map[string]float64{}
	daily, active, last := map[int64]float64{}, map[int64]map[string]bool{}, map[string]segue.Time{}
	for _, j := range jobs {
		byUser[j.User]++
		day := j.Submit.Unix() / 86400
		daily[day]++
		if active[day] == nil {
			active[day] = map[string]bool{}
		}
		active[day][j.User] = true
		if before, seen := last[j.User]; seen {
			s.sameGap = append(s.sameGap, j.Submit.Sub(before).Seconds())
		}
		last[j.User] = j.Submit
		if j.Run() == 0 {
			continue
		}
		s.ran = append(s.ran, j)
		s.ratios = append(s.ratios, j.Run().Seconds()/j.Limit.Seconds())
		s.runs = append(s.runs, j.Run().Hours())
		s.waits = append(s.waits, j.Wait().Hours())
		hours[j.User] += j.Run().Hours() * float64(j.Nodes)
	}
	s.perUser, s.nodeHours = descending(byUser), descending(hours)
	for day, n := range daily {
		s.perDay = append(s.perDay, n)
		s.usersPerDay = append(s.usersPerDay, float64(len(active[day])))
	}
	s.days = float64(len(daily))
	for _, v := range [][]float64{s.ratios, s.runs, s.waits, s.perDay, s.usersPerDay, s.sameGap} {
		sort.Float64s(v)
	}
	return s
}

func descending[K comparable](counts map[K]float64) []float64 {
	var v []float64
	for _, n := range counts {
		v = append(v, n)
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(v)))
	return v
}

func quantile(p float64, of func(*sample) []float64) func(*sample) float64 {
	return func(s *sample) float64 {
		v := of(s)
		return v[int(p*float64(len(v)-1))]
	}
}

func mean(of func(*sample) []float64) func(*sample) float64 {
	return func(s *sample) float64 { return sum(of(s)) / float64(len(of(s))) }
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

// topShare returns the part that the n largest of descending values hold.
func topShare(n int, of func(*sample) []float64) func(*sample) float64 {
	return func(s *sample) float64 { return sum(of(s)[:min(n, len(of(s)))]) / sum(of(s)) }
}

// part returns the part of the jobs, or of those that ran, that keep to a rule.
func part(jobs func(*sample) []segue.Job, rule func(segue.Job) bool) func(*sample) float64 {
	return func(s *sample) float64 {
		n := 0
		for _, j := range jobs(s) {
			if rule(j) {
				n++
			}
		}
		return float64(n) / float64(len(jobs(s)))
	}
}

var (
	all       = func(s *sample) []segue.Job { return s.jobs }
	ran       = func(s *sample) []segue.Job { return s.ran }
	ratios    = func(s *sample) []float64 { return s.ratios }
	runs      = func(s *sample) []float64 { return s.runs }
	waits     = func(s *sample) []float64 { return s.waits }
	perUser   = func(s *sample) []float64 { return s.perUser }
	nodeHours = func(s *sample) []float64 { return s.nodeHours }
	perDay    = func(s *sample) []float64 { return s.perDay }
	userDays  = func(s *sample) []float64 { return s.usersPerDay }
)

func nodes(least, most int32) func(segue.Job) bool {
	return func(j segue.Job) bool { return least <= j.Nodes && j.Nodes <= most }
}

func limited(least, most time.Duration) func(segue.Job) bool {
	return func(j segue.Job) bool { return least <= j.Limit && j.Limit <= most }
}

var measures = []measure{
	{"jobs a day, mean", mean(perDay), 1.5, 0},
	{"jobs a day, p10", quantile(0.1, perDay), 2, 0},
	{"jobs a day, p90", quantile(0.9, perDay), 1.6, 0},
	{"users a day, median", quantile(0.5, userDays), 1.6, 0},
	{"users seen", func(s *sample) float64 { return float64(len(s.perUser)) }, 1.4, 0},
	{"jobs of the 10 busiest users, part", topShare(10, perUser), 1.4, 0},
	{"node-hours of the 10 busiest users, part", topShare(10, nodeHours), 1.5, 0},
	{"jobs of a user, median", func(s *sample) float64 { return s.perUser[len(s.perUser)/2] }, 2, 0},
	{"next job of a user within 60 s, part", func(s *sample) float64 {
		return float64(sort.SearchFloat64s(s.sameGap, 61)) / float64(len(s.sameGap))
	}, 1.4, 0},
	{"next job of a user within 1 h, part", func(s *sample) float64 {
		return float64(sort.SearchFloat64s(s.sameGap, 3601)) / float64(len(s.sameGap))
	}, 1.2, 0},
	{"1 node, part of jobs", part(all, nodes(1, 1)), 1.15, 0},
	{"2 to 4 nodes, part of jobs", part(all, nodes(2, 4)), 1.5, 0},
	{"8 nodes or more, part of jobs", part(all, nodes(8, 1000)), 2, 0},
	{"limit 48 h, part of jobs", part(all, limited(48*time.Hour, 48*time.Hour)), 1.4, 0},
	{"limit 24 to 47 h, part of jobs", part(all, limited(24*time.Hour, 47*time.Hour)), 1.6, 0},
	{"limit at most 2 h, part of jobs", part(all, limited(0, 2*time.Hour)), 1.3, 0},
	{"run/limit, p25", quantile(0.25, ratios), 2, 0.01},
	{"run/limit, median", quantile(0.5, ratios), 1.5, 0},
	{"run/limit, p75", quantile(0.75, ratios), 1.3, 0},
	{"run hours, median", quantile(0.5, runs), 1.6, 0},
	{"run hours, p90", quantile(0.9, runs), 1.4, 0},
	{"ends within 60 s, part of those that ran", part(ran, func(j segue.Job) bool { return j.Run() < time.Minute }), 1.4, 0},
	{"at its limit, part of those that ran", part(ran, func(j segue.Job) bool { return j.Run() >= j.Limit-time.Second }), 1.4, 0},
	{"never started, part of jobs", func(s *sample) float64 { return 1 - float64(len(s.ran))/float64(len(s.jobs)) }, 2, 0},
	{"node-hours a job that ran, mean", func(s *sample) float64 { return sum(s.nodeHours) / float64(len(s.ran)) }, 1.5, 0},
	{"busy nodes, mean", func(s *sample) float64 { return sum(s.nodeHours) / 24 / s.days }, 1.3, 0},
	{"wait hours, mean", mean(waits), 3, 0},
	{"wait hours, median", quantile(0.5, waits), 3, 0.1},
	{"wait hours, p75", quantile(0.75, waits), 3, 0},
	{"wait hours, p90", quantile(0.9, waits), 3, 0},
	{"wait hours, p99", quantile(0.99, waits), 3, 0},
}

// TestMarginalsResembleARealCluster compares default histories of several seeds
// with the Lonestar6 log and prints the table of docs/synthetic.md under -v. A
// measure is held to its bound on the mean over the seeds: single histories
// differ, as single years of one cluster do.
func TestMarginalsResembleARealCluster(t *testing.T) {
	t.Parallel()
	recorded := newSample(readLonestar6(t))
	var made []*sample
	for seed := range uint64(16) {
		jobs, err := synthetic.Jobs(synthetic.Config{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, newSample(jobs))
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| measure\t| Lonestar6\t| synthetic, mean\t| least\t| most\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|")
	for _, m := range measures {
		want := m.of(recorded)
		var got []float64
		for _, s := range made {
			got = append(got, m.of(s))
		}
		average := sum(got) / float64(len(got))
		fmt.Fprintf(w, "| %s\t| %.3g\t| %.3g\t| %.3g\t| %.3g\t|\n", m.name, want, average, slices.Min(got), slices.Max(got))
		if (average > want*m.factor || average < want/m.factor) && (average > want+m.slack || average < want-m.slack) {
			t.Errorf("%s: %.3g on average, want within a factor of %g of %.3g", m.name, average, m.factor, want)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", out.String())
}

// readLonestar6 reads the columns that are measured: JobID JobName UID Start
// Submit End Priority TimelimitR ExitCode NNodes.
func readLonestar6(t *testing.T) []segue.Job {
	t.Helper()
	f, err := os.Open(shared.Path(t, "traces/ls6-a100-to-2023-02.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	instant := func(s string) segue.Time {
		at, err := time.Parse("2006-01-02T15:04:05", s)
		if err != nil {
			t.Fatal(err)
		}
		return segue.TimeOf(at)
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var jobs []segue.Job
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		if len(c) != 10 {
			continue // the two lines of the header
		}
		jobs = append(jobs, segue.Job{
			Name: c[1], User: c[2], Start: instant(c[3]), Submit: instant(c[4]), End: instant(c[5]),
			Limit: time.Duration(number(c[7])) * time.Minute, Nodes: int32(number(c[9])),
		})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	sort.SliceStable(jobs, func(i, k int) bool { return jobs[i].Submit < jobs[k].Submit })
	return jobs
}
