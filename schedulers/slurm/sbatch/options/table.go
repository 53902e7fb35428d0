package options

// Arity says whether an option has a value.
type Arity uint8

// The arities of options. The value of an Optional one is glued to it: after
// "=", or directly after the letter.
const (
	None Arity = iota
	Required
	Optional
)

// Option is one option of a command.
type Option struct {
	Name  string // long, without the dashes
	Short byte   // 0 without one
	Arity Arity
	Alias string // the name of the option that this is another name of
	// Whole is true for one whose name may not be shortened.
	Whole bool
}

// Canonical returns the option's name, or that of the one it stands for.
func (o *Option) Canonical() string {
	if o.Alias != "" {
		return o.Alias
	}
	return o.Name
}

// Segue reports whether the option is Segue's and not sbatch's.
func (o *Option) Segue() bool { return hasPrefix(o.Name, Prefix) }

// Table is the options of a command.
type Table []Option

// Prefix is what the names of Segue's options on the command line of sbatch
// begin with.
const Prefix = "segue-"

// Term is a table of the options of "#SEGUE" lines. On the command line their
// names have Prefix.
var Term = Table{
	{Name: "chain", Arity: Optional, Whole: true},
	{Name: "links", Arity: Required, Whole: true},
	{Name: "for", Arity: Required, Whole: true},
	{Name: "done-file", Arity: Required, Whole: true},
	{Name: "done-code", Arity: Required, Whole: true},
	{Name: "prefer", Arity: Required, Whole: true},
	{Name: "min-lead", Arity: Required, Whole: true},
	{Name: "max-lead", Arity: Required, Whole: true},
	{Name: "startup", Arity: Required, Whole: true},
	{Name: "fast-fail", Arity: Required, Whole: true},
	{Name: "max-fast-fails", Arity: Required, Whole: true},
	{Name: "max-gpu-hours", Arity: Required, Whole: true},
	{Name: "stop-predecessor", Arity: None, Whole: true},
}

// Submission is the table of sbatch's options in Slurm 22.05 to 25.11, with
// Segue's own at its end, and Sbatch is those of sbatch alone.
//
// Where an option came or went in between it is here, so that a shortened name
// that only some of these versions take for one option counts as ambiguous.
// "get-user-env" takes a value in the older ones, "requeue" in the newer ones.
var (
	Submission Table = submission[:]
	Sbatch     Table = submission[:len(submission)-terms]
)

// terms is the number of Segue's options.
const terms = 13

// Laid is the same table for code that runs before anything is initialised (see
// cmd/segue/entry).
var Laid = &submission

