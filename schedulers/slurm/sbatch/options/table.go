package options

import "strings"

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
func (o *Option) Segue() bool { return strings.HasPrefix(o.Name, Prefix) }

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

// Sbatch is the table of sbatch's options in Slurm 22.05 to 25.11, and
// Submission that together with Segue's own.
//
// Where an option came or went in between it is here, so that a shortened name
// that only some of these versions take for one option counts as ambiguous.
// "get-user-env" takes a value in the older ones, "requeue" in the newer ones.
var (
	Sbatch     = sbatch()
	Submission = withTerms(Sbatch)
)

func sbatch() Table {
	t := Table{
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
	}
	for name := range strings.FieldsSeq(`acctg-freq batch bb bbf cluster-constraint comment container container-id
		context cores-per-socket cpu-freq cpus-per-gpu deadline delay-boot export export-file extra gid gpu-bind
		gpu-freq gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint kill-on-invalid-dep mail-type
		mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mem-update mincpus network ntasks-per-core
		ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode power prefer priority profile
		reservation resources runtime segment signal sockets-per-node switches thread-spec threads-per-core
		time-min tmp tres-bind tres-per-task uid wait-all-nodes wckey wrap`) {
		t = append(t, Option{Name: name, Arity: Required})
	}
	for name := range strings.FieldsSeq(`consolidate-segments contiguous external ignore-pbs no-requeue parsable
		reboot spread-job spread-segments stepmgr test-only usage use-min-nodes`) {
		t = append(t, Option{Name: name})
	}
	return t
}

func withTerms(t Table) Table {
	all := append(Table(nil), t...)
	for _, o := range Term {
		o.Name = Prefix + o.Name
		all = append(all, o)
	}
	return all
}
