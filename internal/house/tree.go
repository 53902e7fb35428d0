package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
)

// Tree is the source of a repository, read into memory.
type Tree struct {
	fsys     fs.FS
	module   string // the module path of go.mod
	requires []string
	files    []*file
	markdown []string // paths of the documents
}

// file is one parsed Go file.
type file struct {
	path    string // slash-separated, below the root of the repository
	dir     string // of the package: "" for the root
	test    bool   // is compiled into tests only
	lines   int
	fset    *token.FileSet
	syntax  *ast.File
	imports []importSpec
}

type importSpec struct {
	name string // under which the file uses it
	path string
	line int
}

// Read reads the repository at the root of fsys. Folders that the go command
// ignores, and what .gitignore keeps out, are not part of it.
func Read(fsys fs.FS) (*Tree, error) {
	t := &Tree{fsys: fsys}
	if err := t.readGoMod(); err != nil {
		return nil, err
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(name):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			t.markdown = append(t.markdown, name)
		case strings.HasSuffix(name, ".go"):
			return t.readGo(name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read repository: %w", err)
	}
	return t, nil
}

func ignored(dir string) bool {
	base := path.Base(dir)
	if dir == "bin" || dir == "out" || base == "testdata" || base == "node_modules" {
		return true
	}
	return dir != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_"))
}

func (t *Tree) readGo(name string) error {
	src, err := fs.ReadFile(t.fsys, name)
	if err != nil {
		return err
	}
	f := &file{
		path:  name,
		dir:   strings.TrimPrefix(path.Dir(name), "."),
		test:  strings.HasSuffix(name, "_test.go"),
		lines: bytes.Count(src, []byte("\n")),
		fset:  token.NewFileSet(),
	}
	f.syntax, err = parser.ParseFile(f.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		used := path.Base(p)
		if base := path.Dir(p); isVersion(used) && base != "." {
			used = path.Base(base)
		}
		if spec.Name != nil {
			used = spec.Name.Name
		}
		f.imports = append(f.imports, importSpec{name: used, path: p, line: f.line(spec)})
	}
	t.files = append(t.files, f)
	return nil
}

// isVersion reports whether elem is the last element of a path like
// "math/rand/v2", which does not name the package.
func isVersion(elem string) bool {
	n, isV := strings.CutPrefix(elem, "v")
	_, err := strconv.Atoi(n)
	return isV && err == nil
}

// readGoMod reads the module path and the required modules of go.mod.
func (t *Tree) readGoMod() error {
	src, err := fs.ReadFile(t.fsys, "go.mod")
	if err != nil {
		return fmt.Errorf("read repository: %w", err)
	}
	inRequire := false
	for line := range strings.Lines(string(src)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) >= 2 && fields[0] == "module":
			t.module = fields[1]
		case len(fields) >= 2 && fields[0] == "require":
			inRequire = fields[1] == "("
			if !inRequire {
				t.requires = append(t.requires, fields[1])
			}
		case len(fields) > 0 && fields[0] == ")":
			inRequire = false
		case inRequire && len(fields) >= 2:
			t.requires = append(t.requires, fields[0])
		}
	}
	if t.module == "" {
		return fmt.Errorf("read repository: go.mod names no module")
	}
	sort.Strings(t.requires)
	return nil
}

// own returns the folder of the package that an import path names in this
// repository: "" for the root.
func (t *Tree) own(importPath string) (dir string, ok bool) {
	if importPath == t.module {
		return "", true
	}
	return strings.CutPrefix(importPath, t.module+"/")
}

// standard reports whether an import path is of the standard library.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

func (f *file) line(n ast.Node) int { return f.fset.Position(n.Pos()).Line }

// selectors calls visit with every use of a name of the package importPath in
// the file: visit("Now", node) for time.Now, called or not.
func (f *file) selectors(importPath string, visit func(name string, at ast.Node)) {
	for _, imp := range f.imports {
		if imp.path != importPath {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && isIdent(sel.X, imp.name) {
				visit(sel.Sel.Name, sel)
			}
			return true
		})
	}
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
