package main

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

// spool is a folder of chains that wait to be taken over, a file each. What the
// environment holds may be secret, so only their owner can read them.
type spool struct {
	dir string
	// server is who is to take over what is recorded and handed over, by its address;
	// empty for whoever opens the user's store.
	server string
	// step is called before every change to a file; nil but in tests.
	step func()
}

// spooled is what a file of the spool holds.
type spooled struct {
	Chain segue.Chain
	Link  segue.Link
	// Server is as of spool: nobody else takes it, since the server may have. A file
	// among those for servers that names none is of a chain that was refused.
	Server string
}

// Record writes a chain with its first link, whole or not at all. What was
// recorded of it before is replaced.
func (s spool) Record(chain segue.Chain, link segue.Link) error {
	return s.write(spooled{chain, link, s.server})
}

func (s spool) write(c spooled) error {
	var content bytes.Buffer
	if err := gob.NewEncoder(&content).Encode(c); err != nil {
		return fmt.Errorf("spool chain %s: %w", c.Chain.ID, err)
	}
	path := s.path(c.Chain.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return segue.Errorf(segue.Unavailable, "spool chain %s: %w", c.Chain.ID, err)
	}
	s.about()
	f, err := os.CreateTemp(filepath.Dir(path), c.Chain.ID+".*.new")
	if err != nil {
		return segue.Errorf(segue.Unavailable, "spool chain %s: %w", c.Chain.ID, err)
	}
	s.about()
	_, err = f.Write(content.Bytes())
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		s.about()
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return segue.Errorf(segue.Unavailable, "spool chain %s: %w", c.Chain.ID, err)
	}
	return nil
}

// about says that a file is about to be changed.
func (s spool) about() {
	if s.step != nil {
		s.step()
	}
}

// patience is how long a chain whose link is being submitted is left to the
// process that submits it: sbatch tries again for two minutes.
const patience = 15 * time.Minute

// HandOver gives every chain of the spool that is meant for the recorder to it, and
// keeps those that it does not take. A chain that a store has already (Conflict) is
// taken; one that a server refuses is nobody's in particular from then on. The error
// joins what went wrong.
func (s spool) HandOver(to Recorder, now segue.Time) error {
	all := []error{s.finishKeeping()}
	paths, err := filepath.Glob(s.path("*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		chain, err := readSpooled(path)
		if err == nil && chain.Server != s.server { // it was for another one
			continue
		}
		if err == nil && chain.Link.State == segue.LinkSubmitting && now.Sub(chain.Link.Planned) < patience {
			continue
		}
		if err == nil {
			err = to.Record(chain.Chain, chain.Link)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // somebody else took it
		case err == nil || s.server == "" && segue.KindOf(err) == segue.Conflict:
			s.taken(chain)
		case errors.Is(err, errRefused):
			all = append(all, s.refused(chain, err))
		case s.server != "" && segue.KindOf(err) == segue.Unavailable: // nor will it the others
			return errors.Join(append(all, fmt.Errorf("hand chains over: %w", err))...)
		default:
			all = append(all, fmt.Errorf("take over %s: %w", strings.TrimSuffix(filepath.Base(path), spoolSuffix), err))
		}
	}
	return errors.Join(all...)
}

func readSpooled(path string) (spooled, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return spooled{}, err
	}
	var s spooled
	if err := gob.NewDecoder(bytes.NewReader(content)).Decode(&s); err != nil {
		return spooled{}, segue.Errorf(segue.Corrupt, "%s: %w", path, err)
	}
	return s, nil
}

const spoolSuffix = ".chain"

// path is where a chain waits: one that is meant for a server in another folder than
// the rest, where nobody takes it for the user's own store.
func (s spool) path(id string) string {
	folder := "submitted"
	if s.server != "" {
		folder = "for-server"
	}
	return filepath.Join(s.dir, folder, id+spoolSuffix)
}

// refused settles a chain that its server refuses, and says what becomes of it. One
// whose job is a link of another chain of the user's is one too many, whoever would
// keep it going; any other is kept here.
func (s spool) refused(c spooled, refusal error) error {
	if p, ok := errors.AsType[*api.Problem](refusal); ok && p.LinkAlready() {
		return errors.Join(fmt.Errorf("%w; chain %s is dropped", refusal, c.Chain.ID), s.remove(c.Chain.ID))
	}
	if err := s.keepHere(c); err != nil {
		return fmt.Errorf("%w; it waits, since it cannot be kept here: %w", refusal, err)
	}
	return fmt.Errorf("%w; %s", refusal, keptHere)
}

