package rest

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// number is a whole number in any form in which Slurm writes one: 5, 5.0, "5",
// {"set": true, "infinite": false, "number": 5}, and null for none. What Slurm
// writes for no value (2^32-2) and for infinite (2^32-1) is read as such.
type number struct {
	value    int64
	set      bool // also when it is infinite
	infinite bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *number) UnmarshalJSON(raw []byte) error {
	*n = number{}
	switch {
	case string(raw) == "null":
		return nil
	case raw[0] == '{':
		return n.parseObject(string(raw))
	}
	return n.parse(strings.Trim(string(raw), `"`))
}

// parseObject reads an object of scalars. A job has some fifteen of them: to read
// them by hand takes a quarter off BenchmarkDecodeState.
func (n *number) parseObject(raw string) error {
	const blanks = " \t\r\n\""
	var value string
	set := truth(true)
	for part := range strings.SplitSeq(raw[1:len(raw)-1], ",") {
		name, v, _ := strings.Cut(part, ":")
		v = strings.Trim(v, blanks)
		switch strings.Trim(name, blanks) {
		case "set":
			if err := set.UnmarshalJSON([]byte(v)); err != nil {
				return err
			}
		case "infinite":
			var infinite truth
			if err := infinite.UnmarshalJSON([]byte(v)); err != nil || bool(infinite) {
				*n = number{set: true, infinite: bool(infinite)}
				return err
			}
		case "number":
			value = v
		}
	}
	if !bool(set) || value == "null" {
		return nil
	}
	return n.parse(value)
}

func (n *number) parse(s string) error {
	switch strings.ToUpper(s) {
	case "", "N/A", "NONE", "UNKNOWN", "NOT_SET", "PARTITION_LIMIT":
		return nil
	case "INFINITE", "UNLIMITED":
		*n = number{set: true, infinite: true}
		return nil
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		f, err := strconv.ParseFloat(s, 64)
		switch {
		case err != nil || math.IsNaN(f) || f < math.MinInt64 || f > 1<<64:
			return fmt.Errorf("number %q", s)
		case f >= 1<<63: // 2^64-2 and 2^64-1
			return nil
		}
		v = int64(f)
	}
	const none, infinite = math.MaxUint32 - 1, math.MaxUint32
	*n = number{value: v, set: v != none, infinite: v == infinite}
	if !n.set || n.infinite {
		n.value = 0
	}
	return nil
}

// instant is the number as seconds since the epoch. Slurm writes 0 for none.
func (n number) instant() segue.Time {
	const end = 1 << 33 // the year 2242
	if !n.set || n.infinite || n.value <= 0 || n.value > end {
		return segue.NoTime
	}
	return segue.Seconds(n.value)
}

// minutes is the number as a time limit. One that is not known is unlimited.
func (n number) minutes() time.Duration {
	const end = 1 << 31 // over 4,000 years
	if !n.set || n.infinite || n.value < 0 || n.value > end {
		return segue.Unlimited
	}
	return time.Duration(n.value) * time.Minute
}

// count is the number as one of things: from 0 to most.
func (n number) count(what string, most int64) (int, error) {
	if n.infinite || n.value < 0 || n.value > most {
		return 0, fmt.Errorf("%d %s", n.value, what)
	}
	return int(n.value), nil
}

// truth is true, false, 1, 0, "yes", "true" or null.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (f *truth) UnmarshalJSON(raw []byte) error {
	switch strings.ToLower(strings.Trim(string(raw), `"`)) {
	case "true", "yes", "1":
		*f = true
	case "false", "no", "0", "null", "":
		*f = false
	default:
		return fmt.Errorf("truth %s", raw)
	}
	return nil
}

// text is a text, a number as text, or null for none.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		*t = ""
		return nil
	case raw[0] == '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		*t = text(spelling.Text(s))
		return nil
	case raw[0] == '{' || raw[0] == '[':
		return fmt.Errorf("text %s", spelling.Excerpt(raw))
	}
	*t = text(raw)
	return nil
}

// comment is a text, or the user's among several: {"administrator": "", "job":
// "mine", "system": ""}.
type comment string

// UnmarshalJSON implements json.Unmarshaler.
func (c *comment) UnmarshalJSON(raw []byte) error {
	var t text
	if raw[0] == '{' {
		var o struct {
			Job text `json:"job"`
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return err
		}
		t = o.Job
	} else if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	*c = comment(t)
	return nil
}

// words are a list of words, or one text with commas.
type words []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		var list []text
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		*w = nil
		for _, t := range list {
			*w = append(*w, string(t))
		}
		return nil
	}
	var t text
	if err := json.Unmarshal(raw, &t); err != nil {
		return err
	}
	*w = nil
	if t != "" {
		*w = strings.Split(string(t), ",")
	}
	return nil
}

// exit is how a job ended: the raw status of wait(2), "3:0", or an object such as
// {"return_code": 3, "signal": {"id": 9}}, whose parts have had several names.
type exit struct{ code, signal int }

// UnmarshalJSON implements json.Unmarshaler.
func (e *exit) UnmarshalJSON(raw []byte) error {
	*e = exit{}
	if raw[0] != '{' {
		var t text
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		e.code, e.signal = spelling.ExitStatus(string(t))
		return nil
	}
	var o struct {
		Code   number          `json:"return_code"`
		Signal json.RawMessage `json:"signal"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	var s struct {
		ID    number `json:"id"`
		Older number `json:"signal_id"`
	}
	if len(o.Signal) > 0 && o.Signal[0] == '{' {
		if err := json.Unmarshal(o.Signal, &s); err != nil {
			return err
		}
	} else if len(o.Signal) > 0 {
		if err := json.Unmarshal(o.Signal, &s.ID); err != nil {
			return err
		}
	}
	// Only one is set, and neither exceeds a byte.
	e.code, e.signal = int(o.Code.value&0xff), int((s.ID.value|s.Older.value)&0x7f)
	return nil
}
