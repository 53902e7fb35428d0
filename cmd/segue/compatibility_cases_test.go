package main

// sbatchCase is one call of sbatch.
type sbatchCase struct {
	name string
	args []string
	env  []string // on top of a clean one
	// script is the text of job.sh; "" is a plain one. Words in it are not expanded.
	script string
	// input is standard input; "" is none.
	input string
	// runs is true for a job that is to run, with its output in out, which is
	// compared too. It writes to the pipe ended at its end.
	runs bool
}

// directives is a script of these lines.
func directives(lines ...string) string {
	text := "#!/bin/sh\n"
	for _, l := range lines {
		text += l + "\n"
	}
	return text + "true\n"
}

// looksAround is a script that tells what reached it.
const looksAround = `#!/bin/sh
printf 'argument [%s]\n' "$@"
umask
ulimit -n
ulimit -s
pwd
env | grep -E '^(MINE|OTHER|PATH|SLURM_EXPORT_ENV|SLURM_UMASK|SLURM_JOB_NAME|SLURM_SUBMIT_DIR|SLURM_RLIMIT_NOFILE|SBATCH_[A-Z_]*)=' | sort
cat
echo > ended
`

// started is how a job is submitted that is to run.
func started(args ...string) []string {
	return append([]string{"-p", "up", "-t", "5", "-o", "out"}, args...)
}

