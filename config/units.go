package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/segue-project/segue"
)

// Duration is a span with its unit: 3s, 10m, 36h, 7d, or several (1h30m).
type Duration time.Duration

const spanWanted = "want a span of more than 0 with its unit: 3s, 10m, 36h or 7d"

// ParseDuration reads a span. The error says what was found, and what is wanted.
func ParseDuration(text string) (Duration, error) {
	number := text
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if v, err := strconv.ParseFloat(days, 64); err == nil {
			number = strconv.FormatFloat(v*24, 'f', -1, 64) + "h"
		}
	}
	v, err := time.ParseDuration(number)
	if err != nil || v <= 0 {
		return 0, segue.Errorf(segue.Invalid, "found %q: %s", text, spanWanted)
	}
	return Duration(v), nil
}

// UnmarshalYAML reads a span.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("found %s: %s", found(n), spanWanted)
	}
	v, err := ParseDuration(n.Value)
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// MarshalYAML writes a span as it is read.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// Std returns the span.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String returns the span without units of which there are none: 36h.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Keep is how long something is kept: a span with its unit, or forever.
type Keep time.Duration

// Forever is longer than any span.
const Forever Keep = -1

// UnmarshalYAML reads a span, or forever.
func (k *Keep) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Value == "forever" {
		*k = Forever
		return nil
	}
	var d Duration
	if err := d.UnmarshalYAML(n); err != nil {
		return fmt.Errorf("%w, or forever", err)
	}
	*k = Keep(d)
	return nil
}

// MarshalYAML writes it as it is read.
func (k Keep) MarshalYAML() (any, error) { return k.String(), nil }

// Std returns the span, less than 0 for forever.
func (k Keep) Std() time.Duration { return time.Duration(k) }

// String returns it as it is read.
func (k Keep) String() string {
	if k < 0 {
		return "forever"
	}
	return Duration(k).String()
}

// Size is a number of bytes with its unit: 512KiB, 1MiB, 4GiB.
type Size int64

// sizeUnits are the units of sizes, the largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// UnmarshalYAML reads a size.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	for _, unit := range sizeUnits {
		number, ok := strings.CutSuffix(n.Value, unit.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err == nil && v > 0 && v <= math.MaxInt64/unit.bytes && n.Kind == yaml.ScalarNode {
			*s = Size(v * unit.bytes)
			return nil
		}
		break
	}
	return fmt.Errorf("found %s: want a whole number of more than 0 with its unit: B, KiB, MiB, GiB or TiB", found(n))
}

// MarshalYAML writes a size as it is read.
func (s Size) MarshalYAML() (any, error) { return s.String(), nil }

// String returns the size in the largest unit of which it is a whole number.
func (s Size) String() string {
	for _, unit := range sizeUnits {
		if int64(s)%unit.bytes == 0 {
			return strconv.FormatInt(int64(s)/unit.bytes, 10) + unit.name
		}
	}
	return ""
}

// found returns what stands at a place, for a message.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a group of settings"
	}
	return strconv.Quote(n.Value)
}
