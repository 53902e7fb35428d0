package house

import (
	"go/ast"
	"strings"
)

// clockReaders are the names of package time that read the clock.
var clockReaders = map[string]bool{"Now": true, "Since": true, "Until": true}

// injectedClock wants the clock read in commands and scheduler drivers only:
// elsewhere the instant is an argument, so that a replay of last month takes
// the same path as today. Tests may measure themselves.
func injectedClock(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if _, l := roomOf(f.dir); f.test || l == command || l == desk || l == testOnly || strings.HasPrefix(f.dir, "schedulers/") {
			continue
		}
		f.selectors("time", func(name string, at ast.Node) {
			if clockReaders[name] {
				problems = append(problems, inFile(f, f.line(at),
					"time.%s outside commands and drivers: take the instant, or a clock, as an argument", name))
			}
		})
	}
	return problems
}

// noSleepInTests wants tests that wait for what happens, not for time to pass.
func noSleepInTests(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if !f.test {
			continue
		}
		f.selectors("time", func(name string, at ast.Node) {
			if name == "Sleep" {
				problems = append(problems, inFile(f, f.line(at), "a test sleeps: wait for the event, or use testing/synctest"))
			}
		})
	}
	return problems
}
