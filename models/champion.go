package models

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/evaluation"
)

// Champion returns the ID of the model that decides. The error is of kind
// NotFound when none was promoted yet, and Corrupt when the file that names the
// champion is damaged.
func (r *Registry) Champion() (string, error) {
	text, err := os.ReadFile(r.path(championFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", segue.Errorf(segue.NotFound, "no model was promoted in %s yet", r.dir)
	}
	if err != nil {
		return "", segue.Errorf(segue.Unavailable, "read the champion: %w", err)
	}
	id, ended := strings.CutSuffix(string(text), "\n")
	if !ended || CheckID(id) != nil {
		return "", segue.Errorf(segue.Corrupt, "%s is damaged: %.120q, want one line with the ID of a model", r.path(championFile), text)
	}
	return id, nil
}

// Promote makes a model the champion, for a reason that is one line of text. The
// model is read first, every byte of it. The error is of kind Conflict when it
// is the champion already.
func (r *Registry) Promote(id, reason string) error {
	if err := r.decide(Event{Action: Promoted, Model: id, Reason: reason}); err != nil {
		return fmt.Errorf("promote model %s: %w", id, err)
	}
	return nil
}

// Keep records why a model was not made the champion. It changes nothing else.
func (r *Registry) Keep(id, reason string) error {
	if err := r.decide(Event{Action: Kept, Model: id, Reason: reason}); err != nil {
		return fmt.Errorf("keep model %s: %w", id, err)
	}
	return nil
}

// Settle promotes a challenger or keeps it, as the verdict says and for its
// reason. The error is of kind Conflict when the champion is no longer the one
// that the challenger was compared with, whose ID is against: empty where there
// was none.
func (r *Registry) Settle(id, against string, v evaluation.Verdict) error {
	e := Event{Action: Kept, Model: id, Before: against, Reason: v.Reason}
	if v.Promote {
		e.Action = Promoted
	}
	if err := r.settle(e); err != nil {
		return fmt.Errorf("settle model %s: %w", id, err)
	}
	return nil
}

func (r *Registry) settle(e Event) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	champion, err := r.Champion()
	if err != nil && (e.Before != "" || segue.KindOf(err) != segue.NotFound) {
		return err
	}
	if champion != e.Before && e.Before == "" {
		return segue.Errorf(segue.Conflict, "there was no champion when it was judged, and by now it is %s", champion)
	}
	if champion != e.Before {
		return segue.Errorf(segue.Conflict, "it was compared with model %s, and by now the champion is %s", e.Before, champion)
	}
	return r.record(e)
}

// RollbackFrom makes the model the champion again that was it before the one with
// the ID expected, before the present one where that is empty, and returns its ID.
// With it empty, doing so twice goes back two promotions. The error is of kind
// NotFound when there is no champion or none before it, and Conflict when the
// champion is another one than expected by now: so a rollback that is asked for
// twice goes back one promotion.
func (r *Registry) RollbackFrom(expected, reason string) (string, error) {
	id, err := r.rollback(expected, reason)
	if err != nil {
		return "", fmt.Errorf("roll back: %w", err)
	}
	return id, nil
}

func (r *Registry) rollback(expected, reason string) (string, error) {
	unlock, err := r.lock()
	if err != nil {
		return "", err
	}
	defer unlock()
	id, err := r.Former(expected)
	if err != nil {
		return "", err
	}
	if err := r.record(Event{Action: RolledBack, Model: id, Reason: reason}); err != nil {
		return "", fmt.Errorf("to model %s: %w", id, err)
	}
	return id, nil
}

// Former returns the ID of the model to which [Registry.RollbackFrom] would go
// back from the champion expected, with the errors of that.
func (r *Registry) Former(expected string) (string, error) {
	champion, err := r.Champion()
	if err != nil {
		return "", err
	}
	if expected != "" && champion != expected {
		return "", segue.Errorf(segue.Conflict, "the champion is %s by now, not %s", champion, expected)
	}
	events, _, err := readLog(r.path(logFile))
	if err != nil {
		return "", err
	}
	id := former(events, champion)
	if id == "" {
		return "", segue.Errorf(segue.NotFound, "there was no champion before model %s", champion)
	}
	return id, nil
}

func (r *Registry) decide(e Event) error {
	unlock, err := r.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return r.record(e)
}

// lock takes the turn to change the registry, which must exist.
func (r *Registry) lock() (unlock func(), err error) {
	if _, err := os.Stat(r.dir); errors.Is(err, fs.ErrNotExist) {
		return nil, segue.Errorf(segue.NotFound, "there are no models in %s", r.dir)
	}
	return lock(r.dir)
}

// record logs an event and then, unless the model is merely kept, replaces the
// champion. A process that dies in between leaves the old champion and an event
// without effect, which [former] passes over.
func (r *Registry) record(e Event) error {
	champion, err := r.Champion()
	if err != nil && segue.KindOf(err) != segue.NotFound {
		return err
	}
	if _, err := r.read(e.Model, Read); err != nil {
		return err
	}
	if e.Model == champion {
		return segue.Errorf(segue.Conflict, "it is the champion already")
	}
	e.At, e.Before = Instant(r.now()), champion
	if err := e.validate(); err != nil {
		return err
	}
	_, size, err := readLog(r.path(logFile))
	if err != nil {
		return err
	}
	if err := appendLog(r.path(logFile), size, e); err != nil || e.Action == Kept {
		return err
	}
	return r.replaceChampion(e.Model)
}

// replaceChampion swaps the file that names the champion.
func (r *Registry) replaceChampion(id string) error {
	temp := r.path(".segue-champion")
	if err := os.RemoveAll(temp); err != nil {
		return segue.Errorf(segue.Unavailable, "%w", err)
	}
	err := writeFile(temp, []byte(id+"\n"))
	if err == nil {
		err = os.Rename(temp, r.path(championFile))
	}
	if err != nil {
		return segue.Errorf(segue.Unavailable, "%w", errors.Join(err, os.RemoveAll(temp)))
	}
	return syncFolder(r.dir)
}
