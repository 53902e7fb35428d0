package house

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// dependenciesFile explains every module that the repository imports, one
// table row each, which begins with "| `module/path` |".
const dependenciesFile = "docs/dependencies.md"

var (
	inlineLink = regexp.MustCompile(`\]\(<?([^()\s<>]+)>?(?:\s+"[^"]*")?\)`)
	linkTarget = regexp.MustCompile(`^\[[^\]]+\]:\s+<?([^\s<>]+)`)
	codeSpan   = regexp.MustCompile("`[^`]*`")
	external   = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	tableRow   = regexp.MustCompile("^\\| `([^`]+)` \\|")
)

// resolvingLinks wants every link of a document to lead to a file that exists.
func resolvingLinks(t *Tree) []Problem {
	var problems []Problem
	for _, name := range t.markdown {
		for number, line := range t.prose(name) {
			line = codeSpan.ReplaceAllString(line, "")
			found := append(inlineLink.FindAllStringSubmatch(line, -1), linkTarget.FindAllStringSubmatch(line, -1)...)
			for _, m := range found {
				if !t.leads(name, m[1]) {
					problems = append(problems, Problem{Path: name, Line: number, Text: fmt.Sprintf("the link to %s leads nowhere", m[1])})
				}
			}
		}
	}
	return problems
}

// prose yields the numbered lines of a document outside its code blocks.
func (t *Tree) prose(name string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		src, err := fs.ReadFile(t.fsys, name)
		if err != nil {
			return
		}
		inCode := false
		for i, line := range strings.Split(string(src), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				inCode = !inCode
				continue
			}
			if !inCode && !yield(i+1, line) {
				return
			}
		}
	}
}

// leads reports whether target, as linked in the document name, is outside the
// repository by its scheme, or exists.
func (t *Tree) leads(name, target string) bool {
	if external.MatchString(target) {
		return true
	}
	target, _, _ = strings.Cut(target, "#")
	if target == "" {
		return true
	}
	full := path.Join(path.Dir(name), target)
	if rooted, ok := strings.CutPrefix(target, "/"); ok {
		full = path.Clean(rooted)
	}
	_, err := fs.Stat(t.fsys, full)
	return err == nil
}

// explainedDependencies wants docs/dependencies.md to have a row for every
// module that a Go file imports, and no other rows.
func explainedDependencies(t *Tree) []Problem {
	imported := make(map[string]bool)
	for _, f := range t.files {
		for _, imp := range f.imports {
			if module := moduleOf(imp.path, t.requires); module != "" {
				imported[module] = true
			}
		}
	}
	var problems []Problem
	explained := make(map[string]bool)
	for number, line := range t.prose(dependenciesFile) {
		m := tableRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		explained[m[1]] = true
		if !imported[m[1]] {
			problems = append(problems, Problem{Path: dependenciesFile, Line: number, Text: "nothing imports " + m[1] + ": remove the row"})
		}
	}
	for _, module := range t.requires {
		if imported[module] && !explained[module] {
			problems = append(problems, Problem{Path: dependenciesFile, Text: "no row for " + module +
				": say why not a hundred lines of ours, its licence, what it pulls in"})
		}
	}
	return problems
}

// moduleOf returns the one of modules that holds the package importPath, ""
// when none does.
func moduleOf(importPath string, modules []string) string {
	longest := ""
	for _, m := range modules {
		if (importPath == m || strings.HasPrefix(importPath, m+"/")) && len(m) > len(longest) {
			longest = m
		}
	}
	return longest
}

// drawnPackages wants ARCHITECTURE.md to name every room that is built.
func drawnPackages(t *Tree) []Problem {
	page, err := fs.ReadFile(t.fsys, "ARCHITECTURE.md")
	if err != nil {
		return []Problem{{Path: "ARCHITECTURE.md", Text: "cannot be read: " + err.Error()}}
	}
	var names []string
	for _, dir := range t.packages() {
		if name, l := roomOf(dir); l != unplaced && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var problems []Problem
	for _, name := range slices.Compact(names) {
		if !strings.Contains(string(page), name) {
			problems = append(problems, Problem{Path: "ARCHITECTURE.md", Text: "does not name the package " + name})
		}
	}
	return problems
}
