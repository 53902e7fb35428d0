package passthrough

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Call is how the program was called as sbatch.
type Call struct {
	// Args are the arguments of sbatch.
	Args []string
	// Input is what was read of standard input in search of terms, to its end; nil
	// when nothing was read.
	Input []byte
}

// Pending is the call that is left to the command, because it may be a chain;
// nil when the program was not called as sbatch.
var Pending *Call

func init() {
	args, ok := calledAsSbatch(os.Args)
	if !ok {
		return
	}
	Pending = &Call{Args: args}
	if Pending.mayBeChain() {
		return
	}
	// An error is left to the command as well, which reports it.
	_ = Pending.Exec()
}

// calledAsSbatch returns the arguments of sbatch when the program was called by
// that name or with that command.
func calledAsSbatch(argv []string) ([]string, bool) {
	switch {
	case len(argv) > 0 && base(argv[0]) == "sbatch":
		return argv[1:], true
	case len(argv) > 1 && argv[1] == "sbatch":
		return argv[2:], true
	}
	return nil, false
}

// base returns the last part of a path.
func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// hasTerms reports whether a script has a line that begins with "#SEGUE" before
// the first one that is neither blank nor a comment.
func hasTerms(script []byte) bool {
	const mark = "#SEGUE"
	for at := 0; at < len(script); at++ {
		if len(script)-at >= len(mark) && string(script[at:at+len(mark)]) == mark {
			return true
		}
		for at < len(script) && (script[at] == ' ' || script[at] >= '\t' && script[at] <= '\r') && script[at] != '\n' {
			at++
		}
		if at < len(script) && script[at] != '#' && script[at] != '\n' {
			return false
		}
		for at < len(script) && script[at] != '\n' {
			at++
		}
	}
	return false
}

// mayBeChain looks for Segue's options among the arguments, and for its lines
// in the script. It may say yes without a reason, never no.
func (c *Call) mayBeChain() bool {
	for _, arg := range c.Args {
		const ours = "--" + options.Prefix
		if len(arg) > len(ours) && arg[:len(ours)] == ours {
			return true
		}
	}
	line := options.Submission.Read(c.Args)
	if line.Has("help") || line.Has("usage") || line.Has("version") || line.Has("wrap") {
		return false
	}
	if line.Script == len(c.Args) {
		return c.inputHasMark()
	}
	chdir := ""
	for _, g := range line.Given {
		if g.Option != nil && g.Option.Name == "chdir" {
			chdir = g.Value
		}
	}
	script, err := ReadScript(c.Args[line.Script], chdir)
	return err == nil && hasTerms(script)
}

// inputHasMark looks into a script on standard input. A file is read without
// moving its offset; what a pipe holds is kept for sbatch. Into a terminal one
// cannot look without waiting for whoever types.
func (c *Call) inputHasMark() bool {
	info, err := os.Stdin.Stat()
	switch {
	case err != nil || info.Mode()&os.ModeCharDevice != 0 || info.IsDir():
		return false
	case info.Mode().IsRegular():
		at, err := syscall.Seek(0, 0, io.SeekCurrent)
		if err != nil || info.Size()-at > maxScript {
			return false
		}
		script := make([]byte, max(info.Size()-at, 0))
		n, _ := os.Stdin.ReadAt(script, at)
		return hasTerms(script[:n])
	}
	c.Input, err = io.ReadAll(io.LimitReader(os.Stdin, maxScript))
	return err == nil && hasTerms(c.Input)
}

// maxScript is a size that sbatch refuses a script of: 512 MiB.
const maxScript = 512 << 20

// Exec replaces the process by the real sbatch, and returns only when that
// fails.
func (c *Call) Exec() error {
	sbatch, err := Find(os.Getenv("SEGUE_SBATCH"), os.Getenv("PATH"))
	if err != nil {
		return err
	}
	if c.Input != nil {
		if err := refill(c.Input); err != nil {
			return err
		}
	}
	return syscall.Exec(sbatch, append([]string{"sbatch"}, c.Args...), syscall.Environ())
}

// refill makes standard input give again what was read from it: through a pipe,
// or, when that might be too small, through a file without a name.
func refill(input []byte) error {
	if len(input) <= pipeSize {
		var ends [2]int
		if err := syscall.Pipe(ends[:]); err != nil {
			return err
		}
		if _, err := syscall.Write(ends[1], input); err != nil {
			return err
		}
		_ = syscall.Close(ends[1])
		return dup(ends[0], 0)
	}
	f, err := os.CreateTemp("", "segue-script-*")
	if err != nil {
		return err
	}
	_ = os.Remove(f.Name())
	if _, err := f.Write(input); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return dup(int(f.Fd()), 0)
}

// pipeSize is what the smallest of pipes holds.
const pipeSize = 4096

// ErrNoSbatch says that there is no sbatch.
var ErrNoSbatch = errors.New("sbatch: command not found: there is none on PATH besides segue, and SEGUE_SBATCH names none")
