package sbatch_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

// script is a batch script with these lines before its first command.
func script(lines ...string) []byte {
	return []byte("#!/bin/bash\n" + strings.Join(lines, "\n") + "\nsrun train\n")
}

func TestValuesComeFromTheLineThatSbatchTakesThemFrom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, env []string
		script    []byte
		want      string // the settings in order: name=value (place)
	}{
		"directives": {
			script: script("#SBATCH -N 2 --time", "#SBATCH 10:00", "#SBATCH --hold"),
			want:   "hold (line 4), nodes=2 (line 2), time=10:00 (line 2)",
		},
		"report 49: the environment is stronger than directives, the command line than both": {
			args: []string{"--partition=c", "job.sh"}, env: []string{"SBATCH_PARTITION=b", "SBATCH_QOS=q"},
			script: script("#SBATCH --partition=a --qos=r --account=x"),
			want:   "account=x (line 2), partition=c (--partition), qos=q (SBATCH_QOS)",
		},
		"report 49: an option given twice is no error": {
			args: []string{"--nodes=4", "job.sh"}, script: script("#SBATCH --nodes=2", "#SBATCH -N 3"),
			want: "nodes=4 (--nodes)",
		},
		"report 54: several --export do not add up": {
			script: script("#SBATCH --export=A=1", "#SBATCH --export=B=2"),
			want:   "export=B=2 (line 3)",
		},
		"variables with irregular names": {
			env: []string{
				"SBATCH_TIMELIMIT=5", "SBATCH_TIME=9", "SBATCH_ARRAY_INX=1-3", "SBATCH_ARRAY=7", "SBATCH_MEM_PER_NODE=4G", "SBATCH_MEM=1",
				"SBATCH_NODES=9", "SBATCH_COMMENT=no", "SBATCH_REQ_SWITCH=2",
			},
			want: "array=1-3 (SBATCH_ARRAY_INX), mem=4G (SBATCH_MEM_PER_NODE), switches=2 (SBATCH_REQ_SWITCH), time=5 (SBATCH_TIMELIMIT)",
		},
		"variables that are no prefix of SBATCH": {
			env:  []string{"SLURM_CLUSTERS=b", "SBATCH_CLUSTERS=a", "SLURM_HINT=multithread", "SBATCH_HINT=nomultithread"},
			want: "clusters=b (SLURM_CLUSTERS), hint=nomultithread (SBATCH_HINT)",
		},
		"an empty variable is a value": {
			env: []string{"SBATCH_PARTITION="}, script: script("#SBATCH -p a"),
			want: "partition= (SBATCH_PARTITION)",
		},
		"flags by variables": {
			env: []string{
				"SBATCH_WAIT=", "SBATCH_OVERCOMMIT=YES", "SBATCH_SPREAD_JOB=-1", "SBATCH_USE_MIN_NODES=0", "SBATCH_NO_REQUEUE=no",
				"SBATCH_REQUEUE=2x", "SBATCH_IGNORE_PBS=99999999999999999999",
			},
			want: "ignore-pbs (SBATCH_IGNORE_PBS), overcommit (SBATCH_OVERCOMMIT), spread-job (SBATCH_SPREAD_JOB), wait (SBATCH_WAIT)",
		},
		"an optional value by a variable": {
			env: []string{"SBATCH_EXCLUSIVE=user", "SBATCH_NO_KILL="}, want: "exclusive=user (SBATCH_EXCLUSIVE), no-kill= (SBATCH_NO_KILL)",
		},
		"options that count before there is a script": {
			script: script("#SBATCH --quiet -v --wrap=x --usage --version -N 2"), want: "nodes=2 (line 2)",
		},
		"the start of a name, in another case no more": {
			args: []string{"--parti=a", "--dep=singleton", "job.sh"}, want: "dependency=singleton (--dep), partition=a (--parti)",
		},
		"report 47: what follows the script is not sbatch's": {
			args: []string{"-N1", "job.sh", "-N9", "--hold"}, want: "nodes=1 (-N)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, err := sbatch.Read(sbatch.Input{Args: c.args, Env: c.env, Script: c.script})
			if err != nil {
				t.Fatal(err)
			}
			if got := settings(job.Settings); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// settings writes settings down in the order of their names.
func settings(s sbatch.Settings) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		word := name
		if s[name].HasValue {
			word += "=" + s[name].Value
		}
		words = append(words, word+" ("+s[name].Place+")")
	}
	return strings.Join(words, ", ")
}

