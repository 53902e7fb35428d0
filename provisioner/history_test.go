package provisioner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/store"
)

// accounting answers like sacct: with the jobs that waited or ran in a window.
type accounting struct {
	schedulers.Driver
	jobs  []accounted
	asked []string // windows, in hours after noon
	fails error
	extra string // lines after the jobs
}

type accounted struct {
	number             int
	submit, start, end segue.Time // NoTime: not yet
}

func (a *accounting) History(_ context.Context, from, until segue.Time, w io.Writer) error {
	a.asked = append(a.asked, fmt.Sprintf("%g to %g", from.Sub(noon).Hours(), until.Sub(noon).Hours()))
	if a.fails != nil {
		return a.fails
	}
	lines := []string{"JobID|User|Account|Partition|QOS|Submit|Eligible|Start|End|Timelimit|NNodes|NCPUS|ReqTRES|AllocTRES|Priority|State|ExitCode|JobName"}
	at := func(t segue.Time, otherwise string) string {
		if !t.Known() {
			return otherwise
		}
		return fmt.Sprint(t.Std().Unix())
	}
	for _, j := range a.jobs {
		if j.submit >= until || j.end.Known() && j.end < from {
			continue
		}
		state := "COMPLETED"
		switch {
		case !j.start.Known():
			state = "PENDING"
		case !j.end.Known():
			state = "RUNNING"
		}
		lines = append(lines, fmt.Sprintf("%d|ada|physics|gpu|normal|%s|%[2]s|%s|%s|1-00:00:00|2|64|billing=64,gres/gpu=8,node=2|billing=64,gres/gpu=8,node=2|1000|%s|0:0|a|b",
			j.number, at(j.submit, ""), at(j.start, "Unknown"), at(j.end, "Unknown"), state))
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"+a.extra)
	return err
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "segue.db"), store.Config{Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func numbersOf(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	for j, err := range s.Jobs(t.Context(), store.JobQuery{Cluster: "c"}) {
		if err != nil {
			t.Fatal(err)
		}
		word := "ended"
		if !j.End.Known() {
			word = "runs"
		}
		all = append(all, fmt.Sprintf("%d %s", j.ID.Number, word))
	}
	return all
}

// The first time the history of a month is asked for day by day; then what came
// since, and a little before it. A job that ran then is ended by what comes later,
// and one that waits is not history yet.
func TestHistoryIsCollectedSliceBySlice(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a := &accounting{jobs: []accounted{
		{1, noon.Add(-60 * hour), noon.Add(-59 * hour), noon.Add(-40 * hour)}, // over two slices
		{2, noon.Add(-10 * hour), noon.Add(-9 * hour), segue.NoTime},
		{3, noon.Add(-hour), segue.NoTime, segue.NoTime},
	}}
	cfg := provisioner.HistoryConfig{Back: 60 * hour}
	for now := noon; ; {
		c, err := provisioner.CollectHistory(t.Context(), s, a, "c", now, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if c.Until == now {
			break
		}
	}
	if got, want := strings.Join(a.asked, ", "), "-60 to -36, -37 to -13, -14 to 0"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
	if got, want := strings.Join(numbersOf(t, s), ", "), "1 ended, 2 runs"; got != want {
		t.Errorf("history %s, want %s", got, want)
	}
	a.jobs[1].end, a.jobs[2].start = noon.Add(hour), noon.Add(hour)
	if _, err := provisioner.CollectHistory(t.Context(), s, a, "c", noon.Add(2*hour), cfg); err != nil {
		t.Fatal(err)
	}
	if got, want := a.asked[3], "-1 to 2"; got != want {
		t.Errorf("then asked for %s, want %s", got, want)
	}
	if got, want := strings.Join(numbersOf(t, s), ", "), "1 ended, 2 ended, 3 runs"; got != want {
		t.Errorf("then history %s, want %s", got, want)
	}
}

// While the accounting does not answer, or answers what cannot be read, nothing is
// taken for asked: the next time begins there.
func TestHistoryHasNoHoles(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	a := &accounting{jobs: []accounted{{1, noon.Add(-3 * hour), noon.Add(-2 * hour), noon.Add(-hour)}}}
	cfg := provisioner.HistoryConfig{Back: 12 * hour}
	down := segue.Errorf(segue.Unavailable, "slurmdbd is down")
	a.fails = down
	if _, err := provisioner.CollectHistory(t.Context(), s, a, "c", noon, cfg); !errors.Is(err, down) {
		t.Errorf("error %v, want that of the accounting", err)
	}
	if until, err := s.Accounted(t.Context(), "c"); err != nil || until.Known() {
		t.Errorf("asked up to %s, %v; want never", until, err)
	}
	a.fails, a.extra = nil, "what|is|this\n"
	c, err := provisioner.CollectHistory(t.Context(), s, a, "c", noon, cfg)
	if err != nil || c.Rejected != 1 || c.Changed != 1 {
		t.Errorf("collected %+v, %v; want one job, and one record rejected", c, err)
	}
	if c, err = provisioner.CollectHistory(t.Context(), s, a, "c", noon.Add(-5*time.Minute), cfg); err != nil || c.Read != 1 {
		t.Errorf("a clock that goes back: %+v, %v; want the job once more", c, err)
	}
	if until, err := s.Accounted(t.Context(), "c"); err != nil || until != noon {
		t.Errorf("asked up to %s, %v; want %s", until, err, noon)
	}
}

// An agent catches up a slice a round, and then asks once an hour; it asks again
// soon when there was no answer.
func TestAnAgentAsksTheAccounting(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, noDecider{})
	a := &accounting{Driver: w.driver}
	var err error
	if w.cluster, err = schedulers.New(a, schedulers.Config{Now: w.driver.Now}); err != nil {
		t.Fatal(err)
	}
	agent, err := provisioner.NewAgent(w.store, w.cluster, func(*store.Store) (*provisioner.Chains, error) { return w.chains, nil }, provisioner.AgentConfig{
		Now: w.driver.Now, Holder: "one", History: provisioner.HistoryConfig{Back: 36 * hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	for minute := range 70 {
		if a.fails = nil; minute == 61 {
			a.fails = segue.Errorf(segue.Unavailable, "slurmdbd is down")
		}
		if err := agent.RunOnce(t.Context()); (err != nil) != (minute == 61) {
			t.Fatalf("minute %d: error %v", minute, err)
		}
		w.driver.Advance(w.driver.Now().Add(time.Minute))
	}
	var instants []string
	for _, window := range a.asked {
		_, until, _ := strings.Cut(window, " to ")
		instants = append(instants, until)
	}
	if got, want := strings.Join(instants, ", "), fmt.Sprintf("-12, %g, %g, %g", 1./60, 61./60, 66./60); got != want {
		t.Errorf("asked up to %s hours after noon, want %s", got, want)
	}
}
