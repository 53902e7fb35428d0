package provisioner_test

import (
	"slices"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// The job before is named to a link that is submitted while it runs, and to one
// that is submitted after its end.
func TestEveryLinkIsToldOfItsPredecessor(t *testing.T) {
	t.Parallel()
	for name, lead := range map[string]time.Duration{"early": 2 * hour, "late": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil, constantLead(lead))
			w.begin(segue.Terms{MaxLinks: 3})
			w.passBy(quarter, 60*hour)
			links := w.links()
			if len(links) != 3 {
				t.Fatalf("%d links, want 3", len(links))
			}
			for _, l := range links[1:] {
				want := "SEGUE_PREDECESSOR=" + links[l.Number-2].Job.String()
				if !slices.Contains(w.extra[l.Number], want) {
					t.Errorf("link %d got %q, without %s", l.Number, w.extra[l.Number], want)
				}
			}
		})
	}
}
