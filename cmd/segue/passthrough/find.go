package passthrough

import (
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Find returns the path of the real sbatch: named if that is not empty, and
// otherwise the first on PATH that is neither this program nor a shell script
// that calls "segue sbatch".
func Find(named, searchPath string) (string, error) {
	if named != "" {
		return named, nil
	}
	var self os.FileInfo
	if path, err := os.Executable(); err == nil {
		self, _ = os.Stat(path)
	}
	for _, folder := range options.Folders(searchPath) {
		path := folder + "/sbatch"
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || os.SameFile(info, self) || callsSegue(path) {
			continue
		}
		return path, nil
	}
	return "", ErrNoSbatch
}

// callsSegue reports whether a file is a script that calls "segue sbatch".
func callsSegue(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false // executable and not readable: a program
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	const call = "segue sbatch"
	for at := 0; at+len(call) <= n && head[0] == '#' && head[1] == '!'; at++ {
		if string(head[at:at+len(call)]) == call {
			return true
		}
	}
	return false
}

// ReadScript reads the batch script of a name as sbatch finds it.
func ReadScript(name, chdir string) ([]byte, error) {
	err := os.ErrNotExist
	for _, path := range options.ScriptPaths(name, chdir, os.Getenv("PATH")) {
		var script []byte
		if script, err = readFile(path); err == nil {
			return script, nil
		}
	}
	return nil, err
}

// readFile reads a regular file. Of anything else, what is read would be lost
// for sbatch, and there might be no end.
func readFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxScript {
		return nil, os.ErrInvalid
	}
	script := make([]byte, info.Size())
	n, err := io.ReadFull(f, script)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return script[:n], err
}
