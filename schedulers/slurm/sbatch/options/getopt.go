package options

// Line is a command line as sbatch understands it.
type Line struct {
	Given []Given
	// Script is the index of the first argument that is no option: the batch
	// script, which its own arguments follow. Without one it is the number of
	// arguments.
	Script int
	// End is the index of the argument that ends the options: the script or a
	// "--" before it. A further option can stand there.
	End int
	// Het is true when a lone ":" separates the components of a heterogeneous job.
	Het bool
	// Problems are what could not be read for certain. After one, the rest was read
	// by guess.
	Problems []Problem
}

// Given is one option of a command line.
type Given struct {
	// Option is nil for one that is not in the table.
	Option *Option
	Typed  string // "--job-name", "--job", "-J"
	Value  string
	// HasValue tells an empty value from none.
	HasValue bool
	// At is the index of the argument that has the option, and End that of the
	// first one after it and its value.
	At, End int
}

// Problem is something in a command line that could not be read for certain.
type Problem struct {
	Kind ProblemKind
	At   int // the index of the argument
	Text string
}

// ProblemKind is what is wrong with an argument.
type ProblemKind uint8

// The kinds of problems.
const (
	// Unknown is an option that is not in the table. A plugin may have it, or a
	// version of Slurm that is not known here; then its value, if it takes one
	// from the next argument, was mistaken for the script.
	Unknown ProblemKind = iota
	Ambiguous
	MissingValue
	UnwantedValue
)

// Read reads the arguments by the rules of getopt_long with a leading "+":
// reading stops at the first argument that is no option, or after "--". A long
// name may be shortened as long as it is the start of one option only; an
// option that must have a value takes the next argument, whatever it is, and
// one that may have a value takes it only from the same argument.
func (t Table) Read(args []string) Line {
	line := Line{}
	at := 0
	for at < len(args) {
		arg := args[at]
		switch {
		case arg == ":":
			line.Het = true
			at++
		case arg == "--":
			line.Script, line.End = at+1, at
			return line
		case hasPrefix(arg, "--"):
			at = t.long(&line, args, at)
		case len(arg) > 1 && arg[0] == '-':
			at = t.cluster(&line, args, at)
		default:
			line.Script, line.End = at, at
			return line
		}
	}
	line.Script, line.End = at, at
	return line
}

// long reads the long option at args[at] and returns the index after it.
func (t Table) long(line *Line, args []string, at int) int {
	typed, value, hasValue := cut(args[at])
	g := Given{Typed: typed, Value: value, HasValue: hasValue, At: at, End: at + 1}
	option, others := t.find(typed[2:])
	g.Option = option
	switch {
	case option == nil && others == nil:
		line.problem(Unknown, at, "option "+typed+" is not one of sbatch's own")
	case option == nil:
		line.problem(Ambiguous, at, "option "+typed+" could be "+listed(others))
	case option.Arity == None && hasValue:
		line.problem(UnwantedValue, at, "option "+typed+" takes no value")
	case option.Arity == Required && !hasValue && at+1 == len(args):
		line.problem(MissingValue, at, "option "+typed+" lacks its value")
	case option.Arity == Required && !hasValue:
		g.Value, g.HasValue, g.End = args[at+1], true, at+2
	}
	line.Given = append(line.Given, g)
	return g.End
}

// cluster reads the short options of args[at], of which the last may have a
// value, and returns the index after them.
func (t Table) cluster(line *Line, args []string, at int) int {
	for letters := args[at][1:]; letters != ""; letters = letters[1:] {
		g := Given{Option: t.short(letters[0]), Typed: "-" + letters[:1], At: at, End: at + 1}
		rest := letters[1:]
		switch {
		case g.Option == nil:
			line.problem(Unknown, at, "option "+g.Typed+" is not one of sbatch's own")
		case g.Option.Arity != None && rest != "":
			g.Value, g.HasValue = rest, true
			letters = letters[:1]
		case g.Option.Arity == Required && at+1 == len(args):
			line.problem(MissingValue, at, "option "+g.Typed+" lacks its value")
		case g.Option.Arity == Required:
			g.Value, g.HasValue, g.End = args[at+1], true, at+2
		}
		line.Given = append(line.Given, g)
		if g.End > at+1 {
			return g.End
		}
	}
	return at + 1
}

func (l *Line) problem(kind ProblemKind, at int, text string) {
	l.Problems = append(l.Problems, Problem{kind, at, text})
}

// find returns the option of a long name or of the start of one; or nil, and
// the names that it could be.
func (t Table) find(name string) (option *Option, others []string) {
	for i := range t {
		o := &t[i]
		switch {
		case o.Name == name:
			return o, nil
		case o.Whole || !hasPrefix(o.Name, name):
		case option == nil:
			option = o
			others = append(others, o.Name)
		default:
			others = append(others, o.Name)
		}
	}
	for _, other := range others {
		if t.canonical(other) != t.canonical(others[0]) {
			return nil, others
		}
	}
	return option, nil
}

// canonical returns the name that an alias stands for.
func (t Table) canonical(name string) string {
	for i := range t {
		if t[i].Name == name {
			return t[i].Canonical()
		}
	}
	return name
}

func (t Table) short(letter byte) *Option {
	for i := range t {
		if t[i].Short == letter && letter != 0 {
			return &t[i]
		}
	}
	return nil
}

// Has reports whether the option of that name was given.
func (l *Line) Has(name string) bool {
	for _, g := range l.Given {
		if g.Option != nil && g.Option.Canonical() == name {
			return true
		}
	}
	return false
}

// Without returns the arguments without those options that drop picks, and
// without their values.
func (l *Line) Without(args []string, drop func(*Option) bool) []string {
	kept := make([]string, 0, len(args))
	next := 0 // the first argument that is not dealt with
	for i := 0; i < len(l.Given); {
		at, end := l.Given[i].At, l.Given[i].End
		letters, dropped := "-", false
		for ; i < len(l.Given) && l.Given[i].At == at; i++ { // of one cluster
			g := &l.Given[i]
			end = g.End
			if g.Option != nil && drop(g.Option) {
				dropped = true
				continue
			}
			letters += g.Typed[1:]
			if g.HasValue && g.End == g.At+1 {
				letters += g.Value
			}
		}
		kept = append(kept, args[next:at]...)
		next = end
		switch {
		case !dropped:
			kept = append(kept, args[at:end]...)
		case letters != "-": // the rest of a cluster
			kept = append(kept, letters)
			if last := &l.Given[i-1]; last.Option == nil || !drop(last.Option) {
				kept = append(kept, args[at+1:end]...)
			}
		}
	}
	return append(kept, args[next:]...)
}

// The package strings would be at hand, but it is ready later than this one
// needs to be when the program starts: see cmd/segue/passthrough.

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

// cut cuts at the first equals sign.
func cut(s string) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == '=' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func listed(names []string) string {
	var text []byte
	for i, name := range names {
		if i > 0 {
			text = append(text, " or "...)
		}
		text = append(append(text, "--"...), name...)
	}
	return string(text)
}
