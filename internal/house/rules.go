package house

import (
	"cmp"
	"fmt"
	"slices"
)

// Problem is one place that breaks a rule.
type Problem struct {
	Path string // of the file or the package, below the root of the repository
	Line int    // 0 when the whole file or package is meant
	Text string // what is wrong, and what to do about it
}

// String returns the problem as a compiler would print it.
func (p Problem) String() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Text)
}

// rules are the rules of the house.
var rules = []func(*Tree) []Problem{
	placedPackages,
	arrowsPointOneWay,
	standardLibraryRoot,
	pureBrains,
	injectedClock,
	noSleepInTests,
	onePackageComment,
	shortFiles,
	noSkippedTests,
	resolvingLinks,
	explainedDependencies,
	drawnPackages,
}

// Problems returns every place in t that breaks a rule, by path and line.
func Problems(t *Tree) []Problem {
	var all []Problem
	for _, rule := range rules {
		all = append(all, rule(t)...)
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// inFile returns the problem that a printf-like text describes at a line of f.
func inFile(f *file, line int, format string, args ...any) Problem {
	return Problem{Path: f.path, Line: line, Text: fmt.Sprintf(format, args...)}
}
