package server

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// directory answers as getent and id do where a directory knows ada, and counts how
// often it is asked. Without a name in it, it does not answer.
type directory struct {
	known map[string]string // by the command line
	asked []string
}

func (d *directory) ask(command string, args ...string) (string, error) {
	line := command + " " + strings.Join(args, " ")
	d.asked = append(d.asked, line)
	if d.known == nil {
		return "", errors.New("sssd does not answer")
	}
	if text, ok := d.known[line]; ok {
		return text, nil
	}
	return "", exec.Command("sh", "-c", "exit 2").Run() //nolint:noctx // it ends at once
}

const adasLine = "segue-ada:*:70001:70002:Ada:/home/ada:/bin/bash\n"

func TestUsersOfADirectoryAreKnown(t *testing.T) {
	t.Parallel()
	d := &directory{known: map[string]string{
		"getent passwd segue-ada": adasLine, "getent passwd 70001": adasLine, "getent passwd 70009": adasLine, "getent passwd 0000": "root:x:0:0::/root:/bin/sh\n",
		"id -G segue-ada": "70002 70003 100\n",
	}}
	a := newAccounts(realNow)
	a.names.run = d.ask
	want := account{"segue-ada", 70001, 70002}
	byName, err := a.byName("segue-ada")
	if diff := cmp.Diff(want, byName, cmp.AllowUnexported(account{})); diff != "" || err != nil {
		t.Errorf("by name: %v (-want +got):\n%s", err, diff)
	}
	byID, err := a.byID(70001)
	if diff := cmp.Diff(want, byID, cmp.AllowUnexported(account{})); diff != "" || err != nil {
		t.Errorf("by number: %v (-want +got):\n%s", err, diff)
	}
	groups, err := a.groups(byName)
	if diff := cmp.Diff([]uint32{70002, 70003, 100}, groups); diff != "" || err != nil {
		t.Errorf("groups: %v (-want +got):\n%s", err, diff)
	}
	asked := len(d.asked)
	if _, err := a.byName("segue-ada"); err != nil || len(d.asked) != asked {
		t.Errorf("at once again: %v, and the directory is asked %d times more, want none", err, len(d.asked)-asked)
	}
	if _, err := a.byID(70009); segue.KindOf(err) != segue.NotFound {
		t.Errorf("a number of which the directory answers with another: %v, want not found", err)
	}
	for _, name := range []string{"", "-s", "0000", "ada:x"} {
		if found, err := a.byName(name); segue.KindOf(err) != segue.Invalid {
			t.Errorf("%q is %+v, %v; want nobody", name, found, err)
		}
	}
}

// While a directory does not answer nobody is taken for unknown, which would pause a
// chain, and those of /etc/passwd are known.
func TestADirectoryThatDoesNotAnswerMakesNobodyUnknown(t *testing.T) {
	t.Parallel()
	a := newAccounts(realNow)
	d := &directory{}
	a.names.run = d.ask
	if _, err := a.byName("segue-ada"); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("somebody else: %v, want an error of kind unavailable", err)
	}
	root, err := a.byID(0)
	if err != nil || root.name != "root" {
		t.Errorf("root is %+v, %v", root, err)
	}
	if groups, err := a.groups(root); err != nil || len(groups) == 0 {
		t.Errorf("root's groups are %v, %v; want those of /etc/group", groups, err)
	}
}

func TestTheSystemIsAskedForNames(t *testing.T) {
	t.Parallel()
	a := newAccounts(realNow)
	got, err := a.entry("root")
	if diff := cmp.Diff(account{"root", 0, 0}, got, cmp.AllowUnexported(account{})); diff != "" || err != nil {
		t.Errorf("getent of root: %v (-want +got):\n%s", err, diff)
	}
	_, err = a.byName("no-such-user-" + strconv.Itoa(len(t.Name())))
	if _, said := errors.AsType[*nobody](err); !said || segue.KindOf(err) != segue.Unavailable {
		t.Errorf("nobody: %v, want that getent says so, and an error of kind unavailable until that is sure", err)
	}
}
