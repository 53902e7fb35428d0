package traces

import (
	"bytes"
	"strings"
)

// ls6Columns are the columns of the Lonestar6 log.
var ls6Columns = strings.Fields("JobID JobName UID Start Submit End Priority TimelimitR ExitCode NNodes")

// ls6Dialect is the Lonestar6 log: sacct's header for the eye, with a line of
// dashes, over rows separated by tabs. It has no states: they are inferred.
var ls6Dialect = dialect{
	header:  ls6Header,
	assumed: ls6Columns,
	want:    "the column names of the Lonestar6 log, " + strings.Join(ls6Columns, " "),
}

func ls6Header(line []byte) (names []string, separator byte, ok bool) {
	if bytes.IndexByte(line, '|') >= 0 {
		return nil, 0, false
	}
	for f := range bytes.FieldsSeq(line) {
		name := printable(f, 60)
		ok = ok || roleOfColumn[strings.ToLower(name)] == roleJobID
		names = append(names, name)
	}
	return names, '\t', ok
}

// looksLikeLS6Row reports whether line has the log's columns with times where
// they belong.
func looksLikeLS6Row(line []byte) bool {
	f := cut(nil, line, '\t')
	if len(f) != len(ls6Columns) {
		return false
	}
	for _, t := range f[3:6] {
		if len(t) != 19 {
			return false
		}
		if _, ok := parseLocal(t); !ok {
			return false
		}
	}
	return true
}

// isRule reports whether line is a line of dashes under a header.
func isRule(line []byte) bool {
	return len(bytes.Trim(line, "- \t|")) == 0 && bytes.IndexByte(line, '-') >= 0
}
