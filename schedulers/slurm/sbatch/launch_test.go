package sbatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

const token = "segue:k3v9q2/7.1"

var variables = []string{"SEGUE_CHAIN=k3v9q2", "SEGUE_LINK=7"}

// submission is what is captured of a command line that names job.sh.
func submission(args string, env ...string) segue.Submission {
	s := segue.Submission{Args: strings.Fields(args), ScriptAt: -1, Script: script(), Env: env, Dir: "/home/u", Umask: 0o27}
	for i, a := range s.Args {
		if strings.HasSuffix(a, "job.sh") && s.ScriptAt < 0 {
			s.ScriptAt = i
		}
	}
	return s
}

func TestFirstLinkIsSubmittedAsItWasTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"a script with arguments":     {"-N2 job.sh --lr 3", "-N2 --comment=" + token + " job.sh --lr 3"},
		"Segue's options go":          {"--segue-chain -N2 --segue-links 3 --segue-for=1d -v job.sh --segue-x", "-N2 -v --comment=" + token + " job.sh --segue-x"},
		"two dashes":                  {"-N2 -- job.sh", "-N2 --comment=" + token + " -- job.sh"},
		"no script":                   {"-N2", "-N2 --comment=" + token},
		"the user's own comment":      {"--comment=mine job.sh", "--comment=mine --comment=mine|" + token + " job.sh"},
		"an export of some variables": {"--export=A,B job.sh", "--export=A,B --comment=" + token + " --export=A,B,SEGUE_CHAIN,SEGUE_LINK job.sh"},
		"an export of all":            {"--export=A=1,ALL job.sh", "--export=A=1,ALL --comment=" + token + " job.sh"},
		"what later links leave out":  {"-W --hold --begin=now+1hour job.sh", "-W --hold --begin=now+1hour --comment=" + token + " job.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := submission(c.args, "A=1", "SEGUE_LINK=3", "SLURM_JOB_ID=9")
			job, err := sbatch.Read(sbatch.Input{Args: s.Args, Env: s.Env, Script: s.Script})
			if err != nil {
				t.Fatal(err)
			}
			l := job.First(s, token, variables)
			want := strings.Fields(c.want)
			for i := range want {
				want[i] = strings.ReplaceAll(want[i], "|", " ")
			}
			if diff := cmp.Diff(want, l.Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"A=1", "SLURM_JOB_ID=9", "SEGUE_CHAIN=k3v9q2", "SEGUE_LINK=7"}, l.Env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaterLinkIsSubmittedAsTheFirstWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"a script with arguments":           {"-N2 runs/job.sh --lr 3", "-N2 --comment=" + token + " --parsable /spool/job.sh --lr 3"},
		"report 68: no dependency":          {"-d afterok:12 job.sh", "--comment=" + token + " --parsable --dependency= /spool/job.sh"},
		"singleton stays":                   {"--dep=singleton job.sh", "--comment=" + token + " --parsable --dependency=singleton /spool/job.sh"},
		"it begins at once":                 {"-b 16:00 job.sh", "--comment=" + token + " --parsable --begin=now /spool/job.sh"},
		"it is neither held nor waited for": {"-vWHQ --wait --hold job.sh", "-v --comment=" + token + " --parsable /spool/job.sh"},
		"--wrap":                            {"-N2 --wrap=hostname", "-N2 --wrap=hostname --comment=" + token + " --parsable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := submission(c.args)
			if strings.Contains(c.args, "wrap") {
				s.Script = nil
			}
			l, err := sbatch.Later(s, token, variables, "/spool/job.sh")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Fields(c.want), l.Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
			if l.Dir != s.Dir || l.Umask != s.Umask || l.Stdin != nil {
				t.Errorf("folder %q, umask %o, standard input %q", l.Dir, l.Umask, l.Stdin)
			}
		})
	}
}

