package segue

import (
	"errors"
	"fmt"
)

// Kind is the sort of an error: what the caller can do about it.
type Kind uint8

// The kinds of errors.
const (
	Other       Kind = iota
	Invalid          // the input is wrong; the message says where and what is allowed
	NotFound         // the thing asked for does not exist
	Conflict         // it exists already, or changed meanwhile
	Unavailable      // a scheduler, store or file does not answer now; trying again may help
	Corrupt          // stored data does not agree with its checksum or format
)

var kindNames = [...]string{"error", "invalid", "not found", "conflict", "unavailable", "corrupt"}

// String returns the kind in words.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Other]
}

// Error is an error with a kind.
type Error struct {
	Kind Kind
	Err  error
}

// Error returns the message of the wrapped error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an error of kind k; %w wraps as in fmt.Errorf.
func Errorf(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the outermost *Error in err's chain, Other when
// there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Other
}
