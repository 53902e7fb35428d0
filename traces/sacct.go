package traces

import (
	"bytes"
	"strings"

	"github.com/segue-project/segue"
)

// sacctCommand exports all that a history can hold. JobName comes last by
// habit, in case it contains the separator.
const sacctCommand = "sacct --allusers --allocations --duplicates --parsable2 --noconvert --starttime=2024-01-01 " +
	"--format=JobID,User,Account,Partition,QOS,Submit,Eligible,Start,End,Timelimit,NNodes,NCPUS,ReqTRES,AllocTRES," +
	"Priority,Restarts,State,ExitCode,JobName"

// sacctDialect is the output of sacct --parsable2.
var sacctDialect = dialect{
	header: sacctHeader,
	want:   "the line of column names that sacct --parsable2 prints, JobID|...|End",
}

// sacctSeparators are the separators of columns that are recognised: sacct's
// own, and the two made for the purpose, which some give to --delimiter.
const sacctSeparators = "|\x1f\x1e"

// sacctHeader returns the column names in line if it is a header: JobID or
// JobIDRaw among names, none of which is a value.
func sacctHeader(line []byte) (names []string, separator byte, ok bool) {
	i := bytes.IndexAny(line, sacctSeparators)
	if i < 0 {
		return nil, 0, false
	}
	separator = line[i]
	known := 0
	for _, f := range cut(nil, line, separator) {
		name := printable(bytes.TrimSpace(f), 60)
		if strings.ContainsAny(name, " :=") {
			return nil, 0, false
		}
		if r := roleOfColumn[strings.ToLower(name)]; r == roleJobID || r == roleJobIDRaw {
			known++
		}
		names = append(names, name)
	}
	return names, separator, known > 0
}

// statesOfSlurm are the words for states that sacct prints and that are none
// of segue's.
var statesOfSlurm = map[string]segue.JobState{
	"COMPLETING": segue.Running, "CONFIGURING": segue.Running, "STOPPED": segue.Suspended,
	"SIGNALING": segue.Running, "STAGE_OUT": segue.Running,
	"RESIZING":     segue.Requeued, // the part of the job before its size changed
	"REQUEUE_HOLD": segue.Pending, "SPECIAL_EXIT": segue.Pending, "REQUEUE_FED": segue.Pending,
	"RESV_DEL_HOLD": segue.Pending, "REVOKED": segue.Cancelled, "LAUNCH_FAILED": segue.Failed,
}

// parseState reads the state and ignores what follows it ("CANCELLED by
// 1000"). It reports false for a word that is no state.
func parseState(b []byte) (segue.JobState, bool) {
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		b = b[:i]
	}
	if string(b) == "COMPLETED" {
		return segue.Completed, true
	}
	if state, ok := statesOfSlurm[string(b)]; ok {
		return state, true
	}
	state := segue.ParseJobState(string(b))
	return state, state != segue.StateUnknown || string(b) == "UNKNOWN"
}

// list joins words with commas.
func list(words []string) string {
	const most = 40
	if len(words) > most {
		words = append(words[:most:most], "...")
	}
	return strings.Join(words, ", ")
}
