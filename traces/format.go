package traces

import (
	"path/filepath"
	"strings"

	"github.com/segue-project/segue"
)

// Format is a way of writing a job history down.
type Format uint8

// The formats. Auto is recognised by the content when reading and by the
// file's name when writing.
const (
	Auto    Format = iota
	SWF            // Standard Workload Format 2.2 of the Parallel Workloads Archive
	LS6            // the Lonestar6 ("Mirage") log: sacct's columns, separated by tabs
	Sacct          // sacct -P (--parsable2) with a header line
	Parquet        // Parquet with this package's columns
	CSV            // comma-separated values; written, not read
)

var formatNames = [...]string{"auto", "swf", "ls6", "sacct", "parquet", "csv"}

// String returns the name that ParseFormat reads.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return "unknown"
}

// ParseFormat returns the format called name; the empty name is Auto.
func ParseFormat(name string) (Format, error) {
	if name == "" {
		return Auto, nil
	}
	for i, n := range formatNames {
		if strings.EqualFold(n, name) {
			return Format(i), nil
		}
	}
	return Auto, segue.Errorf(segue.Invalid, "format %q: want %s", name, strings.Join(formatNames[:], ", "))
}

var formatOfExtension = map[string]Format{
	".swf": SWF, ".log": LS6, ".ls6": LS6, ".sacct": Sacct, ".psv": Sacct, ".parquet": Parquet, ".csv": CSV,
}

// FormatOfPath returns the format that a file's name promises, with or without
// a trailing ".gz"; Auto when it promises none.
func FormatOfPath(path string) Format {
	path = strings.TrimSuffix(strings.ToLower(path), ".gz")
	return formatOfExtension[filepath.Ext(path)]
}
