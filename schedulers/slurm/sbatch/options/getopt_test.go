package options_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// told writes a line down as "name=value" words, then the problems, then what
// is left.
func told(args []string, line options.Line) string {
	var words []string
	for _, g := range line.Given {
		name := "?" + g.Typed
		if g.Option != nil {
			name = g.Option.Canonical()
		}
		if g.HasValue {
			name += "=" + g.Value
		}
		words = append(words, name)
	}
	if line.Het {
		words = append(words, ":")
	}
	for _, p := range line.Problems {
		words = append(words, "!"+[]string{"unknown", "ambiguous", "missing", "unwanted"}[p.Kind])
	}
	return strings.Join(append(append(words, "|"), args[line.Script:]...), " ")
}

func TestCommandLineIsReadAsGetoptLongDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"a script without options":                        {"job.sh", "| job.sh"},
		"nothing at all":                                  {"", "|"},
		"report 47: options after the script are its own": {"job.sh -D dir --nodes=4", "| job.sh -D dir --nodes=4"},
		"a value after an equals sign":                    {"--nodes=4 job.sh", "nodes=4 | job.sh"},
		"a value in the next argument":                    {"--nodes 4 job.sh", "nodes=4 | job.sh"},
		"a value that looks like an option":               {"-N -3 --job-name --hold job.sh", "nodes=-3 job-name=--hold | job.sh"},
		"an empty value":                                  {"--comment= job.sh", "comment= | job.sh"},
		"report 45: an optional value that is empty":      {"--exclusive= job.sh", "exclusive= | job.sh"},
		"report 45: a flag given a value":                 {"--hold= job.sh", "hold= !unwanted | job.sh"},
		"a value glued to its letter":                     {"-N4 -JNAME job.sh", "nodes=4 job-name=NAME | job.sh"},
		"a glued value that begins with =":                {"-N=4 job.sh", "nodes==4 | job.sh"},
		"flags in a cluster":                              {"-vHQ job.sh", "verbose hold quiet | job.sh"},
		"a cluster that ends in a value":                  {"-HN 3 job.sh", "hold nodes=3 | job.sh"},
		"a cluster that ends in a glued value":            {"-HN3 job.sh", "hold nodes=3 | job.sh"},
		"an optional value is not the next argument":      {"--nice 100 job.sh", "nice | 100 job.sh"},
		"an optional value after an equals sign":          {"--nice=100 job.sh", "nice=100 | job.sh"},
		"an optional value glued to its letter":           {"-koff job.sh", "no-kill=off | job.sh"},
		"an optional value is not after its letter":       {"-k off job.sh", "no-kill | off job.sh"},
		"the start of a long name":                        {"--job=x --dep=singleton --mail-u=me job.sh", "job-name=x dependency=singleton mail-user=me | job.sh"},
		"a whole name that is the start of others":        {"--time=1 --mem=2 --gpus=3 job.sh", "time=1 mem=2 gpus=3 | job.sh"},
		"two names of one option":                         {"--cluster=a --tasks-per-node=2 job.sh", "clusters=a ntasks-per-node=2 | job.sh"},
		"the start of two options":                        {"--exp=NONE job.sh", "?--exp=NONE !ambiguous | job.sh"},
		"the start of every option":                       {"--=x job.sh", "?--=x !ambiguous | job.sh"},
		"report 48: an option that went away":             {"--workdir=/x job.sh", "?--workdir=/x !unknown | job.sh"},
		"an option of a site's plugin":                    {"--bank=phys --green job.sh", "?--bank=phys ?--green !unknown !unknown | job.sh"},
		"an unknown letter in a cluster":                  {"-vZH job.sh", "verbose ?-Z hold !unknown | job.sh"},
		"a value that is missing":                         {"--nodes", "nodes !missing |"},
		"a value that is missing after a letter":          {"-vN", "verbose nodes !missing |"},
		"two dashes end the options":                      {"-N4 -- -x.sh -N5", "nodes=4 | -x.sh -N5"},
		"one dash is a name":                              {"- a", "| - a"},
		"components of a heterogeneous job":               {"-N1 : -N2 job.sh", "nodes=1 nodes=2 : | job.sh"},
		"report 52: a --wrap without its quotation marks": {"--wrap python -m snakemake", "wrap=python distribution=snakemake |"},
		"Segue's options":                                 {"--segue-chain --segue-links 3 --segue-for=30d job.sh", "segue-chain segue-links=3 segue-for=30d | job.sh"},
		"Segue's options are never shortened":             {"--segue-ch --seg=4 job.sh", "?--segue-ch segment=4 !unknown | job.sh"},
		"Segue's options after the script are its own":    {"job.sh --segue-chain", "| job.sh --segue-chain"},
		"Segue's option as the value of another":          {"--comment --segue-chain job.sh", "comment=--segue-chain | job.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(c.args)
			if got := told(args, options.Submission.Read(args)); got != c.want {
				t.Errorf("read %s as %s, want %s", c.args, got, c.want)
			}
		})
	}
}

func TestOptionsAreTakenOutAndTheRestStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"nothing to take":          {"-N 4 job.sh --hold", "-N 4 job.sh --hold"},
		"a long flag":              {"-N 4 --hold job.sh --hold", "-N 4 job.sh --hold"},
		"a value of its own":       {"--begin now -N 4 job.sh", "-N 4 job.sh"},
		"a value after an equals":  {"--begin=now -N 4 -- job.sh", "-N 4 -- job.sh"},
		"one letter of a cluster":  {"-vHQ job.sh", "-vQ job.sh"},
		"before a glued value":     {"-HN4 job.sh", "-N4 job.sh"},
		"before a value":           {"-HN 4 job.sh", "-N 4 job.sh"},
		"a value after a cluster":  {"-vb now job.sh", "-v job.sh"},
		"all letters of a cluster": {"-HH -v job.sh", "-v job.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(c.args)
			line := options.Sbatch.Read(args)
			got := line.Without(args, func(o *options.Option) bool { return o.Name == "hold" || o.Name == "begin" })
			if diff := cmp.Diff(strings.Fields(c.want), got); diff != "" {
				t.Errorf("without --hold and --begin (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzCommandLine(f *testing.F) {
	for _, args := range []string{"-N4|job.sh", "--job=x|--|a", "-vHk|:|--nice|1", "--segue-chain|--wrap|x", "--=|-|--", "-"} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "|")
		line := options.Submission.Read(args)
		if line.Script < 0 || line.Script > len(args) || line.End > line.Script {
			t.Fatalf("options of %q end at %d, the script is at %d", args, line.End, line.Script)
		}
		for _, g := range line.Given {
			if g.At < 0 || g.End <= g.At || g.End > line.End {
				t.Fatalf("%q: %s is at %d to %d, and the options end at %d", args, g.Typed, g.At, g.End, line.End)
			}
		}
		kept := line.Without(args, func(*options.Option) bool { return false })
		if diff := cmp.Diff(args, kept); diff != "" {
			t.Fatalf("taking nothing out changes %q (-want +got):\n%s", args, diff)
		}
		less := line.Without(args, (*options.Option).Segue)
		again := options.Submission.Read(less)
		for _, g := range again.Given {
			if g.Option != nil && g.Option.Segue() {
				t.Fatalf("%q without Segue's options is %q", args, less)
			}
		}
	})
}

func TestScriptIsLookedForWhereSbatchLooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ name, chdir, path, want string }{
		"by its path":                    {"/x/t.sh", "sub", "/bin", "/x/t.sh"},
		"from here":                      {"./t.sh", "sub", "/bin", "./t.sh"},
		"from above":                     {"../t.sh", "", "/bin", "../t.sh"},
		"here, then on PATH":             {"t.sh", "", "/a::/b", "t.sh /a/t.sh /b/t.sh t.sh"},
		"there, then on PATH, then here": {"t.sh", "sub", "/a", "sub/t.sh /a/t.sh t.sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(options.ScriptPaths(c.name, c.chdir, c.path), " "); got != c.want {
				t.Errorf("looks at %s, want %s", got, c.want)
			}
		})
	}
}
