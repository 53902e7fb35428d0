package sbatch

import (
	"path"
	"slices"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Launch is how the real sbatch is to be run.
type Launch struct {
	Args []string // without the name of the program
	Env  []string // K=V
	Dir  string   // working directory
	// Umask and Limits are those of the process; sbatch hands them on to the job.
	Umask  uint32
	Limits []segue.ResourceLimit
	// Stdin is the script where it comes from standard input.
	Stdin []byte
	// Unheard is true when the job's --export keeps it from seeing the variables
	// of its chain.
	Unheard bool
}

// First returns how to submit the first link of a chain: as the user typed it,
// without the options that are Segue's, with the token after the user's own
// comment, and with variables on top of the environment.
func (j *Job) First(s segue.Submission, token string, variables []string) Launch {
	l := Launch{Args: s.Args, Env: withVariables(s.Env, variables), Dir: s.Dir, Umask: s.Umask, Limits: s.Limits}
	if s.ScriptAt < 0 {
		l.Stdin = s.Script
	}
	return j.mark(l, token, variables, nil)
}

// Later returns how to submit a later link of a chain from what was captured at
// the first: the same, except that
//
//   - the script is what was captured; unless it came from standard input the
//     caller has written it to scriptPath, whose last part is ScriptName, after
//     which Slurm names the job;
//   - the environment is cleaned of an enclosing allocation's variables (Clean);
//   - the job depends on none of the jobs that the first one waited for, and
//     begins at once. Only "singleton" is kept;
//   - sbatch neither waits for the job, nor submits it held, nor is quiet, and
//     prints its number alone (--parsable).
//
// The error is Invalid: what was captured cannot be submitted again.
func Later(s segue.Submission, token string, variables []string, scriptPath string) (Launch, error) {
	j, err := Read(Input{Args: s.Args, Env: s.Env, Script: s.Script})
	if err != nil {
		return Launch{}, err
	}
	if len(j.Unsure) > 0 {
		return Launch{}, segue.Errorf(segue.Invalid, "submit a later link: %s", strings.Join(j.Unsure, "; "))
	}
	env := slices.DeleteFunc(Clean(s.Env), func(kv string) bool { return strings.HasPrefix(kv, "SBATCH_WAIT=") })
	l := Launch{Args: slices.Clone(s.Args), Env: withVariables(env, variables), Dir: s.Dir, Umask: s.Umask, Limits: s.Limits}
	switch {
	case j.Script != "":
		if path.Base(scriptPath) != ScriptName(s) {
			return Launch{}, segue.Errorf(segue.Invalid, "script in %q, want a file named %q", scriptPath, ScriptName(s))
		}
		l.Args[j.Line.Script] = scriptPath
	case !j.Line.Has("wrap"):
		l.Stdin = s.Script
	}
	more := []string{"--parsable"}
	if j.Settings.Has("dependency") && !singleton(j.Settings.Value("dependency")) {
		more = append(more, "--dependency=")
	} else if j.Settings.Has("dependency") {
		more = append(more, "--dependency=singleton")
	}
	if j.Settings.Has("begin") {
		more = append(more, "--begin=now")
	}
	return j.mark(l, token, variables, more), nil
}

// ScriptName returns the name of the file in which Later wants the script; ""
// when it wants none.
func ScriptName(s segue.Submission) string {
	if s.ScriptAt < 0 || s.ScriptAt >= len(s.Args) {
		return ""
	}
	return path.Base(s.Args[s.ScriptAt])
}

// notAgain are options that only a first submission has.
var notAgain = []string{"wait", "hold", "quiet", "parsable", "dependency", "begin", "test-only"}

// mark adds the token to the comment, and further options, where the options of
// the command line end: there they override all others.
func (j *Job) mark(l Launch, token string, variables, more []string) Launch {
	comment := token
	if j.Comment != "" {
		comment = j.Comment + " " + token
	}
	added := append([]string{"--comment=" + comment}, more...)
	option, heard := j.Settings.carry(variables)
	if option != "" {
		added = append(added, option)
	}
	l.Unheard = !heard
	later := more != nil
	head := j.Line.Without(l.Args, func(o *options.Option) bool {
		return o.Segue() || later && slices.Contains(notAgain, o.Name)
	})
	tail := len(l.Args) - j.Line.End
	at := len(head) - tail
	l.Args = slices.Concat(head[:at], added, head[at:])
	return l
}

// withVariables returns the environment with variables set to other values.
func withVariables(env, variables []string) []string {
	out := make([]string, 0, len(env)+len(variables))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(variables, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			out = append(out, kv)
		}
	}
	return append(out, variables...)
}