func TestLaterLinkOfAScriptFromStandardInput(t *testing.T) {
	t.Parallel()
	s := submission("-N2")
	l, err := sbatch.Later(s, token, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Script, l.Stdin); diff != "" || sbatch.ScriptName(s) != "" {
		t.Errorf("standard input (-want +got):\n%s", diff)
	}
}

func TestLaterLinkWantsItsScriptUnderTheSameName(t *testing.T) {
	t.Parallel()
	s := submission("runs/job.sh")
	if _, err := sbatch.Later(s, token, nil, "/spool/other"); segue.KindOf(err) != segue.Invalid || sbatch.ScriptName(s) != "job.sh" {
		t.Errorf("error %v, and the name %q", err, sbatch.ScriptName(s))
	}
}

func TestReport57AJobThatExportsNothingDoesNotHearOfItsChain(t *testing.T) {
	t.Parallel()
	s := submission("--export=NONE job.sh")
	l, err := sbatch.Later(s, token, variables, "/spool/job.sh")
	if err != nil || !l.Unheard || strings.Contains(strings.Join(l.Args[1:], " "), "--export") {
		t.Errorf("%v, %+v", err, l)
	}
}

// Reports 55, 56 and 58: a later link is bound neither to the allocation from
// which the first one was submitted, nor to whoever submits it.
func TestEnvironmentIsCleanedOfAnEnclosingAllocation(t *testing.T) {
	t.Parallel()
	inside := []string{
		"HOME=/home/u", "PATH=/bin", "SBATCH_PARTITION=gpu", "SBATCH_MEM_PER_CPU=2G", "SLURM_CONF=/etc/slurm.conf", "SLURM_JOB_ID=7",
		"SLURM_CPU_BIND=quiet,mask_cpu:0x0F", "SLURM_CPUS_PER_TASK=4", "SLURM_MEM_PER_CPU=100", "SLURM_MEM_PER_NODE=100", "SLURM_EXPORT_ENV=NONE",
		"SLURM_UMASK=0022", "SLURM_STEPMGR=n1", "SLURMD_NODENAME=n1", "_SLURM_SPANK_OPTION_x=1", "PMIX_RANK=0", "CUDA_VISIBLE_DEVICES=0,1",
		"SBATCH_MEM_BIND_TYPE=none", "ENVIRONMENT=BATCH", "SEGUE_CHAIN=aaa", "SEGUE_LINK=2", "SEGUE_READY_FILE=/x", "SEGUE_SBATCH=/opt/sbatch",
	}
	for name, c := range map[string]struct{ env, want []string }{
		"inside of one": {inside, []string{
			"HOME=/home/u", "PATH=/bin", "SBATCH_PARTITION=gpu", "SBATCH_MEM_PER_CPU=2G", "SLURM_CONF=/etc/slurm.conf", "SEGUE_SBATCH=/opt/sbatch",
		}},
		"outside of one": {
			[]string{"SLURM_HINT=nomultithread", "CUDA_VISIBLE_DEVICES=1", "SLURM_JWT=expires", "ENVIRONMENT=BATCH"},
			[]string{"SLURM_HINT=nomultithread", "CUDA_VISIBLE_DEVICES=1", "ENVIRONMENT=BATCH"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, sbatch.Clean(c.env)); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExportIsReadAsSbatchDoes(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]sbatch.Export{
		"job.sh":                         {All: true},
		"--export=ALL job.sh":            {All: true},
		"--export=NONE job.sh":           {None: true},
		"--export=NIL job.sh":            {None: true},
		"--export=A,B=x job.sh":          {Names: []string{"A", "B=x"}},
		"--export=ALL,A=1 job.sh":        {All: true, Names: []string{"A=1"}}, // report 49
		"--export=A --export=ALL job.sh": {All: true},                         // report 54
	} {
		job, err := sbatch.Read(sbatch.Input{Args: strings.Fields(args)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, job.Settings.Export()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
}
