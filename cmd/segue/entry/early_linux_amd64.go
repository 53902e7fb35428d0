package entry

import (
	"syscall"
	"unsafe"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// What start and early work on, since there is no heap.
var (
	stack  uintptr    //nolint:unused // by start: where the kernel has put the arguments
	thread [64]byte   //nolint:unused // by start: what FS points into
	text   [8192]byte // the beginning of a file
	path   [4096]byte // of a candidate for sbatch
	name   = [...]byte{'s', 'b', 'a', 't', 'c', 'h', 0}
	self   = [...]byte{'/', 'p', 'r', 'o', 'c', '/', 's', 'e', 'l', 'f', '/', 'e', 'x', 'e', 0}
	own    syscall.Stat_t
	other  syscall.Stat_t
)

// call is a system call.
//
//go:noescape
func call(number, a, b, c, d uintptr) uintptr

// early replaces the process by the real sbatch where nothing needs a second
// look, and returns otherwise.
//
//go:nosplit
//go:norace
//nolint:unused // by start
func early(stack unsafe.Pointer) {
	argc := *(*int)(stack)
	argv := vector{unsafe.Add(stack, 8)}
	envp := vector{unsafe.Add(stack, 8*(argc+2))}
	first := 0 // the argument that is the name of sbatch
	switch {
	case argc == 0:
		return
	case isSbatch(argv.at(0)):
	case argc > 1 && argv.at(1) == "sbatch":
		first = 1
	default:
		return
	}
	if !plain(argv, first+1, argc) {
		return
	}
	program := find(envp)
	if program == nil {
		return
	}
	*argv.slot(first) = &name[0]
	call(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(program)), uintptr(unsafe.Pointer(argv.slot(first))), uintptr(envp.start), 0)
}

// vector is a list of C strings that a nil pointer ends.
type vector struct{ start unsafe.Pointer }

//go:nosplit
//go:norace
func (v vector) slot(i int) **byte { return (**byte)(unsafe.Add(v.start, 8*i)) }

// at returns the text of a string, "" after the last one.
//
//go:nosplit
//go:norace
func (v vector) at(i int) string {
	p := *v.slot(i)
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String(p, n)
}

// isSbatch reports whether the last part of a path is "sbatch".
//
//go:nosplit
//go:norace
//nolint:unused // by early
func isSbatch(called string) bool {
	n := len(called) - len("sbatch")
	return n >= 0 && called[n:] == "sbatch" && (n == 0 || called[n-1] == '/')
}

// plain reports whether a command line, from the argument at on, is certainly
// no chain. It knows options by their whole names only.
//
//go:nosplit
//go:norace
func plain(argv vector, at, argc int) bool {
	wrapped := false
	for ; at < argc; at++ {
		arg := argv.at(at)
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		if arg == "--" {
			at++
			break
		}
		option, value := long(arg)
		if arg[1] != '-' {
			option, value = cluster(arg)
		}
		switch {
		case option == nil, ours(option.Name), option.Name == "chdir", value && option.Arity == options.None:
			return false
		case option.Name == "help", option.Name == "usage", option.Name == "version":
			return true
		case option.Name == "wrap":
			wrapped = true
		}
		if option.Arity == options.Required && !value {
			at++
		}
	}
	return wrapped || at < argc && scriptIsPlain(argv.slot(at))
}

// ours reports whether an option is Segue's.
//
//go:nosplit
//go:norace
func ours(name string) bool {
	return len(name) > len(options.Prefix) && name[:len(options.Prefix)] == options.Prefix
}

// long returns the option of a long name, nil for none, and whether it has its
// value.
//
//go:nosplit
//go:norace
func long(arg string) (option *options.Option, value bool) {
	end := 2
	for end < len(arg) && arg[end] != '=' {
		end++
	}
	for i := range options.Laid {
		if options.Laid[i].Name == arg[2:end] {
			return &options.Laid[i], end < len(arg)
		}
	}
	return nil, false
}

