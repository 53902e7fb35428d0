package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/slurmtest"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

var longWord = strings.Repeat("x", 900)

// TestSegueIsSbatch runs every case through the real sbatch, through segue, and
// through segue as the first link of a chain: they print the same, exit with the
// same code, and make the same job.
func TestSegueIsSbatch(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		return // it takes minutes, and starts a Slurm
	}
	slurm := slurmtest.Start(t, slurmtest.Config{
		Nodes: 4, Partitions: []string{"PartitionName=batch Nodes=ALL Default=YES State=DOWN", "PartitionName=up Nodes=ALL State=UP"},
	})
	program := buildSegue(t)
	for _, c := range sbatchCases { //nolint:paralleltest // the jobs of a case are those that have come since the last one
		t.Run(c.name, func(t *testing.T) {
			site := newSite(t, slurm, c)
			want := site.submit(t, "sbatch", c.args...)
			plain := site.submit(t, program, append([]string{"sbatch"}, c.args...)...)
			if diff := cmp.Diff(want, plain); diff != "" {
				t.Errorf("segue sbatch (-sbatch +segue):\n%s", diff)
			}
			site.wantUnderstood(t)
			chain := site.submit(t, program, append([]string{"sbatch", "--segue-chain"}, c.args...)...)
			site.wantMark(t, &chain)
			if diff := cmp.Diff(want, chain); diff != "" {
				t.Errorf("segue sbatch --segue-chain (-sbatch +segue):\n%s", diff)
			}
		})
	}
	t.Run("a later link", func(t *testing.T) { wantLaterLink(t, slurm) })
}

// wantLaterLink submits a later link of a chain whose first one was held,
// depended on another job and began later: it does none of that.
func wantLaterLink(t *testing.T, slurm *slurmtest.Slurm) {
	t.Helper()
	s := newSite(t, slurm, sbatchCase{script: directives("#SBATCH --comment='my  own' -N2 --begin=now+1hour")})
	number := func(args ...string) string {
		out, err := s.command(t, "sbatch", args...).Output()
		job, _, ok := sbatch.Answer(out, true)
		if err != nil || !ok {
			t.Fatalf("sbatch %q: %v: %s", args, err, out)
		}
		return job.String()
	}
	other := number("--parsable", "job.sh")
	text, err := os.ReadFile(filepath.Join(s.dir, "job.sh"))
	if err != nil {
		t.Fatal(err)
	}
	launch, err := sbatch.Later(segue.Submission{
		Args: []string{"-Hd", "afterany:" + other, "-t", "30", "job.sh", "x"}, ScriptAt: 4, Script: text, Dir: s.dir,
	}, "segue:k3v9q2/2.1", nil, filepath.Join(s.dir, "job.sh"))
	if err != nil {
		t.Fatal(err)
	}
	shown, err := slurm.Command(t.Context(), "scontrol", "show", "job", number(launch.Args...)).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"JobName=job.sh", "Dependency=(null)", "NumNodes=2", "TimeLimit=00:30:00", "Comment=my  own segue:k3v9q2/2.1", "Command=" + s.dir + "/job.sh x\n",
	} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("the later link lacks %q:\n%s", want, shown)
		}
	}
	times := regexp.MustCompile(`SubmitTime=(\S+) EligibleTime=(\S+)`).FindSubmatch(shown)
	if times == nil || !bytes.Equal(times[1], times[2]) || strings.Contains(string(shown), "Priority=0 ") {
		t.Errorf("the later link is held, or begins later:\n%s", shown)
	}
}

// site is where a case is run.
type site struct {
	slurm *slurmtest.Slurm
	c     sbatchCase
	dir   string
	// comment is that of the last job.
	comment string
}

