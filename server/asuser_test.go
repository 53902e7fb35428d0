package server

import (
	"os/user"
	"strconv"
	"testing"

	"github.com/segue-project/segue"
)

func TestRootSubmitsAsTheUserOfAChain(t *testing.T) {
	t.Parallel()
	as := SubmitAs("root", realNow)
	if c, err := as("root"); c != nil || err != nil {
		t.Errorf("for root %+v, %v; want nobody else", c, err)
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	c, err := as("nobody")
	if err != nil || strconv.Itoa(int(c.Uid)) != nobody.Uid || strconv.Itoa(int(c.Gid)) != nobody.Gid || len(c.Groups) == 0 {
		t.Errorf("for nobody %+v, %v; want %s, %s and its groups", c, err, nobody.Uid, nobody.Gid)
	}
	for name, want := range map[string]segue.Kind{"": segue.Invalid, "no-such-user-here": segue.Unavailable} {
		if _, err := as(name); segue.KindOf(err) != want {
			t.Errorf("for %q: %v, want an error of kind %v", name, err, want)
		}
	}
}
