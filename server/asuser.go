package server

import (
	"os/user"
	"strconv"
	"syscall"

	"github.com/segue-project/segue"
)

// SubmitAs returns as whom root submits for a user: that user, with all groups. own
// is root's name. A user whom the machine does not know is an error of kind Invalid,
// which pauses the chain.
func SubmitAs(own string) func(name string) (*syscall.Credential, error) {
	return func(name string) (*syscall.Credential, error) {
		if name == own {
			return nil, nil
		}
		account, err := user.Lookup(name)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "submit for %q: %w", name, err)
		}
		groups, err := account.GroupIds()
		if err != nil {
			return nil, segue.Errorf(segue.Unavailable, "submit for %q: its groups: %w", name, err)
		}
		uid, err := number(account.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := number(account.Gid)
		if err != nil {
			return nil, err
		}
		as := &syscall.Credential{Uid: uid, Gid: gid}
		for _, id := range groups {
			g, err := number(id)
			if err != nil {
				return nil, err
			}
			as.Groups = append(as.Groups, g)
		}
		return as, nil
	}
}

// number reads the number of a user or group.
func number(id string) (uint32, error) {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return 0, segue.Errorf(segue.Invalid, "user or group %q: %w", id, err)
	}
	return uint32(n), nil
}
