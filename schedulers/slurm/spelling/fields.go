package spelling

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// Text returns a field, empty for what Slurm prints for nothing.
func Text(s string) string {
	if s == "(null)" || s == "N/A" || s == "None" {
		return ""
	}
	return s
}

// Instant reads a time: seconds since the epoch, or the ISO form of a Slurm that
// ignores SLURM_TIME_FORMAT, in UTC.
func Instant(s string) (segue.Time, error) {
	switch s {
	case "", "N/A", "NONE", "None", "Unknown", "UNKNOWN", "(null)", "0":
		return segue.NoTime, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 0 {
		return segue.Seconds(n), nil
	}
	at, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil {
		return segue.NoTime, fmt.Errorf("time %q", s)
	}
	return segue.TimeOf(at), nil
}

// Limit reads a time limit; one that is not known is unlimited.
func Limit(s string) (time.Duration, error) {
	switch s {
	case "", "N/A", "NOT_SET", "Partition_Limit", "INVALID":
		return segue.Unlimited, nil
	}
	return segue.ParseLimit(s)
}

// ExitStatus reads an exit status: "3:0", or the raw one of wait(2).
func ExitStatus(s string) (code, signal int) {
	if a, b, ok := strings.Cut(s, ":"); ok {
		code, _ = strconv.Atoi(a)
		signal, _ = strconv.Atoi(b)
		return code, signal
	}
	raw, err := strconv.Atoi(s)
	if err != nil || raw < 0 {
		return 0, 0
	}
	return raw >> 8 & 0xff, raw & 0x7f
}

// GPUs returns the GPUs of a list of trackable resources over all nodes:
// "cpu=8,gres/gpu=4,gres/gpu:a100=4". They may be listed with their type,
// without, or both; where there are both the larger is right.
func GPUs(tres string) int {
	all, typed := 0, 0
	for item := range strings.SplitSeq(tres, ",") {
		key, value, _ := strings.Cut(item, "=")
		n, _ := strconv.Atoi(value)
		switch {
		case key == "gres/gpu":
			all += n
		case strings.HasPrefix(key, "gres/gpu:"):
			typed += n
		}
	}
	return max(all, typed)
}

// GPUsOfNode returns the GPUs of a node: "gpu:a100:4(S:0-1),gpu:t4:1,shard:8".
func GPUsOfNode(gres string) int {
	sum := 0
	for depth, start, i := 0, 0, 0; i <= len(gres); i++ {
		switch {
		case i < len(gres) && gres[i] == '(':
			depth++
		case i < len(gres) && gres[i] == ')':
			depth--
		case i == len(gres) || gres[i] == ',' && depth == 0:
			item, _, _ := strings.Cut(gres[start:i], "(")
			start = i + 1
			parts := strings.Split(item, ":")
			if parts[0] != "gpu" {
				continue
			}
			if n, err := strconv.Atoi(parts[len(parts)-1]); err == nil {
				sum += n
			} else {
				sum++ // "gpu" and "gpu:a100" are one
			}
		}
	}
	return sum
}

// Hosts returns the names of a list of nodes: "n[1-3,07-08],login" are n1, n2,
// n3, n07, n08 and login. What it cannot read stays as it is.
func Hosts(list string) []string {
	var names []string
	for depth, start, i := 0, 0, 0; i <= len(list); i++ {
		switch {
		case i < len(list) && list[i] == '[':
			depth++
		case i < len(list) && list[i] == ']':
			depth--
		case i == len(list) || list[i] == ',' && depth == 0:
			if item := list[start:i]; item != "" {
				names = expand(names, item)
			}
			start = i + 1
		}
	}
	return names
}

// maxHosts bounds an expansion: no cluster has more nodes.
const maxHosts = 1 << 20

// expand appends the names of an item with at most one range of numbers in
// brackets; of one with several the last is expanded first.
func expand(names []string, item string) []string {
	open := strings.LastIndexByte(item, '[')
	if open < 0 {
		return append(names, item)
	}
	inside, suffix, ok := strings.Cut(item[open+1:], "]")
	if !ok {
		return append(names, item)
	}
	for part := range strings.SplitSeq(inside, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || a < 0 || b < a || b-a+len(names) > maxHosts {
			return append(names, item)
		}
		for n := a; n <= b; n++ {
			names = expand(names, fmt.Sprintf("%s%0*d%s", item[:open], len(from), n, suffix))
		}
	}
	return names
}