func TestRequestHoldsWhatIsCertain(t *testing.T) {
	t.Parallel()
	type want struct {
		nodes, gpus int
		limit       time.Duration
		open        string
	}
	const limit = "time limit"
	for args, want := range map[string]want{
		"":                                  {1, 0, 0, limit},
		"-N4 -t 30":                         {4, 0, 30 * time.Minute, ""},
		"-N 1k -t 1":                        {1024, 0, time.Minute, ""},
		"-N2-4 -t 1":                        {2, 0, time.Minute, "nodes (2 to 4)"},
		"-N -3 -t 1":                        {1, 0, time.Minute, "nodes (1 to 3)"},
		"-N 4,2,8 -t 1":                     {2, 0, time.Minute, "nodes (2 to 8)"},
		"-n8 -t 1":                          {0, 0, time.Minute, "nodes"},
		"-n1 -t 1":                          {1, 0, time.Minute, ""},
		"-n9 --ntasks-per-node=4 -t 1":      {3, 0, time.Minute, ""},
		"-w n[1-3] -t 1":                    {0, 0, time.Minute, "nodes"},
		"--gres=gpu:4 -t 1":                 {1, 4, time.Minute, ""},
		"--gres=gpu:a100:4 -t 1":            {1, 4, time.Minute, ""},
		"--gres=gpu -t 1":                   {1, 1, time.Minute, ""},
		"--gres=gpu:a100 -t 1":              {1, 1, time.Minute, ""},
		"--gres=lustre:9,gpu:a:2,gpu:b -t1": {1, 3, time.Minute, ""},
		"--gres=gpu:a100:4(S:0-1) -t 1":     {1, 4, time.Minute, ""},
		"--gres=gres/gpu=2 -t 1":            {1, 2, time.Minute, ""},
		"--gres=none -t 1":                  {1, 0, time.Minute, ""},
		"--gpus-per-node=a100:8 -N2 -t 1":   {2, 8, time.Minute, ""},
		"-G 8 -N2 -t 1":                     {2, 4, time.Minute, ""},
		"-G a100:6,v100:2 -N2 -t 1":         {2, 4, time.Minute, ""},
		"-G 7 -N2 -t 1":                     {2, 0, time.Minute, "GPUs on each node"},
		"-G 8 -t 1":                         {0, 0, time.Minute, "nodes, GPUs on each node"},
		"--gpus-per-task=2 -N2 -n4 -t 1":    {2, 4, time.Minute, ""},
		"--gpus-per-task=1 -N2 --ntasks-per-node=4 -t 1": {2, 4, time.Minute, ""},
		"--gpus-per-task=1 -n3 -t 1":                     {0, 0, time.Minute, "nodes, GPUs on each node"},
		"--gpus-per-socket=2 -t 1":                       {1, 0, time.Minute, "GPUs on each node"},
		"--exclusive --gres=gpu:2 -t 1":                  {1, 0, time.Minute, ""},
		"--exclusive=user --gres=gpu:2 -t 1":             {1, 2, time.Minute, ""},
		// Reports 49 and 50: a bare number is minutes, and so is the first of two.
		"-t 4:00":      {1, 0, 4 * time.Minute, ""},
		"-t 2-12":      {1, 0, 60 * time.Hour, ""},
		"-t 0":         {1, 0, segue.Unlimited, ""},
		"-t unlimited": {1, 0, segue.Unlimited, ""},
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			job, err := sbatch.Read(sbatch.Input{Args: append(strings.Fields(args), "-A", "acc", "-p", "part", "-q", "high", "job.sh")})
			if err != nil || len(job.Refused) > 0 {
				t.Fatal(err, job.Refused)
			}
			shape := segue.Shape{Nodes: want.nodes, GPUsPerNode: want.gpus, Limit: want.limit}
			diff := cmp.Diff(segue.Request{Shape: shape, Account: "acc", Partition: "part", QOS: "high"}, job.Request)
			if open := strings.Join(job.Open, ", "); diff != "" || open != want.open {
				t.Errorf("open: %q, want %q; request (-want +got):\n%s", open, want.open, diff)
			}
		})
	}
}

func TestJobHasTheNameThatSbatchGivesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, env []string
		script    []byte
		want      string
	}{
		"after the script's file":       {args: []string{"../runs/train.sh"}, want: "train.sh"},
		"of a script on standard input": {want: "sbatch"},
		"of --wrap":                     {args: []string{"--wrap=hostname"}, want: "wrap"},
		"of a directive":                {args: []string{"t.sh"}, script: script("#SBATCH -J a"), want: "a"},
		"of the environment":            {args: []string{"t.sh"}, env: []string{"SBATCH_JOB_NAME=b"}, script: script("#SBATCH -J a"), want: "b"},
		"of the command line":           {args: []string{"-Jc", "t.sh"}, env: []string{"SBATCH_JOB_NAME=b"}, want: "c"},
		"an empty one":                  {args: []string{"-J", "", "t.sh"}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, err := sbatch.Read(sbatch.Input{Args: c.args, Env: c.env, Script: c.script})
			if err != nil || job.Name != c.want {
				t.Errorf("name %q, %v, want %q", job.Name, err, c.want)
			}
		})
	}
}

