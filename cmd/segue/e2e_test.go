package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
)

// endToEnd is how much of the end-to-end test is run, by SEGUE_E2E.
type endToEnd struct {
	chains, links int           // of each kind
	trouble       time.Duration // between two mishaps
	most          time.Duration // that all of it may take
}

var endToEnds = map[string]endToEnd{
	"short": {chains: 2, links: 3, trouble: 40 * time.Second, most: 12 * time.Minute},
	"long":  {chains: 7, links: 17, trouble: 75 * time.Second, most: 75 * time.Minute},
}

// A researcher's chains on a real Slurm that is busy and breaks down: slurmctld
// is killed, and hangs; the agent is killed again and again. No link is lost and
// none doubled, by what sacct says. Twins without Segue run beside them: chains of
// dependent jobs (afterany), and of jobs that start a fixed time before the end
// of the one before (after:JOB+minutes).
func TestChainsOnARealSlurm(t *testing.T) {
	t.Parallel()
	how, ok := endToEnds[os.Getenv("SEGUE_E2E")]
	if !ok {
		if os.Getenv("SEGUE_E2E") != "" {
			t.Fatalf("SEGUE_E2E is %q, want short or long", os.Getenv("SEGUE_E2E"))
		}
		return // `make e2e-slurm` and `make test` ask for it
	}
	r := newRig(t, how)
	t.Logf("a Slurm of 8 nodes with 4 GPUs each is up in %s", r.slurm.Dir)
	var chains []string
	for i := range how.chains {
		chains = append(chains, r.submit(fmt.Sprintf("segue-%d", i+1)))
		r.twins(fmt.Sprintf("afterany-%d", i+1), "afterany:%s")
		r.twins(fmt.Sprintf("fixed-%d", i+1), "after:%s+1")
	}
	r.adopt("adopted")
	ctx, cancel := context.WithTimeout(t.Context(), how.most)
	defer cancel()
	var work sync.WaitGroup
	trouble, stop := context.WithCancel(ctx)
	work.Go(func() { r.load(trouble) })
	work.Go(func() { r.agents(trouble) })
	work.Go(func() { r.mishaps(trouble) })
	r.untilDone(ctx, chains)
	stop()
	work.Wait()
	r.judge(chains)
	r.tells("logs", "segue-1", fmt.Sprintf("%s %d", chains[0], how.links)) // what its last link wrote
	r.tells("why", "segue-1", fmt.Sprintf("about link %d", how.links))
	r.tells("status", "adopted", "is done")
	if why, err := r.command(t.Context(), r.segue, "why", "segue-1"); err == nil {
		t.Logf("segue why segue-1:\n%s", why)
	}
}

// tells wants a command about a chain to print a text.
func (r *rig) tells(command, chain, want string) {
	r.t.Helper()
	out, err := r.command(r.t.Context(), r.segue, command, chain)
	if err != nil || !strings.Contains(out, want) {
		r.t.Errorf("segue %s %s: %v, want %q in\n%s", command, chain, err, want, out)
	}
}

// adopt makes a job that sbatch has submitted the first link of a chain.
func (r *rig) adopt(name string) {
	r.t.Helper()
	args := []string{"-J", name, "--nodes=1", "--gres=gpu:1", "--time=1", "-o/dev/null", "--wrap=exec sleep 600"}
	job, err := r.command(r.t.Context(), "sbatch", append([]string{"--parsable"}, args...)...)
	if err != nil {
		r.t.Fatalf("sbatch: %v", err)
	}
	adopt := func() (string, error) {
		return r.command(r.t.Context(), r.segue, append([]string{"adopt", job, "--segue-links=2"}, args...)...)
	}
	if out, err := adopt(); err != nil || !strings.HasPrefix(out, "Job "+job+" is the first link of chain ") {
		r.t.Fatalf("segue adopt: %v: %s", err, out)
	}
	if out, err := adopt(); err == nil {
		r.t.Errorf("adopted twice: %s", out)
	}
}

