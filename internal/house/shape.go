package house

import (
	"go/ast"
	"strings"
)

// maxLines is the longest that a Go file may be.
const maxLines = 500

// shortFiles wants files that can be read in one go.
func shortFiles(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if f.lines > maxLines {
			problems = append(problems, inFile(f, 0, "has %d lines, want at most %d: split it by what it is about", f.lines, maxLines))
		}
	}
	return problems
}

// onePackageComment wants one comment a package, in the form that go doc
// shows.
func onePackageComment(t *Tree) []Problem {
	commented := make(map[string]string) // folder -> file that holds the comment
	var problems []Problem
	for _, f := range t.files {
		if f.test || f.syntax.Doc == nil {
			continue
		}
		if first, twice := commented[f.dir]; twice {
			problems = append(problems, inFile(f, f.line(f.syntax.Doc), "a second package comment: the first is in %s", first))
			continue
		}
		commented[f.dir] = f.path
		want := "Package " + f.syntax.Name.Name + " "
		if f.syntax.Name.Name == "main" {
			want = "Command " + f.dir[strings.LastIndex(f.dir, "/")+1:] + " "
		}
		if !strings.HasPrefix(f.syntax.Doc.Text(), want) {
			problems = append(problems, inFile(f, f.line(f.syntax.Doc), "the package comment does not begin with %q", want))
		}
	}
	for _, dir := range t.packages() {
		if commented[dir] == "" && t.shipped(dir) {
			problems = append(problems, Problem{Path: named(dir), Text: "has no package comment: " +
				"say in doc.go what it is, what it never does, and where to start reading"})
		}
	}
	return problems
}

// shipped reports whether the package in dir has files other than tests.
func (t *Tree) shipped(dir string) bool {
	for _, f := range t.files {
		if f.dir == dir && !f.test {
			return true
		}
	}
	return false
}

// noSkippedTests wants every test to run. Only internal/shared may skip: a
// user's clone lacks the job histories that lie beside ours.
func noSkippedTests(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if f.dir == "internal/shared" {
			continue
		}
		tests := testParameters(f)
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(sel.Sel.Name, "Skip") {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && tests[id.Name] {
				problems = append(problems, inFile(f, f.line(n), "a test skips itself: make it run everywhere, or fail"))
			}
			return true
		})
	}
	return problems
}

// testParameters returns the names of the file's parameters of a type of
// package testing or rapid, such as t *testing.T.
func testParameters(f *file) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		field, ok := n.(*ast.Field)
		if !ok {
			return true
		}
		typ := field.Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if sel, ok := typ.(*ast.SelectorExpr); ok && (isIdent(sel.X, "testing") || isIdent(sel.X, "rapid")) {
			for _, id := range field.Names {
				names[id.Name] = true
			}
		}
		return true
	})
	return names
}