func TestSegueLeavesAloneWhatItIsNotSureOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, env []string
		script    []byte
		want      string
	}{
		"nothing is wrong":      {script: script("#SBATCH -N2"), want: ""},
		"an option of a plugin": {args: []string{"--bank=phys", "job.sh"}, want: "option --bank is not one of sbatch's own"},
		"an option of a plugin in the script": {
			script: script("#SBATCH -N2", "#SBATCH --bank=phys"), want: "line 3: option --bank is not one of sbatch's own",
		},
		"report 48: --workdir":               {args: []string{"--workdir=/x", "job.sh"}, want: "option --workdir is not one of sbatch's own"},
		"a name that could be two":           {args: []string{"--exp=x", "job.sh"}, want: "option --exp could be --export or --export-file"},
		"an array":                           {args: []string{"-a", "1-3", "job.sh"}, want: "it is a job array (-a)"},
		"an array by the environment":        {env: []string{"SBATCH_ARRAY_INX=1"}, want: "it is a job array (SBATCH_ARRAY_INX)"},
		"a heterogeneous job":                {args: []string{"-N1", ":", "-N2", "job.sh"}, want: "it is a heterogeneous job"},
		"a heterogeneous job in the script":  {script: script("#SBATCH hetjob"), want: "it is a heterogeneous job"},
		"a question":                         {args: []string{"--test-only", "job.sh"}, want: "it only asks when a job would start (--test-only)"},
		"options of another system":          {script: script("#PBS -l nodes=2"), want: "sbatch translates the #PBS or #BSUB lines of the script"},
		"report 46: not when that is off":    {script: script("#SBATCH --ignore-pbs", "#PBS -l nodes=2"), want: ""},
		"not when that is off by a variable": {env: []string{"SBATCH_IGNORE_PBS=1"}, script: script("#PBS -l nodes=2"), want: ""},
		"a space after a backslash": {
			script: script(`#SBATCH -J a\ b`), want: "line 2: older versions of sbatch end a word at a space after a backslash",
		},
		"another cluster":        {args: []string{"-M", "west", "job.sh"}, want: "it may go to another cluster (-M)"},
		"somebody else":          {args: []string{"--uid=bob", "job.sh"}, want: "it runs as somebody else (--uid)"},
		"links that would wait":  {script: script("#SBATCH --wait"), want: "every link of it would --wait (line 2)"},
		"a comment without room": {args: []string{"--comment=" + strings.Repeat("x", 1000), "job.sh"}, want: "its comment leaves no room for the mark by which a link is found again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, err := sbatch.Read(sbatch.Input{Args: c.args, Env: c.env, Script: c.script})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(job.Unsure, "; "); got != c.want {
				t.Errorf("unsure: %q, want %q", got, c.want)
			}
		})
	}
}

func TestRefusalsOfSbatchAreForeseen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		script []byte
		want   string
	}{
		"report 42: words that are no option":   {script: script("#SBATCH --job-name=x  (the name)"), want: `line 2: "(the" is no option`},
		"report 52: a script besides --wrap":    {args: []string{"--wrap=python", "train.py"}, want: "--wrap and a script, or arguments of one"},
		"report 45: a value for a flag":         {args: []string{"--hold=yes", "job.sh"}, want: "option --hold takes no value"},
		"report 50: a limit that is none":       {args: []string{"-t", "1h", "job.sh"}, want: `-t: time limit "1h": want minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds or UNLIMITED`},
		"a number of nodes that is none":        {args: []string{"-N", "4-2", "job.sh"}, want: `-N: "4-2" nodes, want a number or a range such as 2-4`},
		"no interpreter":                        {script: []byte("echo\n"), want: "the script does not begin with #! and the path of an interpreter"},
		"white space only":                      {script: []byte(" \n\t\n"), want: "the script is white space only"},
		"line breaks of DOS":                    {script: []byte("#!/bin/sh\necho \r\n"), want: "the script has line breaks of DOS (CR LF)"},
		"a NUL byte":                            {script: []byte("#!/bin/sh\na\x00b\n"), want: "the script has a NUL byte"},
		"a directive that is not closed":        {script: script(`#SBATCH -J "a`), want: "line 2: a quotation mark is not closed"},
		"a value that is missing in the script": {script: script("#SBATCH -N"), want: "line 2: option -N lacks its value"},
		"a line that ends the options":          {script: script("#SBATCH -- -N 2"), want: `line 2: "-N" is no option`},
		"report 38: quotation marks are text":   {script: script(`#SBATCH -J 'say "hi"'`), want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, err := sbatch.Read(sbatch.Input{Args: c.args, Script: c.script})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(job.Refused, "; "); got != c.want {
				t.Errorf("refused: %q, want %q", got, c.want)
			}
		})
	}
}
