package sbatch

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// Answer finds the number of the job in what sbatch printed, and the name of
// the cluster where it says one. Lines of a site's own wrapper before and after
// are passed over. With --quiet there is nothing to be found.
//
// Without --parsable sbatch prints "Submitted batch job N" or "Submitted batch
// job N on cluster C"; with it, "N" or "N;C".
func Answer(stdout []byte, parsable bool) (job segue.JobID, cluster string, ok bool) {
	for line := range bytes.Lines(stdout) {
		text := strings.TrimRight(string(line), spaces+"\n")
		number := ""
		var on string
		if parsable {
			number, on, _ = strings.Cut(text, ";")
		} else if rest, found := strings.CutPrefix(text, "Submitted batch job "); found {
			number, on, _ = strings.Cut(rest, " on cluster ")
		}
		if n, err := strconv.ParseInt(number, 10, 64); err == nil && n > 0 && number[0] != '+' {
			job, cluster, ok = segue.JobID{Number: n}, on, true
		}
	}
	return job, cluster, ok
}

// Doubtful reports whether sbatch failed in a way that leaves open whether the
// scheduler took the job: the answer did not arrive in time.
func Doubtful(stderr []byte) bool { return spelling.MayHaveArrived(string(stderr)) }
