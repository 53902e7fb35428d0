package sbatch

import (
	"fmt"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Settings are what the options of a submission are in the end, by their long
// names. One that was not given anywhere is not there.
type Settings map[string]Setting

// Setting is the value of one option and where it came from.
type Setting struct {
	Value string
	// HasValue is false for a flag.
	HasValue bool
	Source   Source
	// Place is the line of the script, the name of the variable, or the option as
	// it was typed.
	Place string
}

// Source is where the value of an option came from.
type Source uint8

// The sources of values. A later one overrides an earlier one.
const (
	Script Source = iota
	Environment
	CommandLine
)

var sources = [...]string{"script", "environment", "command line"}

// String returns "script", "environment" or "command line".
func (s Source) String() string { return sources[min(int(s), len(sources)-1)] }

// Has reports whether the option was given.
func (s Settings) Has(option string) bool {
	_, ok := s[option]
	return ok
}

// Value returns the option's value, "" when it was not given.
func (s Settings) Value(option string) string { return s[option].Value }

// early are the options that sbatch reads before it has the script, and so only
// from the command line.
var early = map[string]bool{"help": true, "usage": true, "version": true, "quiet": true, "verbose": true, "wrap": true}

// fromDirectives sets the options of "#SBATCH" lines.
func (s Settings) fromDirectives(d *Directives, line *options.Line) {
	for _, g := range line.Given {
		if complete(&g) && !early[g.Option.Name] {
			s[g.Option.Canonical()] = Setting{g.Value, g.HasValue, Script, fmt.Sprintf("line %d", d.Words[g.At].Line)}
		}
	}
}

// fromCommandLine sets the options of the command line.
func (s Settings) fromCommandLine(line *options.Line) {
	for _, g := range line.Given {
		if complete(&g) && !g.Option.Segue() {
			s[g.Option.Canonical()] = Setting{g.Value, g.HasValue, CommandLine, g.Typed}
		}
	}
}

// complete reports whether an option is known and has its value.
func complete(g *options.Given) bool {
	return g.Option != nil && (g.HasValue || g.Option.Arity != options.Required)
}
