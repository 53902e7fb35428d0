package api

import (
	"testing"

	"github.com/segue-project/segue"
)

// What the client may do differs: a chain whose job is a link already is one too many.
func TestThatAJobIsALinkAlreadyIsToldApartFromOtherConflicts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{segue.Errorf(segue.Conflict, "%w", LinkAlready("job 7 is link 1 of chain x")), true},
		{segue.Errorf(segue.Conflict, "job 8, another user's, carries the token"), false},
	} {
		h := newHouse()
		h.refuse = tt.err
		w := call{secret: adaSubmits, what: newChain, body: asBody(t, nil)}.answers(t, h.serve(t, Limits{}))
		if p := read[Problem](t, w); w.Code != 409 || p.Kind() != segue.Conflict || p.LinkAlready() != tt.want {
			t.Errorf("%v: %d %+v, want 409, and that it is a link already: %t", tt.err, w.Code, p, tt.want)
		}
	}
}
