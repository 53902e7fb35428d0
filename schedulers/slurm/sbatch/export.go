package sbatch

import (
	"slices"
	"strings"
)

// Export is what a job gets of the environment of whoever submits it.
type Export struct {
	// All is true when it gets all variables, and the Names on top.
	All bool
	// None is true when it gets no variable but Slurm's own.
	None bool
	// Names are variables ("A") and values ("A=x").
	Names []string
}

// Export reads --export. Without it a job gets everything. Several of them do
// not add up: the last one counts.
func (s Settings) Export() Export {
	if !s.Has("export") {
		return Export{All: true}
	}
	value := s.Value("export")
	switch strings.ToUpper(value) {
	case "ALL":
		return Export{All: true}
	case "NONE", "NIL":
		return Export{None: true}
	}
	var e Export
	for name := range strings.SplitSeq(value, ",") {
		switch {
		case strings.EqualFold(name, "ALL"):
			e.All = true
		case name != "":
			e.Names = append(e.Names, name)
		}
	}
	return e
}

// carry returns the option that lets variables reach the job which its --export
// would keep back; "" when there is no need, and ok false when there is no way.
func (s Settings) carry(variables []string) (option string, ok bool) {
	e := s.Export()
	if e.All || len(variables) == 0 {
		return "", true
	}
	if e.None {
		return "", false
	}
	list := []string{s.Value("export")}
	for _, kv := range variables {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(e.Names, name) {
			list = append(list, name)
		}
	}
	return "--export=" + strings.Join(list, ","), true
}
