package sbatch

import (
	"bytes"
	"path"
	"strings"

	"github.com/segue-project/segue"
)

// maxScript is the size from which on sbatch refuses a script: 512 MiB.
const maxScript = 512 << 20

// CheckScript says why sbatch would refuse the text of a script; nil when it
// would take it. The error is Invalid.
func CheckScript(script []byte) error {
	nul := bytes.IndexByte(script, 0) >= 0
	switch {
	case len(script) == 0:
		return segue.Errorf(segue.Invalid, "the script is empty")
	case len(bytes.TrimLeft(script, spaces+"\n")) == 0:
		return segue.Errorf(segue.Invalid, "the script is white space only")
	case !bytes.HasPrefix(script, []byte("#!")):
		return segue.Errorf(segue.Invalid, "the script does not begin with #! and the path of an interpreter")
	case nul:
		return segue.Errorf(segue.Invalid, "the script has a NUL byte")
	case bytes.Contains(script, []byte("\r\n")):
		return segue.Errorf(segue.Invalid, "the script has line breaks of DOS (CR LF)")
	case len(script) >= maxScript:
		return segue.Errorf(segue.Invalid, "the script is %d bytes long, want less than %d", len(script), maxScript)
	}
	return nil
}

// ScriptPaths returns where sbatch looks for a script of that name, in order;
// it takes the first that can be read. A name that begins with "/" or "." is one
// path. Any other is looked for in the folder of --chdir if that is on the
// command line, in those of PATH, and in the working directory, which comes
// first without --chdir. Paths are relative to the working directory.
func ScriptPaths(name, chdir, searchPath string) []string {
	switch {
	case name == "":
		return nil
	case name[0] == '/' || name[0] == '.':
		return []string{name}
	}
	first := name
	if chdir != "" {
		first = chdir + "/" + name
	}
	paths := []string{first}
	for folder := range strings.SplitSeq(searchPath, ":") {
		if folder != "" {
			paths = append(paths, folder+"/"+name)
		}
	}
	return append(paths, name)
}

// defaultName returns the name of a job that was given none.
func defaultName(script string, wrapped bool) string {
	switch {
	case wrapped:
		return "wrap"
	case script == "":
		return "sbatch"
	}
	return path.Base(script)
}
