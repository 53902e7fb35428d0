package sbatch

import (
	"bytes"
	"path"

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