func newSite(t *testing.T, slurm *slurmtest.Slurm, c sbatchCase) *site {
	t.Helper()
	s := &site{slurm: slurm, c: c, dir: t.TempDir()}
	script := c.script
	if script == "" {
		script = directives()
	}
	for name, text := range map[string]string{
		"job.sh": script, "sub/there.sh": directives("#SBATCH -J there"), "sub/empty.sh": "", "bin/onpath.sh": directives("#SBATCH -J onpath"),
	} {
		path := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(s.dir, "ended"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// submitted is all that can be seen of a submission, without what differs from
// one to the next: numbers of jobs and times.
type submitted struct {
	Stdout, Stderr string
	Code           int
	Jobs           string // scontrol show job
	Output         string // of the job
}

func (s *site) submit(t *testing.T, program string, args ...string) submitted {
	t.Helper()
	cmd := s.command(t, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	got := submitted{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if s.c.runs && got.Code == 0 {
		if _, err := os.ReadFile(filepath.Join(s.dir, "ended")); err != nil { // until the job writes to it
			t.Fatal(err)
		}
	}
	got.Jobs = s.jobs(t)
	if out, err := os.ReadFile(filepath.Join(s.dir, "out")); err == nil {
		got.Output = string(out)
		_ = os.Remove(filepath.Join(s.dir, "out"))
	}
	for _, text := range []*string{&got.Stdout, &got.Stderr, &got.Jobs, &got.Output} {
		*text = steady(*text)
	}
	return got
}

// command returns a call of a program in the case's folder and environment.
func (s *site) command(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := s.slurm.Command(t.Context(), program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(cmd.Env, "PATH="+os.Getenv("PATH")+":"+filepath.Join(s.dir, "bin"), "XDG_STATE_HOME="+filepath.Join(s.dir, "state"))
	cmd.Env = append(cmd.Env, s.c.env...)
	cmd.Stdin = strings.NewReader(s.c.input)
	return cmd
}

// jobs returns what Slurm says of all jobs that pend or have just ended, and
// removes them.
func (s *site) jobs(t *testing.T) string {
	t.Helper()
	out, err := s.slurm.Command(t.Context(), "squeue", "--noheader", "--states=all", "--Format=JobID:20,Comment:1100").Output()
	if err != nil {
		t.Fatalf("squeue: %v", err)
	}
	known := map[string]bool{}
	var text strings.Builder
	for line := range strings.Lines(string(out)) {
		id := strings.TrimSpace(line[:20])
		if id == "" || known[id] || seen[id] {
			continue
		}
		known[id], seen[id] = true, true
		s.comment = strings.TrimSpace(line[20:])
		shown, err := s.slurm.Command(t.Context(), "scontrol", "show", "job", id).Output()
		if err != nil {
			t.Fatalf("scontrol show job %s: %v", id, err)
		}
		text.Write(shown)
		_ = s.slurm.Command(t.Context(), "scancel", id).Run()
	}
	return text.String()
}

// seen are the jobs of earlier submissions, by number; the cases run one after
// the other.
var seen = map[string]bool{}

var (
	variable = regexp.MustCompile(`(JobId|ArrayJobId|HetJobId|HetJobIdSet|Priority|Reason|JobState|SubmitTime|EligibleTime|AccrueTime|StartTime|EndTime|` +
		`LastSchedEval|RunTime|SuspendTime|SecsPreSuspend|PreemptEligibleTime|PreemptTime|Scheduler|BatchHost|NodeList|AllocNode:Sid|Deadline)=\S*`)
	jobNumber = regexp.MustCompile(`(Submitted batch job |slurm-|out\.|^|[jJ]ob )\d+`)
	aTime     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)
	taskID    = regexp.MustCompile(`\d+_`)
	node      = regexp.MustCompile(`\bn\d\b`)
	comment   = regexp.MustCompile(`(?m)^   Comment=.*\n`)
)

// steady takes out of a text what differs from one submission to the next.
func steady(text string) string {
	text = variable.ReplaceAllString(text, "$1=_")
	text = jobNumber.ReplaceAllString(text, "${1}N")
	text = aTime.ReplaceAllString(text, "TIME")
	text = taskID.ReplaceAllString(text, "N_")
	text = strings.ReplaceAll(text, ",SEGUE_CHAIN,SEGUE_LINK,SEGUE_READY_FILE", "")
	text = node.ReplaceAllString(text, "NODE")
	return comment.ReplaceAllString(text, "")
}

// asTyped are the options whose values sbatch lists as they were typed.
var asTyped = map[string]bool{
	"account": true, "array": true, "comment": true, "dependency": true, "export": true, "gpus": true, "gpus-per-node": true,
	"gpus-per-task": true, "job-name": true, "partition": true, "wrap": true,
}

// read reads the case as segue does.
func (s *site) read(t *testing.T) *sbatch.Job {
	t.Helper()
	in := sbatch.Input{Args: s.c.args, Env: s.c.env, Script: []byte(s.c.input)}
	line := options.Submission.Read(s.c.args)
	for _, folder := range []string{"", "sub", "bin"} {
		if line.Script == len(s.c.args) || s.c.input != "" {
			break
		}
		if script, err := os.ReadFile(filepath.Join(s.dir, folder, s.c.args[line.Script])); err == nil {
			in.Script = script
			break
		}
	}
	job, err := sbatch.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// wantUnderstood compares the options that sbatch says are set with those that
// segue finds.
func (s *site) wantUnderstood(t *testing.T) {
	t.Helper()
	job := s.read(t)
	cmd := s.command(t, "sbatch", append([]string{"-v", "--test-only"}, s.c.args...)...)
	out, _ := cmd.CombinedOutput()
	_, list, listed := strings.Cut(string(out), "sbatch: defined options\n")
	if !listed || len(job.Unsure) > 0 {
		return
	}
	list, _, _ = strings.Cut(list, "sbatch: end of defined options")
	var want, got []string
	for line := range strings.Lines(list) {
		name, value, isOption := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "sbatch: "), " : ")
		name = strings.TrimSpace(name)
		switch {
		case !isOption || name == "verbose" || name == "test-only" || name == "(null)":
		case asTyped[name]:
			want = append(want, name+"="+value)
		default:
			want = append(want, name)
		}
	}
	for name, setting := range job.Settings {
		switch {
		case name == "switches" || name == "wait4switch": // which sbatch lists as "(null)"
		case asTyped[name]:
			got = append(got, name+"="+setting.Value)
		default:
			got = append(got, name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options that are set (-sbatch +segue):\n%s", diff)
	}
}

// wantMark looks for the token of a chain's first link in the comment of the
// job, after the user's own, and takes what segue says out of standard error.
func (s *site) wantMark(t *testing.T, got *submitted) {
	t.Helper()
	var said []string
	rest := ""
	for line := range strings.Lines(got.Stderr) {
		if strings.HasPrefix(line, "segue: ") {
			said = append(said, line)
			continue
		}
		rest += line
	}
	got.Stderr = rest
	job := s.read(t)
	managed := got.Jobs != "" && len(job.Unsure) == 0
	token, _, _, _, found := segue.FindToken(s.comment)
	switch {
	case managed && !found:
		t.Errorf("the comment %q has no token, and segue said %q", s.comment, said)
	case managed && strings.TrimSuffix(s.comment, " "+token) != job.Comment && s.comment != token:
		t.Errorf("the comment is %q, want %q and the token", s.comment, job.Comment)
	case !managed && got.Jobs != "" && (found || len(said) != 1):
		t.Errorf("the comment %q, and segue said %q", s.comment, said)
	}
}
