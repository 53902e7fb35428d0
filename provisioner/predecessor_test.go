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

// A server that keeps everybody's chains going looks where the user's links say it.
func TestALinkSaysThatItIsReadyInTheFolderOfItsChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, constantLead(2*hour))
	w.begin(segue.Terms{StopPredecessor: true, MaxLinks: 2, ReadyDir: "/home/ada/ready"})
	w.pass(10*hour + 30*time.Minute)
	w.files["ready/abc.2"] = true // of an agent that would be another's
	w.pass(10 * time.Minute)
	if first := w.links()[0]; first.State != segue.LinkRunning {
		t.Fatalf("the first link is %s, want it to run on", first.State)
	}
	w.files["/home/ada/ready/abc.2"] = true
	w.pass(10 * time.Minute)
	if first := w.links()[0]; first.Ended != segue.Cancelled {
		t.Errorf("the first link is %s (%s), want it cancelled", first.State, first.Ended)
	}
}
