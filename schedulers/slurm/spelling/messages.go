package spelling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// silences are the messages of who did not hear from the controller or the
// accounting, or not in time. Arrived is true for those after which what was asked
// may have been done all the same.
var silences = []struct {
	message string
	arrived bool
}{
	{"timed out", true}, // "Socket timed out on send/recv operation", "Connection timed out"
	{"Unexpected message received", true},
	{"Zero Bytes were transmitted", true},
	{"Connection reset", true},
	{"Unable to contact slurm controller", false},
	{"Connection refused", false},
	{"Slurm backup controller in standby mode", false},
	{"Transport endpoint is not connected", false},
	{"Problem talking to the database", false},
	{"slurm_persist_conn_open", false},
	{"Munge encode failed", false},
	{"Munge decode failed", false},
	{"Resource temporarily unavailable", false},
	{"Unable to establish", false},
	{"Slurmctld is not running", false},
	{"Protocol authentication error", false},
	{"Network is unreachable", false},
	{"No route to host", false},
}

// MayHaveArrived reports whether a message leaves open whether Slurm did what it
// was asked: the answer did not arrive in time.
func MayHaveArrived(message string) bool {
	for _, s := range silences {
		if s.arrived && strings.Contains(message, s.message) {
			return true
		}
	}
	return false
}

// KindOf returns the kind of error that a message of Slurm's tells. Unavailable
// is one that says that there was no answer.
func KindOf(message string) segue.Kind {
	for _, s := range silences {
		if strings.Contains(message, s.message) {
			return segue.Unavailable
		}
	}
	switch {
	case strings.Contains(message, "Invalid job id"), strings.Contains(message, "does not exist"):
		return segue.NotFound
	case strings.Contains(message, "already finished"), strings.Contains(message, "already completing or completed"):
		return segue.Conflict
	case strings.Contains(message, "denied"), strings.Contains(message, "Invalid"):
		return segue.Invalid
	}
	return segue.Other
}

// Temporary reports whether the refusal of a submission may pass: limits on how
// much a user or an account may have in the queue.
func Temporary(message string) bool {
	return slices.ContainsFunc(temporary, func(m string) bool { return strings.Contains(message, m) })
}

var temporary = []string{
	"Job violates accounting/QOS policy", "job submit limit", "Slurm temporarily unable to accept job",
	"Requested partition configuration not available now", "too many jobs", "Too many jobs",
}

// Excerpt returns the beginning of a message on one line, in quotes.
func Excerpt(message []byte) string {
	const most = 300
	s := strings.Join(strings.Fields(string(message)), " ")
	if len(s) > most {
		s = s[:most] + "..."
	}
	return fmt.Sprintf("%q", s)
}

// Carries reports whether a text holds a token itself, not a longer one that
// begins like it.
func Carries(text, token string) bool {
	for {
		i := strings.Index(text, token)
		if i < 0 {
			return false
		}
		text = text[i+len(token):]
		if text == "" || text[0] < '0' || text[0] > '9' {
			return true
		}
	}
}
