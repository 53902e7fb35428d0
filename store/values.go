package store

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// instant returns what the database keeps of t: microseconds, or NULL.
func instant(t segue.Time) any {
	if !t.Known() {
		return nil
	}
	return int64(t)
}

// toInstant reads into a segue.Time what instant wrote.
type toInstant struct{ t *segue.Time }

// Scan implements sql.Scanner.
func (i toInstant) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*i.t = segue.NoTime
	case int64:
		*i.t = segue.Time(v)
	default:
		return fmt.Errorf("an instant is a %T, want BIGINT", src)
	}
	return nil
}

// span returns what the database keeps of d: microseconds, rounded towards 0. The
// longest and the shortest span stay what they are.
func span(d time.Duration) int64 {
	if d == math.MaxInt64 || d == math.MinInt64 {
		return int64(d)
	}
	return d.Microseconds()
}

// spanOf returns the span of so many microseconds.
func spanOf(us int64) time.Duration {
	switch {
	case us > math.MaxInt64/1000:
		return math.MaxInt64
	case us < math.MinInt64/1000:
		return math.MinInt64
	}
	return time.Duration(us) * time.Microsecond
}

// toSpan reads into a time.Duration what span wrote.
type toSpan struct{ d *time.Duration }

// Scan implements sql.Scanner.
func (s toSpan) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a span is a %T, want BIGINT", src)
	}
	*s.d = spanOf(us)
	return nil
}

// toName reads into T the value that a name stands for.
type toName[T any] struct {
	v     *T
	parse func(string) (T, error)
}

// Scan implements sql.Scanner.
func (n toName[T]) Scan(src any) (err error) {
	name, ok := src.(string)
	if !ok {
		return fmt.Errorf("a name is a %T, want TEXT", src)
	}
	*n.v, err = n.parse(name)
	return err
}

func parseJobState(name string) (segue.JobState, error) { return segue.ParseJobState(name), nil }

// text returns s as both engines can keep it: PostgreSQL takes neither NUL nor
// what is not UTF-8.
func text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// placeholders returns "$1, $2, ..." for n arguments.
func placeholders(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", i+1)
	}
	return b.String()
}
