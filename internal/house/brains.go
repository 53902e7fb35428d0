package house

import (
	"go/ast"
	"strings"
)

// impureImports are packages of the standard library that no brain imports,
// with the reason. A path that ends in "/" stands for everything under it.
var impureImports = map[string]string{
	"C":             "a brain is plain Go",
	"crypto/rand":   "randomness is seeded and injected",
	"database/sql":  "a brain performs no I/O",
	"database/sql/": "a brain performs no I/O",
	"io/ioutil":     "a brain performs no I/O",
	"log":           "a brain does not log; it returns values that carry their reason",
	"log/":          "a brain does not log; it returns values that carry their reason",
	"net":           "a brain performs no I/O",
	"net/":          "a brain performs no I/O",
	"os":            "a brain performs no I/O",
	"os/":           "a brain performs no I/O",
	"runtime":       "a brain gives the same answer on every machine",
	"runtime/":      "a brain gives the same answer on every machine",
	"sync":          "a brain starts no goroutine, so it has nothing to lock",
	"sync/":         "a brain starts no goroutine, so it has nothing to lock",
	"syscall":       "a brain performs no I/O",
	"unsafe":        "a brain is plain Go",
}

// brainModules are the other modules that a brain may import: each is pure.
// leaves is, in what predictor/trees calls: it opens files only in its
// ...FromFile functions, and starts goroutines only to predict many rows.
var brainModules = []string{"gonum.org/v1/gonum", "github.com/dmitryikh/leaves"}

// impureNames are names of otherwise pure packages that no brain uses.
var impureNames = map[string]map[string]string{
	"time": {
		"Now": clockReason, "Since": clockReason, "Until": clockReason,
		"Sleep": clockReason, "After": clockReason, "AfterFunc": clockReason, "Tick": clockReason,
		"NewTicker": clockReason, "NewTimer": clockReason,
		"Local": zoneReason, "LoadLocation": zoneReason,
	},
	"context": {
		"WithTimeout": clockReason, "WithTimeoutCause": clockReason,
		"WithDeadline": clockReason, "WithDeadlineCause": clockReason,
	},
	"fmt": {
		"Print": printReason, "Printf": printReason, "Println": printReason,
		"Scan": printReason, "Scanf": printReason, "Scanln": printReason,
	},
}

const (
	clockReason = "a brain has no clock; take the instant as an argument"
	zoneReason  = "a brain gives the same answer on every machine; time is UTC inside"
	printReason = "a brain performs no I/O"
	randReason  = "it draws from global randomness; take a seeded *rand.Rand"
)

// seeded are the names of math/rand and math/rand/v2 that do not draw from the
// global source.
var seeded = map[string]bool{
	"New": true, "NewSource": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true,
	"Rand": true, "Source": true, "Source64": true, "PCG": true, "ChaCha8": true, "Zipf": true,
}

// pureBrains wants brains without I/O, clock, goroutines and global
// randomness. Their tests are free.
func pureBrains(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if _, l := roomOf(f.dir); l != brain || f.test {
			continue
		}
		problems = append(problems, impureImportsOf(t, f)...)
		problems = append(problems, impureNamesOf(f)...)
		problems = append(problems, goroutinesOf(f)...)
	}
	return problems
}

func impureImportsOf(t *Tree, f *file) []Problem {
	var problems []Problem
	for _, imp := range f.imports {
		_, own := t.own(imp.path)
		switch {
		case own:
		case standard(imp.path):
			if why := impure(imp.path); why != "" {
				problems = append(problems, inFile(f, imp.line, "a brain imports %s: %s", imp.path, why))
			}
		case moduleOf(imp.path, brainModules) == "":
			problems = append(problems, inFile(f, imp.line,
				"a brain imports %s: if it is pure, name its module in brainModules of internal/house/brains.go", imp.path))
		}
	}
	return problems
}

func impure(importPath string) string {
	if why := impureImports[importPath]; why != "" {
		return why
	}
	for p, why := range impureImports {
		if strings.HasSuffix(p, "/") && strings.HasPrefix(importPath, p) {
			return why
		}
	}
	return ""
}

func impureNamesOf(f *file) []Problem {
	var problems []Problem
	for pkg, names := range impureNames {
		f.selectors(pkg, func(name string, at ast.Node) {
			if why := names[name]; why != "" {
				problems = append(problems, inFile(f, f.line(at), "a brain uses %s.%s: %s", pkg, name, why))
			}
		})
	}
	for _, pkg := range []string{"math/rand", "math/rand/v2"} {
		f.selectors(pkg, func(name string, at ast.Node) {
			if !seeded[name] {
				problems = append(problems, inFile(f, f.line(at), "a brain uses %s of %s: %s", name, pkg, randReason))
			}
		})
	}
	return problems
}

func goroutinesOf(f *file) []Problem {
	var problems []Problem
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			problems = append(problems, inFile(f, f.line(n), "a brain starts a goroutine: only the wires do"))
		case *ast.CallExpr:
			if isIdent(n.Fun, "print") || isIdent(n.Fun, "println") {
				problems = append(problems, inFile(f, f.line(n), "a brain prints: it performs no I/O"))
			}
		}
		return true
	})
	return problems
}