// submission is written out so that the linker lays it down, and nothing is
// done for it when the program starts.
var submission = [...]Option{
	{Name: "account", Short: 'A', Arity: Required},
	{Name: "array", Short: 'a', Arity: Required},
	{Name: "begin", Short: 'b', Arity: Required},
	{Name: "extra-node-info", Short: 'B', Arity: Required},
	{Name: "chdir", Short: 'D', Arity: Required},
	{Name: "clusters", Short: 'M', Arity: Required},
	{Name: "cluster", Arity: Required, Alias: "clusters"},
	{Name: "constraint", Short: 'C', Arity: Required},
	{Name: "core-spec", Short: 'S', Arity: Required},
	{Name: "cpus-per-task", Short: 'c', Arity: Required},
	{Name: "dependency", Short: 'd', Arity: Required},
	{Name: "distribution", Short: 'm', Arity: Required},
	{Name: "error", Short: 'e', Arity: Required},
	{Name: "exclude", Short: 'x', Arity: Required},
	{Name: "gpus", Short: 'G', Arity: Required},
	{Name: "help", Short: 'h'},
	{Name: "hold", Short: 'H'},
	{Name: "input", Short: 'i', Arity: Required},
	{Name: "job-name", Short: 'J', Arity: Required},
	{Name: "licenses", Short: 'L', Arity: Required},
	{Name: "no-kill", Short: 'k', Arity: Optional},
	{Name: "nodefile", Short: 'F', Arity: Required},
	{Name: "nodelist", Short: 'w', Arity: Required},
	{Name: "nodes", Short: 'N', Arity: Required},
	{Name: "ntasks", Short: 'n', Arity: Required},
	{Name: "output", Short: 'o', Arity: Required},
	{Name: "overcommit", Short: 'O'},
	{Name: "oversubscribe", Short: 's'},
	{Name: "partition", Short: 'p', Arity: Required},
	{Name: "qos", Short: 'q', Arity: Required},
	{Name: "quiet", Short: 'Q'},
	{Name: "time", Short: 't', Arity: Required},
	{Name: "verbose", Short: 'v'},
	{Name: "version", Short: 'V'},
	{Name: "wait", Short: 'W'},
	{Name: "exclusive", Arity: Optional},
	{Name: "get-user-env", Arity: Optional},
	{Name: "nice", Arity: Optional},
	{Name: "oom-kill-step", Arity: Optional},
	{Name: "propagate", Arity: Optional},
	{Name: "requeue", Arity: Optional},
	{Name: "resv-ports", Arity: Optional},
	{Name: "tasks-per-node", Arity: Required, Alias: "ntasks-per-node"},
	{Name: "acctg-freq", Arity: Required},
	{Name: "batch", Arity: Required},
	{Name: "bb", Arity: Required},
	{Name: "bbf", Arity: Required},
	{Name: "cluster-constraint", Arity: Required},
	{Name: "comment", Arity: Required},
	{Name: "container", Arity: Required},
	{Name: "container-id", Arity: Required},
	{Name: "context", Arity: Required},
	{Name: "cores-per-socket", Arity: Required},
	{Name: "cpu-freq", Arity: Required},
	{Name: "cpus-per-gpu", Arity: Required},
	{Name: "deadline", Arity: Required},
	{Name: "delay-boot", Arity: Required},
	{Name: "export", Arity: Required},
	{Name: "export-file", Arity: Required},
	{Name: "extra", Arity: Required},
	{Name: "gid", Arity: Required},
	{Name: "gpu-bind", Arity: Required},
	{Name: "gpu-freq", Arity: Required},
	{Name: "gpus-per-node", Arity: Required},
	{Name: "gpus-per-socket", Arity: Required},
	{Name: "gpus-per-task", Arity: Required},
	{Name: "gres", Arity: Required},
	{Name: "gres-flags", Arity: Required},
	{Name: "hint", Arity: Required},
	{Name: "kill-on-invalid-dep", Arity: Required},
	{Name: "mail-type", Arity: Required},
	{Name: "mail-user", Arity: Required},
	{Name: "mcs-label", Arity: Required},
	{Name: "mem", Arity: Required},
	{Name: "mem-bind", Arity: Required},
	{Name: "mem-per-cpu", Arity: Required},
	{Name: "mem-per-gpu", Arity: Required},
	{Name: "mem-update", Arity: Required},
	{Name: "mincpus", Arity: Required},
	{Name: "network", Arity: Required},
	{Name: "ntasks-per-core", Arity: Required},
	{Name: "ntasks-per-gpu", Arity: Required},
	{Name: "ntasks-per-node", Arity: Required},
	{Name: "ntasks-per-socket", Arity: Required},
	{Name: "ntasks-per-tres", Arity: Required},
	{Name: "open-mode", Arity: Required},
	{Name: "power", Arity: Required},
	{Name: "prefer", Arity: Required},
	{Name: "priority", Arity: Required},
	{Name: "profile", Arity: Required},
	{Name: "reservation", Arity: Required},
	{Name: "resources", Arity: Required},
	{Name: "runtime", Arity: Required},
	{Name: "segment", Arity: Required},
	{Name: "signal", Arity: Required},
	{Name: "sockets-per-node", Arity: Required},
	{Name: "switches", Arity: Required},
	{Name: "thread-spec", Arity: Required},
	{Name: "threads-per-core", Arity: Required},
	{Name: "time-min", Arity: Required},
	{Name: "tmp", Arity: Required},
	{Name: "tres-bind", Arity: Required},
	{Name: "tres-per-task", Arity: Required},
	{Name: "uid", Arity: Required},
	{Name: "wait-all-nodes", Arity: Required},
	{Name: "wckey", Arity: Required},
	{Name: "wrap", Arity: Required},
	{Name: "consolidate-segments"},
	{Name: "contiguous"},
	{Name: "external"},
	{Name: "ignore-pbs"},
	{Name: "no-requeue"},
	{Name: "parsable"},
	{Name: "reboot"},
	{Name: "spread-job"},
	{Name: "spread-segments"},
	{Name: "stepmgr"},
	{Name: "test-only"},
	{Name: "usage"},
	{Name: "use-min-nodes"},

	{Name: Prefix + "chain", Arity: Optional, Whole: true},
	{Name: Prefix + "links", Arity: Required, Whole: true},
	{Name: Prefix + "for", Arity: Required, Whole: true},
	{Name: Prefix + "done-file", Arity: Required, Whole: true},
	{Name: Prefix + "done-code", Arity: Required, Whole: true},
	{Name: Prefix + "prefer", Arity: Required, Whole: true},
	{Name: Prefix + "min-lead", Arity: Required, Whole: true},
	{Name: Prefix + "max-lead", Arity: Required, Whole: true},
	{Name: Prefix + "startup", Arity: Required, Whole: true},
	{Name: Prefix + "fast-fail", Arity: Required, Whole: true},
	{Name: Prefix + "max-fast-fails", Arity: Required, Whole: true},
	{Name: Prefix + "max-gpu-hours", Arity: Required, Whole: true},
	{Name: Prefix + "stop-predecessor", Arity: None, Whole: true},
}