// rig is a cluster with what happens on it.
type rig struct {
	t     *testing.T
	how   endToEnd
	slurm *slurmtest.Slurm
	dir   string
	segue string   // the binary
	env   []string // of the user
}

func newRig(t *testing.T, how endToEnd) *rig {
	t.Helper()
	return newRigOf(t, how, slurmtest.Config{Accounting: true})
}

func newRigOf(t *testing.T, how endToEnd, cfg slurmtest.Config) *rig {
	t.Helper()
	r := &rig{t: t, how: how, dir: t.TempDir()}
	r.segue = filepath.Join(r.dir, "segue")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", r.segue, ".").CombinedOutput(); err != nil {
		t.Fatalf("build segue: %v\n%s", err, out)
	}
	// A dependent job grows no older while it waits for its predecessor: that is
	// Slurm's default, and what makes chains of afterany wait.
	cfg.Extra = []string{
		"PriorityType=priority/multifactor", "PriorityWeightAge=1000000", "PriorityMaxAge=0-01:00", "PriorityCalcPeriod=1",
	}
	if !cfg.Accounting {
		cfg.Extra = nil // the plugin wants it
	}
	r.slurm = slurmtest.Start(t, cfg)
	r.env = append(slices.Clone(r.slurm.Env), "XDG_STATE_HOME="+filepath.Join(r.dir, "state"), "DATABASE_URL=")
	return r
}

// command runs one of the user's commands.
func (r *rig) command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Dir = r.env, r.dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// submit submits a chain as a user does, and returns its ID.
func (r *rig) submit(name string) string {
	r.t.Helper()
	script := filepath.Join(r.dir, name+".sh")
	text := fmt.Sprintf("#!/bin/bash\n#SBATCH --nodes=1 --gres=gpu:1 --time=1 -o %s/%%x-%%j.out\n#SEGUE --chain --links %d\necho \"$SEGUE_CHAIN $SEGUE_LINK\"\nexec sleep 600\n",
		r.dir, r.how.links)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if out, err := r.command(r.t.Context(), r.segue, "sbatch", "-J", name, script); err != nil || !strings.HasPrefix(out, "Submitted batch job ") {
		r.t.Fatalf("segue sbatch: %v: %s", err, out)
	}
	return r.idOf(name)
}