// ofJob returns the chain whose first link is a job, if one waits to be taken over that
// whoever adopts the job does not take over before.
func (s spool) ofJob(job segue.JobID) (c spooled, waits bool) {
	waiting := s.forServers()
	if s.server != "" {
		waiting = append(waiting, spool{dir: s.dir}.readable()...)
	}
	i := slices.IndexFunc(waiting, func(c spooled) bool { return c.Link.Job == job })
	if i < 0 {
		return spooled{}, false
	}
	return waiting[i], true
}

// keepHere leaves a chain that its server refuses to whoever opens the user's store. It is
// one file all the time, so that no two take it: marked where it lies it is not the
// server's any more, and is then brought to the others.
func (s spool) keepHere(c spooled) error {
	if err := s.write(spooled{Chain: c.Chain, Link: c.Link}); err != nil {
		return err
	}
	return s.bringHere(c.Chain.ID)
}

// bringHere brings a chain that is marked as refused to those that are meant for the
// user's own store, unless somebody else has.
func (s spool) bringHere(id string) error {
	here := spool{dir: s.dir}.path(id)
	if err := os.MkdirAll(filepath.Dir(here), 0o700); err != nil {
		return segue.Errorf(segue.Unavailable, "keep chain %s here: %w", id, err)
	}
	s.about()
	if err := os.Rename(spool{dir: s.dir, server: forAny}.path(id), here); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return segue.Errorf(segue.Unavailable, "keep chain %s here: %w", id, err)
	}
	return nil
}

// finishKeeping does what is left of keepHere where a process ended in the middle of it.
func (s spool) finishKeeping() error {
	var all []error
	for _, c := range s.forServers() {
		if c.Server == "" {
			all = append(all, s.bringHere(c.Chain.ID))
		}
	}
	return errors.Join(all...)
}

// forAny stands for the address of any server.
const forAny = "any"

// forServers returns the chains that can be read among those for servers.
func (s spool) forServers() []spooled { return spool{dir: s.dir, server: forAny}.readable() }

// readable returns the chains that can be read of those that wait in a folder.
func (s spool) readable() []spooled {
	var all []spooled
	paths, _ := filepath.Glob(s.path("*"))
	for _, path := range paths {
		if c, err := readSpooled(path); err == nil {
			all = append(all, c)
		}
	}
	return all
}

// holds reports whether a chain still waits where it was recorded. Whoever has taken
// one whose link was being submitted asks the scheduler for it.
func (s spool) holds(id string) bool {
	c, err := readSpooled(s.path(id))
	return err == nil && c.Server == s.server
}

// alone reports whether no other process hands over what waits for a server; until done
// is called none does. Where the file system has no locks nobody knows of any.
func (s spool) alone() (done func(), alone bool) {
	path := filepath.Join(s.dir, "handing-over.lock")
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return func() {}, true
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}, true
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		_ = f.Close()
		return func() {}, false
	}
	return func() { _ = f.Close() }, true
}

func (s spool) remove(id string) error { return os.Remove(s.path(id)) }

// taken takes a chain out of the spool. What a server has taken is kept aside, since
// it tells nobody what was captured.
func (s spool) taken(c spooled) {
	if s.server != "" && os.MkdirAll(filepath.Dir(s.aside(c.Chain.ID)), 0o700) == nil &&
		os.Rename(s.path(c.Chain.ID), s.aside(c.Chain.ID)) == nil {
		s.forgetOld(time.Now())
		return
	}
	_ = s.remove(c.Chain.ID)
}

// aside is where a chain is kept that a server has taken.
func (s spool) aside(id string) string { return filepath.Join(s.dir, "handed-over", id+spoolSuffix) }

// keptAside is for how long a chain is kept that a server has taken.
const keptAside = 366 * 24 * time.Hour

// forgetOld removes what is aside for longer, once a day: where a home folder is, looking
// at thousands of files takes its time.
func (s spool) forgetOld(now time.Time) {
	looked := filepath.Join(s.dir, "handed-over", "looked")
	if info, err := os.Stat(looked); err == nil && now.Sub(info.ModTime()).Abs() < 24*time.Hour {
		return
	}
	if os.WriteFile(looked, nil, 0o600) != nil || os.Chtimes(looked, now, now) != nil {
		return
	}
	paths, _ := filepath.Glob(s.aside("*"))
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > keptAside {
			_ = os.Remove(path)
		}
	}
}

// handedOver returns a chain that a server has taken from here, as it was captured.
func (s spool) handedOver(id string) (segue.Chain, error) {
	c, err := readSpooled(s.aside(id))
	if errors.Is(err, fs.ErrNotExist) {
		return c.Chain, segue.Errorf(segue.NotFound, "chain %s was not handed over from here, and what was captured is told to nobody", id)
	}
	return c.Chain, err
}

// waiting returns how many chains wait for servers, by their addresses.
func (s spool) waiting() map[string]int {
	waiting := map[string]int{}
	for _, c := range s.forServers() {
		if c.Server != "" {
			waiting[c.Server]++
		}
	}
	return waiting
}