// sbatchCases are run through the real sbatch and through segue. There are files
// job.sh, sub/there.sh and bin/onpath.sh, the last in a folder of PATH.
var sbatchCases = []sbatchCase{
	// The script and its arguments.
	{name: "a script", args: []string{"job.sh"}},
	{name: "a script by its path", args: []string{"./job.sh"}},
	{name: "a script in a folder", args: []string{"sub/there.sh"}},
	{name: "a script on PATH", args: []string{"onpath.sh"}},
	{name: "a script in the folder of --chdir", args: []string{"--chdir=sub", "there.sh"}},
	{name: "a script here, and --chdir elsewhere", args: []string{"-D", "/tmp", "job.sh"}},
	{name: "a script that is not there", args: []string{"nothing.sh"}},
	{name: "a folder as a script", args: []string{"sub"}},
	{name: "a script from standard input", input: directives("#SBATCH -J piped")},
	{name: "an empty standard input"},
	{name: "report 47: options after the script are its arguments", args: []string{"-N1", "job.sh", "-D", "/nowhere", "--hold"}},
	{name: "two dashes before the script", args: []string{"-N1", "--", "job.sh", "-N9"}},
	{name: "--wrap", args: []string{"--wrap=hostname"}},
	{name: "report 52: --wrap with quotation marks", args: []string{"--wrap", `python -m snakemake "x y" 'z'`}},
	{name: "report 52: --wrap that lost its quotation marks", args: []string{"--wrap", "python", "-m", "snakemake"}},
	{name: "report 53: --wrap and a script", args: []string{"--wrap=hostname", "job.sh"}},
	{name: "report 53: --wrap with a backslash and a dollar", args: []string{"--wrap", "a && b \\$x `c` \\\\"}},
	{name: "an empty argument of the script", args: []string{"job.sh", "", "a  b"}},

	// Acceptance of the script.
	{name: "an empty script", args: []string{"sub/empty.sh"}},
	{name: "white space only", script: " \n\t\n", args: []string{"job.sh"}},
	{name: "no interpreter", script: "echo\n", args: []string{"job.sh"}},
	{name: "line breaks of DOS", script: "#!/bin/sh\r\necho\r\n", args: []string{"job.sh"}},
	{name: "a NUL byte", script: "#!/bin/sh\na\x00b\n", args: []string{"job.sh"}},
	{name: "bytes that are no text", script: "#!/bin/sh\n# \xff\xfe\n", args: []string{"--comment=\xff\xfe", "job.sh"}},

	// The command line.
	{name: "a value after an equals sign", args: []string{"--nodes=2", "--time=10", "job.sh"}},
	{name: "values in the next argument", args: []string{"--nodes", "2", "-t", "10", "job.sh"}},
	{name: "values glued to letters", args: []string{"-N2", "-t10", "-Jglued", "job.sh"}},
	{name: "letters in a cluster", args: []string{"-HN2", "job.sh"}},
	{name: "the start of a long name", args: []string{"--job=short", "--tim=10", "job.sh"}},
	{name: "the start of two options", args: []string{"--exp=NONE", "job.sh"}},
	{name: "an optional value is not the next argument", args: []string{"--nice", "100", "job.sh"}},
	{name: "an optional value", args: []string{"--nice=100", "job.sh"}},
	{name: "report 45: an optional value that is empty", args: []string{"--exclusive=", "job.sh"}},
	{name: "report 45: a flag with a value", args: []string{"--hold=yes", "job.sh"}},
	{name: "report 48: --workdir", args: []string{"--workdir=/tmp", "job.sh"}},
	{name: "an option of a plugin that is not there", args: []string{"--bank=physics", "job.sh"}},
	{name: "an unknown letter", args: []string{"-Z", "job.sh"}},
	{name: "a value that is missing", args: []string{"--nodes"}},
	{name: "report 49: an option twice", args: []string{"--nodes=4", "--nodes=2", "job.sh"}},
	{name: "components of a heterogeneous job", args: []string{"-N1", "-n1", ":", "-N2", "job.sh"}},
	{name: "--help", args: []string{"--help"}},
	{name: "--usage", args: []string{"--usage"}},
	{name: "--version", args: []string{"-V"}},
	{name: "--quiet", args: []string{"-Q", "job.sh"}},
	{name: "report 26: --parsable", args: []string{"--parsable", "job.sh"}},
	{name: "--parsable and --quiet", args: []string{"--parsable", "--quiet", "job.sh"}},
	{name: "report 32: --test-only", args: []string{"-p", "up", "--test-only", "job.sh"}},
	{name: "--test-only of what cannot be", args: []string{"-N99", "--test-only", "job.sh"}},

	// Directives.
	{name: "directives", script: directives("#SBATCH -N 2 --time=1-2 -J named", "#SBATCH --comment='a  b'"), args: []string{"job.sh"}},
	{name: "a directive without a space", script: directives("#SBATCH--job-name=x"), args: []string{"job.sh"}},
	{name: "other comments", script: directives("##SBATCH -N9", "# SBATCH -N9", " #SBATCH -N9", "#sbatch -N9"), args: []string{"job.sh"}},
	{name: "report 44: a blank line between directives", script: directives("#SBATCH -N2", "", "  # note", "#SBATCH -J x"), args: []string{"job.sh"}},
	{name: "a directive after a command", script: directives("set -e", "#SBATCH -N9"), args: []string{"job.sh"}},
	{name: "report 42: words behind a directive", script: directives("#SBATCH --job-name=x      (sets the job name)"), args: []string{"job.sh"}},
	{name: "an option and its value on two lines", script: directives("#SBATCH --time", "#SBATCH 10:00"), args: []string{"job.sh"}},
	{name: "a comment within a word", script: directives("#SBATCH -J a#b -N 2"), args: []string{"job.sh"}},
	{name: "an empty word ends the line", script: directives(`#SBATCH -N 2 --comment=x "" -J lost`), args: []string{"job.sh"}},
	{name: "a backslash within quotation marks", script: directives(`#SBATCH -J 'it\'s' -o 'spaces\ out'`), args: []string{"job.sh"}},
	{name: "a space after a backslash", script: directives(`#SBATCH -o spaces\ out`), args: []string{"job.sh"}},
	{name: "report 53: nothing is expanded", script: directives("#SBATCH -o $HOME/~/out.%j"), args: []string{"job.sh"}},
	{name: "an open quotation mark", script: directives(`#SBATCH -J "a b`), args: []string{"job.sh"}},
	{name: "a colon", script: directives("#SBATCH : -N2"), args: []string{"job.sh"}},
	{name: "the old prefix", script: directives("#SLURM -N2"), args: []string{"job.sh"}},
	{name: "options that count only on the command line", script: directives("#SBATCH --quiet --wrap=x -N2"), args: []string{"job.sh"}},
	{name: "an unknown option in the script", script: directives("#SBATCH --bank=physics"), args: []string{"job.sh"}},
	{name: "options of PBS", script: directives("#PBS -N pbs -l nodes=2"), args: []string{"job.sh"}},
	{name: "report 46: --ignore-pbs in the script", script: directives("#SBATCH --ignore-pbs", "#PBS -N pbs"), args: []string{"job.sh"}},
	{name: "options of LSF", script: directives("#BSUB -J bsub"), args: []string{"job.sh"}},
	{name: "a heterogeneous job in the script", script: directives("#SBATCH -N1", "#SBATCH hetjob", "#SBATCH -N2"), args: []string{"job.sh"}},
	{name: "a very long line", script: directives("#SBATCH --comment=" + longWord + " -N2"), args: []string{"job.sh"}},

	// The environment.
	{name: "report 49: environment over directives", env: []string{"SBATCH_JOB_NAME=env", "SBATCH_TIMELIMIT=7"}, script: directives("#SBATCH -J script -t 3 -N2"), args: []string{"job.sh"}},
	{name: "report 49: command line over environment", env: []string{"SBATCH_JOB_NAME=env"}, args: []string{"-J", "typed", "job.sh"}},
	{name: "variables that do not exist", env: []string{"SBATCH_TIME=7", "SBATCH_NODES=2", "SBATCH_MEM=5"}, args: []string{"job.sh"}},
	{name: "irregular variables", env: []string{"SBATCH_MEM_PER_NODE=100", "SBATCH_REQ_SWITCH=1", "SBATCH_WAIT4SWITCH=5"}, args: []string{"job.sh"}},
	{name: "a flag by an empty variable", env: []string{"SBATCH_OVERCOMMIT=", "SBATCH_USE_MIN_NODES=yes"}, args: []string{"-N1-2", "job.sh"}},
	{name: "a flag by a variable that says no", env: []string{"SBATCH_REQUEUE=0", "SBATCH_NO_REQUEUE=no"}, args: []string{"job.sh"}},
	{name: "a variable that is no value", env: []string{"SBATCH_DISTRIBUTION=sideways"}, args: []string{"job.sh"}},
	{name: "an exit code by a variable", env: []string{"SLURM_EXIT_ERROR=77"}, args: []string{"--no-such-option", "job.sh"}},
	{name: "an array by a variable", env: []string{"SBATCH_ARRAY_INX=1-3"}, args: []string{"job.sh"}},

	// Values.
	{name: "report 49: minutes and seconds", args: []string{"-t", "4:00", "job.sh"}},
	{name: "report 49: days and hours", args: []string{"-t", "2-12", "job.sh"}},
	{name: "report 50: minutes", args: []string{"-t", "90", "job.sh"}},
	{name: "seconds are rounded up", args: []string{"-t", "0:30", "job.sh"}},
	{name: "no limit", args: []string{"-t", "0", "job.sh"}},
	{name: "a limit that is none", args: []string{"-t", "1h", "job.sh"}},
	{name: "a range of nodes", args: []string{"-N", "2-4", "job.sh"}},
	{name: "GPUs by --gres", args: []string{"-N2", "--gres=gpu:4", "job.sh"}},
	{name: "GPUs for each node", args: []string{"-N2", "--gpus-per-node=2", "job.sh"}},
	{name: "GPUs in all", args: []string{"-N2", "--gpus=8", "job.sh"}},
	{name: "GPUs for each task", args: []string{"-N2", "-n4", "--gpus-per-task=2", "job.sh"}},
	{name: "more GPUs than there are", args: []string{"--gres=gpu:99", "job.sh"}},
	{name: "an array", args: []string{"-a", "1-5%2", "job.sh"}},
	{name: "a time in the future", args: []string{"--begin=now+1hour", "job.sh"}},
	{name: "a time of the day", args: []string{"--begin=teatime", "job.sh"}},
	{name: "a time that is none", args: []string{"--begin=soon", "job.sh"}},
	{name: "a dependency on nobody", args: []string{"-d", "singleton", "job.sh"}},
	{name: "report 67: a dependency on a job that is not there", args: []string{"-d", "afterok:999999", "job.sh"}},
	{name: "a dependency that is none", args: []string{"-d", "afterwards:1", "job.sh"}},
	{name: "report 77: an account that nobody knows", args: []string{"-A", "nobody", "job.sh"}},
	{name: "a partition that is not there", args: []string{"-p", "nowhere", "job.sh"}},
	{name: "a cluster that is not there", args: []string{"-M", "nowhere", "job.sh"}},
	{name: "more nodes than there are", args: []string{"-N99", "job.sh"}},
	{name: "a signal before the end", args: []string{"--signal=B:USR1@60", "job.sh"}},
	{name: "the names of files", args: []string{"-o", "out.%j.%x", "-e", "err", "-i", "/dev/null", "--open-mode=append", "job.sh"}},
	{name: "a comment", args: []string{"--comment=mine, all  mine", "job.sh"}},
	{name: "report 64: --no-requeue", args: []string{"--no-requeue", "job.sh"}},

	// What reaches the job.
	{name: "report 58: what reaches the job", runs: true, script: looksAround, env: []string{"MINE=a  b"}, args: started("job.sh", "x", "", "y  z")},
	{name: "report 57: --export=NONE", runs: true, script: looksAround, env: []string{"MINE=1"}, args: started("--export=NONE", "job.sh")},
	{name: "report 49: --export=ALL and a value", runs: true, script: looksAround, env: []string{"MINE=1"}, args: started("--export=ALL,OTHER=2", "job.sh")},
	{name: "report 54: two --export", runs: true, script: looksAround, env: []string{"MINE=1"}, args: started("--export=MINE", "--export=OTHER=2", "job.sh")},
	{name: "--wrap, run", runs: true, args: started("--wrap", `printf '[%s]' "a  b" \$x; echo > ended`)},
	{name: "a script from standard input, run", runs: true, input: "#!/bin/sh\necho \"$SLURM_JOB_NAME\"\necho > ended\n", args: started()},
	{name: "an exit code, waited for", script: "#!/bin/sh\nexit 7\n", args: started("--wait", "job.sh")},
	{name: "a signal, waited for", script: "#!/bin/sh\nkill -9 $$\n", args: started("--wait", "job.sh")},
}
