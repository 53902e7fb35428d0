package server

import (
	"fmt"
	"syscall"

	"github.com/segue-project/segue"
)

// SubmitAs returns as whom root submits for a user: that user, with all groups. own
// is root's name. A user whom the machine does not know is an error of kind Invalid,
// which pauses the chain; until that is sure (see names) it is Unavailable.
func SubmitAs(own string, now func() segue.Time) func(name string) (*syscall.Credential, error) {
	known := newAccounts(now)
	return func(name string) (*syscall.Credential, error) {
		if name == own {
			return nil, nil
		}
		a, err := known.byName(name)
		if err != nil {
			return nil, fmt.Errorf("submit for %q: %w", name, err)
		}
		if a.uid == 0 { // another name of root's
			return nil, segue.Errorf(segue.Invalid, "submit for %q: that is root", name)
		}
		groups, err := known.groups(a)
		if err != nil {
			return nil, fmt.Errorf("submit for %q: %w", name, err)
		}
		return &syscall.Credential{Uid: a.uid, Gid: a.gid, Groups: groups}, nil
	}
}
