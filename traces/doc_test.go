package traces

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryReasonIsDocumented holds docs/job-history.md to the code: each
// reason has a row with its class.
func TestEveryReasonIsDocumented(t *testing.T) {
	t.Parallel()
	text := string(readFile(t, "../docs/job-history.md"))
	for _, r := range Reasons() {
		if r.String() == "" {
			t.Errorf("reason %d has no words", r)
		}
		if row := fmt.Sprintf("| %s | %s |", r, r.Class()); strings.Count(text, row) != 1 {
			t.Errorf("docs/job-history.md has %d rows %q, want one", strings.Count(text, row), row)
		}
	}
}
