package server

import (
	"errors"
	"os/exec"
	"os/user"
	"strconv"
	"strings"

	"github.com/segue-project/segue"
)

// account is a user of the system.
type account struct {
	name     string
	uid, gid uint32
}

// accounts knows the users of this machine: those of /etc/passwd, which a static
// program reads itself, and those of whom only the system's library for names knows
// (LDAP, SSSD, nslcd), whom it asks by getent and id.
type accounts struct{ names *names }

func newAccounts(now func() segue.Time) *accounts {
	return &accounts{newNames(now, namesPatience)}
}

// byID returns the user of a number.
func (a *accounts) byID(uid uint32) (account, error) {
	number := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(number); err == nil {
		return accountOf(u.Username, u.Uid, u.Gid)
	}
	found, err := a.entry(number)
	if err == nil && found.uid != uid {
		err = segue.Errorf(segue.NotFound, "user %s is not known: getent answers with %d", number, found.uid)
	}
	return found, err
}

// peer returns the user of a number who is at the other end of a socket. NotFound says
// that nobody ever knew of one, who takes a token.
func (a *accounts) peer(uid uint32) (account, error) {
	found, err := a.byID(uid)
	if none, ok := errors.AsType[*nobody](err); ok && !none.before {
		err = segue.Errorf(segue.NotFound, "user %d is not known: %w", uid, err)
	}
	return found, err
}

// byName returns the user of a name. What getent would take for a number or an
// option is no name.
func (a *accounts) byName(name string) (account, error) {
	if u, err := user.Lookup(name); err == nil {
		return accountOf(u.Username, u.Uid, u.Gid)
	}
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, ": \n") {
		return account{}, segue.Errorf(segue.Invalid, "%q is no name of a user", name)
	}
	found, err := a.entry(name)
	if err == nil && found.name != name {
		err = segue.Errorf(segue.Invalid, "user %q is not known: getent answers with %q", name, found.name)
	}
	return found, err
}

// entry asks getent for a line of passwd(5). Invalid says that there is no such user,
// Unavailable that nobody can tell now.
func (a *accounts) entry(key string) (account, error) {
	line, err := a.names.ask("getent", "passwd", key)
	if none, ok := errors.AsType[*nobody](err); ok && none.sure || errors.Is(err, exec.ErrNotFound) {
		return account{}, segue.Errorf(segue.Invalid, "user %q is not known: %w", key, err)
	}
	if err != nil {
		return account{}, segue.Errorf(segue.Unavailable, "whether user %q is known: %w", key, err)
	}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
	const width = 7
	if len(fields) != width || fields[0] == "" {
		return account{}, segue.Errorf(segue.Invalid, "user %q is not known: getent answers %.100q", key, line)
	}
	return accountOf(fields[0], fields[2], fields[3])
}

// groups returns the groups of a user, its own among them. id knows those of the
// directory too; without it they are those of /etc/group.
func (a *accounts) groups(of account) ([]uint32, error) {
	var names []string
	if out, err := a.names.ask("id", "-G", of.name); err == nil {
		names = strings.Fields(out)
	} else {
		u, lookup := user.Lookup(of.name)
		if lookup != nil {
			return nil, segue.Errorf(segue.Unavailable, "the groups of %s: %w", of.name, err)
		}
		if names, err = u.GroupIds(); err != nil {
			return nil, segue.Errorf(segue.Unavailable, "the groups of %s: %w", of.name, err)
		}
	}
	all := make([]uint32, 0, len(names))
	for _, name := range names {
		id, err := number(name)
		if err != nil {
			return nil, err
		}
		all = append(all, id)
	}
	return all, nil
}

func accountOf(name, uid, gid string) (account, error) {
	u, err := number(uid)
	if err != nil {
		return account{}, err
	}
	g, err := number(gid)
	return account{name, u, g}, err
}

// number reads the number of a user or group.
func number(id string) (uint32, error) {
	n, err := strconv.ParseUint(id, 10, 32)
	if err != nil {
		return 0, segue.Errorf(segue.Invalid, "user or group %q: %w", id, err)
	}
	return uint32(n), nil
}
