package sbatch

import "golang.org/x/sys/unix"

// Resource is one of getrlimit(2): its name without RLIMIT_, and its number.
type Resource struct {
	Name   string
	Number int
}

// Resources are those whose limits sbatch hands on to its job.
var Resources = []Resource{
	{"CPU", unix.RLIMIT_CPU},
	{"FSIZE", unix.RLIMIT_FSIZE},
	{"DATA", unix.RLIMIT_DATA},
	{"STACK", unix.RLIMIT_STACK},
	{"CORE", unix.RLIMIT_CORE},
	{"RSS", unix.RLIMIT_RSS},
	{"NPROC", unix.RLIMIT_NPROC},
	{"NOFILE", unix.RLIMIT_NOFILE},
	{"MEMLOCK", unix.RLIMIT_MEMLOCK},
	{"AS", unix.RLIMIT_AS},
}
