package sbatch

import (
	"fmt"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Input is all that sbatch understands a submission from.
type Input struct {
	// Args are the arguments without the name of the program.
	Args []string
	Env  []string // K=V
	// Script is the text of the batch script: of the file that the arguments name,
	// or of standard input. Nothing with --wrap.
	Script []byte
}

// Job is a submission, understood.
type Job struct {
	Line     options.Line // the command line
	Settings Settings
	// Script is the name of the batch script as it was typed: "" for standard input
	// and --wrap.
	Script string
	// Arguments are the script's own.
	Arguments []string
	// Request is what is asked for. Zero fields, which Open names, are what the
	// scheduler decides; of a range of nodes the least is there.
	Request segue.Request
	Open    []string
	Name    string // of the job
	// Output is the pattern of the file that gets the job's output.
	Output  string
	Comment string

	// Chain is true for the first link of a chain with these terms.
	Chain bool
	Terms segue.Terms

	// Unsure are the reasons, each a part of a sentence, for which Segue does not
	// manage the job.
	Unsure []string
	// Refused are the reasons for which sbatch will refuse the job, as far as they
	// can be told.
	Refused []string
}

// Read understands a submission. An error is Invalid and is about the terms of
// a chain: where they are and what is allowed. What sbatch would refuse is no
// error, since sbatch is to say so.
func Read(in Input) (*Job, error) {
	j := &Job{Line: options.Submission.Read(in.Args), Settings: Settings{}}
	directives := ReadDirectives(in.Script, sbatchPrefix)
	inScript := directives.read(options.Sbatch)
	j.Settings.fromDirectives(&directives, &inScript)
	j.Settings.fromEnvironment(in.Env)
	j.Settings.fromCommandLine(&j.Line)

	wrapped := j.Line.Has("wrap")
	if j.Line.Script < len(in.Args) {
		j.Script, j.Arguments = in.Args[j.Line.Script], in.Args[j.Line.Script+1:]
	}
	j.Name = defaultName(j.Script, wrapped)
	if j.Settings.Has("job-name") {
		j.Name = j.Settings.Value("job-name")
	}
	j.Output = "slurm-%j.out"
	if j.Settings.Has("output") {
		j.Output = j.Settings.Value("output")
	}
	j.Comment = j.Settings.Value("comment")
	j.request()
	j.doubt(in, &directives, &inScript)
	j.refuse(in, wrapped, &directives, &inScript)

	terms := ReadDirectives(in.Script, seguePrefix)
	var err error
	j.Terms, j.Chain, err = readTerms(&terms, &j.Line, in.Args)
	return j, err
}

// doubt notes why Segue cannot be sure of what sbatch makes of the job.
func (j *Job) doubt(in Input, d *Directives, inScript *options.Line) {
	unsure := func(format string, args ...any) { j.Unsure = append(j.Unsure, fmt.Sprintf(format, args...)) }
	for _, p := range j.Line.Problems {
		if p.Kind == options.Unknown || p.Kind == options.Ambiguous {
			unsure("%s", p.Text)
		}
	}
	for _, p := range inScript.Problems {
		if p.Kind == options.Unknown || p.Kind == options.Ambiguous {
			unsure("line %d: %s", d.Words[p.At].Line, p.Text)
		}
	}
	s := j.Settings
	switch {
	case d.Het || j.Line.Het || inScript.Het:
		unsure("it is a heterogeneous job")
	case s.Has("array"):
		unsure("it is a job array (%s)", s["array"].Place)
	case s.Has("test-only"):
		unsure("it only asks when a job would start (%s)", s["test-only"].Place)
	}
	for _, name := range []string{"hold", "wait"} {
		if s.Has(name) && s[name].Source == Script {
			unsure("every link of it would --%s (%s)", name, s[name].Place)
		}
	}
	for _, name := range []string{"uid", "gid"} {
		if s.Has(name) {
			unsure("it runs as somebody else (%s)", s[name].Place)
		}
	}
	if s.Has("clusters") {
		unsure("it may go to another cluster (%s)", s["clusters"].Place)
	}
	if !s.Has("ignore-pbs") && translated(in.Script) {
		unsure("sbatch translates the #PBS or #BSUB lines of the script")
	}
	if d.Doubtful != "" {
		unsure("%s", d.Doubtful)
	}
	if len(j.Comment)+maxToken > maxComment {
		unsure("its comment leaves no room for the mark by which a link is found again")
	}
}

// Slurm takes comments of at most maxComment bytes, and no token is longer than
// maxToken.
const (
	maxComment = 1024
	maxToken   = 64
)

// refuse notes why sbatch will refuse the job.
func (j *Job) refuse(in Input, wrapped bool, d *Directives, inScript *options.Line) {
	refused := func(format string, args ...any) { j.Refused = append(j.Refused, fmt.Sprintf(format, args...)) }
	for _, p := range j.Line.Problems {
		if p.Kind != options.Unknown {
			refused("%s", p.Text)
		}
	}
	if d.Refused != "" {
		refused("%s", d.Refused)
		return
	}
	for _, p := range inScript.Problems {
		if p.Kind != options.Unknown {
			refused("line %d: %s", d.Words[p.At].Line, p.Text)
		}
	}
	if at := inScript.Script; at < len(d.Words) {
		refused("line %d: %q is no option", d.Words[at].Line, d.Words[at].Text)
	}
	if wrapped && j.Line.Script < len(in.Args) {
		refused("--wrap and a script, or arguments of one")
	}
	if !wrapped && len(in.Script) > 0 {
		if err := CheckScript(in.Script); err != nil {
			refused("%s", err)
		}
	}
}
