package cli

import (
	"fmt"
	"io"

	"github.com/segue-project/segue/traces"
)

// LoadAloud reads the history as Load does, and says on w if records of it were
// left out.
func (f *History) LoadAloud(w io.Writer) (*traces.History, error) {
	h, err := f.Load()
	if err == nil {
		WarnRejected(w, f.Path, &h.Findings)
	}
	return h, err
}

// WarnRejected says on w how many records of the history called name could not
// be used, with the first of them, if there are any: what is computed from the
// rest would otherwise hide that they are missing.
func WarnRejected(w io.Writer, name string, found *traces.Report) {
	n := found.Rejected()
	if n == 0 {
		return
	}
	first := found.Findings()[0] // rejected ones come first
	fmt.Fprintf(w, "segue: %s: %d of %d records cannot be used and are left out, the first as %s (%s); 'segue trace stats' shows all\n",
		name, n, n+found.Records, first.Reason, first.Examples[0])
}