// cluster returns the last option of a cluster of letters, and whether it has
// its value. An early one that ends the matter (-h) is the last.
//
//go:nosplit
//go:norace
func cluster(arg string) (option *options.Option, value bool) {
	for at := 1; at < len(arg); at++ {
		option = nil
		for i := range options.Laid {
			if options.Laid[i].Short == arg[at] {
				option = &options.Laid[i]
				break
			}
		}
		switch {
		case option == nil, option.Name == "chdir", option.Name == "help", option.Name == "version":
			return option, false
		case option.Arity != options.None:
			return option, at+1 < len(arg)
		}
	}
	return option, false
}

// scriptIsPlain reports whether a script is a file, of which the lines before
// the first command are without terms and can all be seen at once.
//
//go:nosplit
//go:norace
func scriptIsPlain(script **byte) bool {
	n := head(uintptr(unsafe.Pointer(*script)))
	if n <= 0 {
		return false
	}
	const mark = "#SEGUE"
	for at := 0; at < n; at++ {
		if n-at >= len(mark) && unsafe.String(&text[at], len(mark)) == mark {
			return false
		}
		for at < n && (text[at] == ' ' || text[at] >= '\t' && text[at] <= '\r' && text[at] != '\n') {
			at++
		}
		if at < n && text[at] != '#' && text[at] != '\n' {
			return true
		}
		for at < n && text[at] != '\n' {
			at++
		}
	}
	return n < len(text)
}

// head reads the beginning of a regular file into text, and returns how much
// there is, or -1.
//
//go:nosplit
//go:norace
func head(name uintptr) int {
	fd := int(call(syscall.SYS_OPEN, name, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0, 0))
	if fd < 0 {
		return -1
	}
	n := -1
	if int(call(syscall.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(&other)), 0, 0)) == 0 && other.Mode&syscall.S_IFMT == syscall.S_IFREG {
		n = int(call(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&text)), uintptr(len(text)), 0))
	}
	call(syscall.SYS_CLOSE, uintptr(fd), 0, 0, 0)
	return n
}

// find returns the path of the real sbatch: the one that SEGUE_SBATCH names, or
// the first on PATH that is not this program; nil where that is a script.
//
//go:nosplit
//go:norace
func find(envp vector) *byte {
	const named, searched = "SEGUE_SBATCH=", "PATH="
	folders := ""
	for i := 0; *envp.slot(i) != nil; i++ {
		kv := envp.at(i)
		switch {
		case len(kv) > len(named) && kv[:len(named)] == named:
			return (*byte)(unsafe.Add(unsafe.Pointer(*envp.slot(i)), len(named)))
		case folders == "" && len(kv) > len(searched) && kv[:len(searched)] == searched:
			folders = kv[len(searched):]
		}
	}
	if !stat(&self[0], &own) {
		return nil
	}
	for from := 0; from < len(folders); from++ {
		n := 0
		for from+n < len(folders) && folders[from+n] != ':' {
			n++
		}
		if n > 0 && candidate(folders[from:from+n]) {
			if got := head(uintptr(unsafe.Pointer(&path))); got > 1 && text[0] == '#' && text[1] == '!' {
				return nil
			}
			return &path[0]
		}
		from += n
	}
	return nil
}

// candidate reports whether there is a program sbatch in a folder that is not
// this one, and leaves its path in path.
//
//go:nosplit
//go:norace
func candidate(folder string) bool {
	if len(folder)+1+len(name) > len(path) {
		return false
	}
	for i := range len(folder) {
		path[i] = folder[i]
	}
	path[len(folder)] = '/'
	for i := range name {
		path[len(folder)+1+i] = name[i]
	}
	return stat(&path[0], &other) && other.Mode&syscall.S_IFMT == syscall.S_IFREG && other.Mode&0o111 != 0 &&
		(other.Dev != own.Dev || other.Ino != own.Ino)
}

//go:nosplit
//go:norace
func stat(path *byte, st *syscall.Stat_t) bool {
	return int(call(syscall.SYS_STAT, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(st)), 0, 0)) == 0
}