// idOf returns the ID of the chain of a name.
func (r *rig) idOf(name string) string {
	r.t.Helper()
	out, err := r.command(r.t.Context(), r.segue, "status", "--json")
	if err != nil {
		r.t.Fatalf("segue status: %v", err)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"name":"`+name+`"`) {
			_, rest, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			return id
		}
	}
	r.t.Fatalf("segue status does not show %s:\n%s", name, out)
	return ""
}

// twins submits all links at once, as people do without Segue.
func (r *rig) twins(name, dependency string) {
	r.t.Helper()
	args := []string{"--parsable", "--nodes=1", "--gres=gpu:1", "--time=1", "-o/dev/null", "-J", name}
	job := ""
	for range r.how.links {
		more := []string{"--wrap=exec sleep 600"}
		if job != "" {
			more = append(more, "--dependency="+fmt.Sprintf(dependency, job))
		}
		out, err := r.command(r.t.Context(), "sbatch", append(slices.Clone(args), more...)...)
		if err != nil {
			r.t.Fatalf("sbatch: %v", err)
		}
		job = out
	}
}

// gpus is how many GPUs the cluster has.
const gpus = 8 * 4

// load brings other people's jobs: a burst, and then a little more than what the
// chains leave of the cluster, so that there is a queue.
func (r *rig) load(ctx context.Context) {
	rng := rand.New(rand.NewPCG(1, 1))
	share := 1.05 * float64(gpus-3*r.how.chains)
	for i := 0; ctx.Err() == nil; i++ {
		wide, seconds := 1+rng.IntN(4), 10+rng.IntN(60)
		_, _ = r.command(ctx, "sbatch", "--uid=nobody", "--chdir=/", "-J", "load", "-o/dev/null", "--nodes=1", fmt.Sprintf("--ntasks=%d", wide), fmt.Sprintf("--gres=gpu:%d", wide), "--time=2",
			fmt.Sprintf("--wrap=sleep %d", seconds)) // which fails while slurmctld is down
		if i >= gpus/2 {
			pause(ctx, time.Duration(float64(wide*seconds)/share*rng.ExpFloat64()*float64(time.Second)))
		}
	}
}

// agents starts agents, two at a time, and kills them at random.
func (r *rig) agents(ctx context.Context) {
	rng := rand.New(rand.NewPCG(2, 2))
	var work sync.WaitGroup
	for range 2 {
		seed := rng.Uint64()
		work.Go(func() {
			own := rand.New(rand.NewPCG(seed, 3))
			for ctx.Err() == nil {
				r.oneAgent(ctx, time.Duration(5+own.IntN(40))*time.Second)
			}
		})
	}
	work.Wait()
}

// oneAgent runs an agent until it is killed.
func (r *rig) oneAgent(ctx context.Context, life time.Duration) {
	log, err := os.OpenFile(filepath.Join(r.dir, "agent.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		r.t.Error(err)
		return
	}
	defer log.Close()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), r.segue, "agent", "--every", "2s")
	cmd.Env, cmd.Dir, cmd.Stderr = r.env, r.dir, log
	if err := cmd.Start(); err != nil {
		r.t.Error(err)
		return
	}
	pause(ctx, life)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// mishaps kills slurmctld, and makes it hang, in turn.
func (r *rig) mishaps(ctx context.Context) {
	for i := 0; ; i++ {
		if pause(ctx, r.how.trouble); ctx.Err() != nil {
			return
		}
		if i%2 == 0 {
			r.t.Log("slurmctld is killed, and started again")
			r.slurm.StopController(true)
			pause(ctx, 5*time.Second)
			if err := r.slurm.StartController(context.WithoutCancel(ctx)); err != nil {
				r.t.Errorf("start slurmctld again: %v", err)
				return
			}
			continue
		}
		r.t.Log("slurmctld hangs")
		wake := r.slurm.HangController()
		pause(ctx, 12*time.Second)
		wake()
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// untilDone waits until all chains and their twins have ended.
func (r *rig) untilDone(ctx context.Context, chains []string) {
	r.t.Helper()
	for {
		out, err := r.command(ctx, r.segue, "status", "--json")
		if err == nil && out == "" && r.twinsDone(ctx) {
			return
		}
		if pause(ctx, 5*time.Second); ctx.Err() != nil {
			out, _ := r.command(r.t.Context(), r.segue, "status", "--all")
			log, _ := os.ReadFile(filepath.Join(r.dir, "agent.log"))
			r.t.Fatalf("%v have not ended in %s:\n%s\n%s", chains, r.how.most, out, log[max(0, len(log)-4000):])
		}
	}
}

// twinsDone reports whether no twin will run any more: one whose launch failed is
// held until somebody releases it, and its dependents with it.
func (r *rig) twinsDone(ctx context.Context) bool {
	out, err := r.command(ctx, "squeue", "-h", "-o", "%j %r")
	if err != nil {
		return false
	}
	stuck := map[string]bool{}
	for line := range strings.Lines(out) {
		if name, reason, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasSuffix(reason, "held") {
			stuck[name] = true
		}
	}
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, " ")
		if (strings.HasPrefix(name, "afterany-") || strings.HasPrefix(name, "fixed-")) && !stuck[name] {
			return false
		}
	}
	return true
}

// stint is a job as sacct shows it.
type stint struct{ start, end int64 }

// explain tells what is known of a chain that did not go as it should have.
func (r *rig) explain(chain, accounting string) {
	r.t.Helper()
	for _, args := range [][]string{{"status", "--all", "--json"}, {"status", chain}, {"why", chain}} {
		out, err := r.command(r.t.Context(), r.segue, args...)
		r.t.Logf("segue %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	for line := range strings.Lines(accounting) {
		if strings.Contains(line, chain) {
			r.t.Logf("sacct: %s", strings.TrimSpace(line))
		}
	}
	log, err := os.ReadFile(filepath.Join(r.dir, "agent.log"))
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, chain) {
			r.t.Logf("agent: %s", strings.TrimSpace(line))
		}
	}
	r.t.Logf("agent.log: %v", err)
}

// judge compares what sacct says with what should have been.
func (r *rig) judge(chains []string) {
	r.t.Helper()
	pause(r.t.Context(), 3*time.Second) // slurmdbd is told a little later
	cmd := r.slurm.Command(r.t.Context(), "sacct", "-X", "-n", "-P", "-S", "now-3hours", "-o", "JobName,Start,End,Comment,State,JobID")
	cmd.Env = append(cmd.Env, "SLURM_TIME_FORMAT=%s")
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("sacct: %v", err)
	}
	byName := map[string][]stint{}
	links := map[string]map[int]int{} // by chain and number, how many jobs
	waiting := map[string]int{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 6 || f[0] == "load" {
			continue
		}
		start, _ := strconv.ParseInt(f[1], 10, 64)
		end, _ := strconv.ParseInt(f[2], 10, 64)
		if start > 0 {
			byName[f[0]] = append(byName[f[0]], stint{start, end})
		}
		if _, chain, number, _, ok := segue.FindToken(f[3]); ok {
			if links[chain] == nil {
				links[chain] = map[int]int{}
			}
			if start > 0 || f[4] != "PENDING" {
				links[chain][number]++
			} else { // one that slurmctld has lost, which waits for ever by its record, or one too many
				waiting[chain]++
			}
		}
	}
	for _, chain := range chains {
		for n := 1; n <= r.how.links; n++ {
			if jobs := links[chain][n]; jobs != 1 {
				r.t.Errorf("link %d of chain %s was %d jobs, want 1", n, chain, jobs)
			}
		}
		for _, l := range r.linksOf(chain) {
			if l.State == segue.LinkLost.String() {
				r.t.Logf("chain %s: attempt %d at link %d was lost with job %q, and tried again", chain, l.Attempt, l.Number, l.Job)
				waiting[chain]--
			}
		}
		if waiting[chain] > 0 {
			r.t.Errorf("%d jobs of chain %s wait by their records, and nobody knows of them", waiting[chain], chain)
			r.explain(chain, string(out))
		}
		if len(links[chain]) != r.how.links {
			r.t.Errorf("chain %s had %d links, want %d", chain, len(links[chain]), r.how.links)
			r.explain(chain, string(out))
		}
	}
	for _, kind := range []string{"segue", "afterany", "fixed"} {
		var gap, overlap, handovers float64
		for i := range r.how.chains {
			list := byName[fmt.Sprintf("%s-%d", kind, i+1)]
			slices.SortFunc(list, func(a, b stint) int { return int(a.start - b.start) })
			switch {
			case len(list) == r.how.links:
			case kind == "segue":
				r.t.Errorf("%s-%d ran %d times, want %d", kind, i+1, len(list), r.how.links)
			default:
				r.t.Logf("%s-%d ran %d times of %d: a launch failed when slurmctld was killed, and nobody released the job", kind, i+1, len(list), r.how.links)
			}
			for k := 1; k < len(list); k++ {
				x := float64(list[k].start - list[k-1].end)
				gap, overlap, handovers = gap+max(0, x), overlap+max(0, -x), handovers+1
			}
		}
		r.t.Logf("%-9s %3.0f hand-overs: interruption %5.1f s, overlap %5.1f s on average", kind, handovers, gap/max(handovers, 1), overlap/max(handovers, 1))
	}
}
