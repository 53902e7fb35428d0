package models

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

// Action is what an [Event] did.
type Action string

// The actions.
const (
	Promoted   Action = "promote"  // the model became the champion
	RolledBack Action = "rollback" // the model became the champion again
	Kept       Action = "keep"     // the model was judged and did not become the champion
)

// Event is one line of a registry's log.
type Event struct {
	At     Instant `json:"at"`
	Action Action  `json:"action"`
	Model  string  `json:"model"`
	// Before is the champion before the event, empty when there was none.
	Before string `json:"champion_before,omitempty"`
	Reason string `json:"reason"`
}

// maxLog bounds the log that is read: a century of nights.
const maxLog = 64 << 20

// readLog returns the events of the log at path, the oldest first, and the
// length of the part of the file that holds them. A last line without an end
// was being written when its writer died: it never happened.
func readLog(path string) (events []Event, size int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, segue.Errorf(segue.Unavailable, "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxLog+1))
	if err != nil {
		return nil, 0, segue.Errorf(segue.Unavailable, "%w", err)
	}
	if len(text) > maxLog {
		return nil, 0, segue.Errorf(segue.Corrupt, "%s has more than %d bytes", path, maxLog)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	number := 0
	for line := range bytes.Lines(text) {
		number++
		e, err := decodeEvent(line)
		if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		events = append(events, e)
	}
	return events, int64(len(text)), nil
}

func decodeEvent(line []byte) (Event, error) {
	var e Event
	if err := segue.UnmarshalStrict(line, &e); err != nil {
		return e, segue.Errorf(segue.Corrupt, "%w", err)
	}
	if err := e.validate(); err != nil {
		return e, segue.Errorf(segue.Corrupt, "%w", err)
	}
	return e, nil
}

func (e Event) validate() error {
	switch {
	case e.Action != Promoted && e.Action != RolledBack && e.Action != Kept:
		return segue.Errorf(segue.Invalid, "action %q: want %s, %s or %s", e.Action, Promoted, RolledBack, Kept)
	case !usable(e.At):
		return segue.Errorf(segue.Invalid, "at is %s, want an instant", e.At)
	case strings.TrimSpace(e.Reason) == "" || len(e.Reason) > maxReason || !isLine(e.Reason):
		return segue.Errorf(segue.Invalid, "reason %.60q: want one line of printable text, at most %d bytes", e.Reason, maxReason)
	}
	if e.Before != "" {
		if err := CheckID(e.Before); err != nil {
			return err
		}
	}
	return CheckID(e.Model)
}

// maxReason is the longest reason in bytes.
const maxReason = 2000

// appendLog writes one more event after the first size bytes of the log at
// path, and returns when it is on the disk. What follows them, the half line of
// a dead writer, is cut off.
func appendLog(path string, size int64, e Event) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		return segue.Errorf(segue.Invalid, "%w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "%w", err)
	}
	if err := f.Truncate(size); err != nil {
		return segue.Errorf(segue.Unavailable, "%w", errors.Join(err, f.Close()))
	}
	if err := finish(f, line.Bytes()); err != nil {
		return segue.Errorf(segue.Unavailable, "%w", errors.Join(err, os.Truncate(path, size)))
	}
	return syncFolder(filepath.Dir(path))
}

// former returns the champion before the present one: the model that a rollback
// returns to, empty when there is none.
//
// An event whose writer died before the champion's file was replaced had no
// effect. The chain of the events that had one is found backwards from the
// champion: each leads to Model from Before.
func former(events []Event, champion string) string {
	var chain []Event // the latest first
	for at := champion; len(events) > 0; {
		e := events[len(events)-1]
		events = events[:len(events)-1]
		if e.Action != Kept && e.Model == at {
			chain = append(chain, e)
			at = e.Before
		}
	}
	var stack []string
	for _, e := range slices.Backward(chain) {
		if e.Action == Promoted {
			stack = append(stack, e.Before)
		} else if len(stack) > 0 {
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) == 0 {
		return ""
	}
	return stack[len(stack)-1]
}
