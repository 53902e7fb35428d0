package sbatch

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// readTerms reads the terms of a chain from the "#SEGUE" lines of the script
// and from the options "--segue-..." of the command line, which come after
// them. It reports whether the job is a chain. An error is Invalid and names the
// place.
func readTerms(script *Directives, command *options.Line, args []string) (segue.Terms, bool, error) {
	t := terms{}
	if err := t.fromScript(script); err != nil {
		return segue.Terms{}, false, err
	}
	if err := t.fromCommandLine(command, args); err != nil {
		return segue.Terms{}, false, err
	}
	switch {
	case !t.chain && !t.refused && t.said != "":
		return segue.Terms{}, false, segue.Errorf(segue.Invalid, "%s without --chain: only a chain has terms", t.said)
	case !t.chain:
		return segue.Terms{}, false, nil
	}
	if err := t.Validate(); err != nil {
		return segue.Terms{}, false, fmt.Errorf("terms of the chain: %w", err)
	}
	return t.Terms, true, nil
}

// terms are read option by option.
type terms struct {
	segue.Terms
	chain   bool
	refused bool   // by --chain=no
	said    string // the last term other than --chain
}

func (t *terms) fromScript(d *Directives) error {
	if d.Refused != "" {
		return segue.Errorf(segue.Invalid, "%s (%s)", d.Refused, seguePrefix)
	}
	line := d.read(options.Term)
	for _, p := range line.Problems {
		return termError(fmt.Sprintf("line %d: %s %s", d.Words[p.At].Line, seguePrefix, d.Words[p.At].Text), "--", p.Kind)
	}
	if at := line.Script; at < len(d.Words) {
		return termError(fmt.Sprintf("line %d: %s %s", d.Words[at].Line, seguePrefix, d.Words[at].Text), "--", options.Unknown)
	}
	for _, g := range line.Given {
		if err := t.set(g.Option.Name, g.Value); err != nil {
			return fmt.Errorf("line %d: %s %s: %w", d.Words[g.At].Line, seguePrefix, g.Typed, err)
		}
	}
	return nil
}

func (t *terms) fromCommandLine(line *options.Line, args []string) error {
	for _, p := range line.Problems {
		if strings.HasPrefix(args[p.At], "--"+options.Prefix) {
			return termError(args[p.At], "--"+options.Prefix, p.Kind)
		}
	}
	for _, g := range line.Given {
		if g.Option == nil || !g.Option.Segue() {
			continue
		}
		if err := t.set(strings.TrimPrefix(g.Option.Name, options.Prefix), g.Value); err != nil {
			return fmt.Errorf("%s: %w", g.Typed, err)
		}
	}
	return nil
}

// termError says what is wrong with a term as such, and which there are.
func termError(at, prefix string, kind options.ProblemKind) error {
	switch kind {
	case options.MissingValue:
		return segue.Errorf(segue.Invalid, "%s: its value is missing", at)
	case options.UnwantedValue:
		return segue.Errorf(segue.Invalid, "%s: it takes no value", at)
	}
	names := make([]string, len(options.Term))
	for i, o := range options.Term {
		names[i] = prefix + o.Name
	}
	return segue.Errorf(segue.Invalid, "%s: want one of %s", at, strings.Join(names, ", "))
}

// set sets one term. The error says what is allowed.
func (t *terms) set(name, value string) (err error) {
	if name != "chain" {
		t.said = "--" + name
	}
	switch name {
	case "chain":
		t.chain = value != "no"
		t.refused = !t.chain
		if value != "" && value != "yes" && value != "no" {
			err = segue.Errorf(segue.Invalid, "%q: want nothing, =yes or =no", value)
		}
	case "links":
		t.MaxLinks, err = number(value)
	case "for":
		t.MaxTime, err = span(value)
	case "done-file":
		t.DoneFile = value
		if value == "" {
			err = segue.Errorf(segue.Invalid, "want the path of a file")
		}
	case "done-code":
		t.DoneCodes, err = codes(value)
	case "prefer":
		t.Prefer, err = segue.ParsePreference(value)
	case "min-lead":
		t.MinLead, err = span(value)
	case "max-lead":
		t.MaxLead, err = span(value)
	case "startup":
		t.Startup, err = span(value)
	case "fast-fail":
		t.FastFail, err = span(value)
	case "max-fast-fails":
		t.MaxFastFails, err = number(value)
	case "max-gpu-hours":
		t.MaxGPUHours, err = strconv.ParseFloat(value, 64)
		if err != nil || !(t.MaxGPUHours > 0 && t.MaxGPUHours < 1e12) {
			err = segue.Errorf(segue.Invalid, "%q: want a number of GPU-hours above 0", value)
		}
	case "stop-predecessor":
		t.StopPredecessor = true
	}
	return err
}

func number(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, segue.Errorf(segue.Invalid, "%q: want a number of 1 or more", text)
	}
	return int(n), nil
}

// codes reads exit codes: "0" or "0,3,17".
func codes(text string) ([]int, error) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "%q: want exit codes from 0 to 255, separated by commas", text)
		}
		list = append(list, int(n))
	}
	return list, nil
}

// span reads a time such as "30d", "1d12h", "90m", "48:00:00" or "7-00:00:00".
// A bare number and "4:00" are refused: Slurm means minutes by them, and few
// people do.
func span(text string) (time.Duration, error) {
	wrong := segue.Errorf(segue.Invalid, "%q: want a time with units, such as 30d, 1d12h, 90m or 48:00:00", text)
	if strings.Contains(text, "-") && !strings.HasPrefix(text, "-") || strings.Count(text, ":") == 2 {
		seconds, ok := segue.ParseClock(text)
		if !ok {
			return 0, wrong
		}
		return time.Duration(seconds) * time.Second, nil
	}
	units := map[byte]time.Duration{'w': 7 * 24 * time.Hour, 'd': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}
	var sum time.Duration
	for rest := text; ; {
		end := strings.IndexAny(rest, "wdhms")
		if end < 1 {
			return 0, wrong
		}
		n, err := strconv.ParseUint(rest[:end], 10, 31)
		unit, known := units[rest[end]]
		if err != nil || !known || time.Duration(n) > (maxSpan-sum)/unit {
			return 0, wrong
		}
		sum += time.Duration(n) * unit
		delete(units, rest[end]) // none twice
		if rest = rest[end+1:]; rest == "" {
			return sum, nil
		}
	}
}

// maxSpan is the longest time of a term: ten years.
const maxSpan = 3650 * 24 * time.Hour
