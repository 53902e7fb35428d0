package rest

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
)

// property is how an option of sbatch is said. Slurm 22.05 reads values as sbatch
// does; from 23.02 on they have types.
type property struct {
	old  string // its name in 22.05; "" where it cannot be said
	name string // its name from 23.02 on
	form func(value string, version int) (any, error)
}

// properties returns what the options of a submission are as properties of a job.
// An option that cannot be said is an Invalid error, which names it.
func properties(settings sbatch.Settings, version int) (map[string]any, error) {
	job := map[string]any{}
	for _, option := range slices.Sorted(maps.Keys(settings)) {
		setting := settings[option]
		p, known := said[option]
		switch {
		case elsewhere[option] || known && setting.HasValue && setting.Value == "":
			continue
		case !known || version < typed && p.old == "":
			return nil, cannot("--"+option, setting.Place)
		}
		value := setting.Value
		if !setting.HasValue {
			value = unsaid[option]
		}
		name, form := p.name, p.form
		if version < typed {
			name, form = p.old, asSbatch
			if option == "exclusive" || option == "requeue" || option == "no-requeue" {
				form = p.form
			}
		}
		translated, err := form(value, version)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "--%s=%s (%s) over slurmrestd: %w: submit through the sbatch command", option, value, setting.Place, err)
		}
		if err := put(job, name, translated); err != nil {
			return nil, cannot("--"+option, setting.Place)
		}
	}
	if version >= typed {
		complete(job)
	}
	return job, signalled(job, settings, version)
}

// put sets a property. Two options that ask for resources of one kind add up.
func put(job map[string]any, name string, value any) error {
	before, there := job[name]
	if !there {
		job[name] = value
		return nil
	}
	a, okA := before.(string)
	b, okB := value.(string)
	if !okA || !okB {
		return errors.New("said twice")
	}
	job[name] = a + "," + b
	return nil
}

// elsewhere are options that translate looks at, and those that are about sbatch
// and not about the job. Later has taken out the others that a link does not have.
var elsewhere = map[string]bool{
	"job-name": true, "chdir": true, "export": true, "wrap": true, "signal": true, "begin": true, "parsable": true, "quiet": true, "verbose": true,
	"ignore-pbs": true,
}

// unsaid are the values of options that were given without one.
var unsaid = map[string]string{"nice": "100"}

// said are the options that can be said.
var said = map[string]property{
	"account":         {"account", "account", asText},
	"comment":         {"comment", "comment", asText},
	"constraint":      {"constraints", "constraints", asText},
	"cpus-per-task":   {"cpus_per_task", "cpus_per_task", asNumber},
	"dependency":      {"dependency", "dependency", asText},
	"error":           {"standard_error", "standard_error", asText},
	"exclude":         {"exclude_nodes", "excluded_nodes", asList},
	"exclusive":       {"exclusive", "shared", asExclusive},
	"gpus":            {"gpus", "tres_per_job", asGPUs},
	"gpus-per-node":   {"gpus_per_node", "tres_per_node", asGPUs},
	"gpus-per-task":   {"gpus_per_task", "tres_per_task", asGPUs},
	"gres":            {"gres", "tres_per_node", asGres},
	"input":           {"standard_input", "standard_input", asText},
	"licenses":        {"licenses", "licenses", asText},
	"mail-type":       {"mail_type", "mail_type", asMail},
	"mail-user":       {"mail_user", "mail_user", asText},
	"mem":             {"memory_per_node", "memory_per_node", asMemory},
	"mem-per-cpu":     {"memory_per_cpu", "memory_per_cpu", asMemory},
	"nice":            {"nice", "nice", asNumber},
	"no-requeue":      {"no_requeue", "requeue", asNo},
	"nodelist":        {"nodelist", "required_nodes", asList},
	"nodes":           {"nodes", "nodes", asText},
	"ntasks":          {"tasks", "tasks", asNumber},
	"ntasks-per-node": {"tasks_per_node", "tasks_per_node", asNumber},
	"open-mode":       {"open_mode", "open_mode", asUpper},
	"output":          {"standard_output", "standard_output", asText},
	"partition":       {"partition", "partition", asText},
	"qos":             {"qos", "qos", asText},
	"requeue":         {"requeue", "requeue", asYes},
	"reservation":     {"reservation", "reservation", asText},
	"time":            {"time_limit", "time_limit", asMinutes},
	"wckey":           {"wckey", "wckey", asText},
}

func asSbatch(value string, _ int) (any, error) { return value, nil }

func asText(value string, _ int) (any, error) { return value, nil }

func asNumber(value string, _ int) (any, error) { return strconv.Atoi(value) }

func asYes(value string, _ int) (any, error) {
	if value != "" { // --requeue=expedite
		return nil, errors.New("it cannot be said")
	}
	return true, nil
}

// asNo says that a job is not to be requeued, for which 22.05 has a property.
func asNo(_ string, version int) (any, error) { return version < typed, nil }

func asList(value string, _ int) (any, error) { return []string{value}, nil }

func asUpper(value string, _ int) (any, error) { return []string{strings.ToUpper(value)}, nil }

// asExclusive says that nodes are not shared with anybody. That they may be with
// the same user is not said.
func asExclusive(value string, version int) (any, error) {
	switch {
	case value != "":
		return nil, errors.New("it cannot be said")
	case version < typed:
		return "exclusive", nil
	}
	return []string{"none"}, nil
}

func asMail(value string, _ int) (any, error) {
	var types []string
	for t := range strings.SplitSeq(strings.ToUpper(value), ",") {
		switch t {
		case "NONE":
		case "ALL":
			types = append(types, "BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT", "INVALID_DEPENDENCY")
		case "INVALID_DEPEND":
			types = append(types, "INVALID_DEPENDENCY")
		case "TIME_LIMIT":
			types = append(types, "TIME=100%")
		case "TIME_LIMIT_50", "TIME_LIMIT_80", "TIME_LIMIT_90":
			types = append(types, "TIME="+strings.TrimPrefix(t, "TIME_LIMIT_")+"%")
		default:
			types = append(types, t)
		}
	}
	return types, nil
}

// asGPUs says how many GPUs: "4", "a100:4".
func asGPUs(value string, version int) (any, error) {
	parts := strings.Split(value, ",")
	for i, p := range parts {
		parts[i] = "gpu:" + p
	}
	return asGres(strings.Join(parts, ","), version)
}

// asGres says what generic resources. Their mark was another one before 24.05.
func asGres(value string, version int) (any, error) {
	mark := "gres/"
	if version < 41 {
		mark = "gres:"
	}
	parts := strings.Split(value, ",")
	for i, p := range parts {
		p = strings.TrimPrefix(strings.TrimPrefix(p, "gres:"), "gres/")
		if strings.EqualFold(p, "none") {
			return nil, errors.New("it cannot be said")
		}
		parts[i] = mark + p
	}
	return strings.Join(parts, ","), nil
}

// quantity is a number as the API takes it from 23.02 on.
type quantity struct {
	Set      bool  `json:"set"`
	Infinite bool  `json:"infinite"`
	Number   int64 `json:"number"`
}

func asMinutes(value string, _ int) (any, error) {
	limit, err := segue.ParseLimit(value)
	switch {
	case err != nil:
		return nil, err
	case limit == segue.Unlimited:
		return quantity{Set: true, Infinite: true}, nil
	}
	return quantity{Set: true, Number: int64((limit + time.Minute - 1) / time.Minute)}, nil
}

// asMemory says how many MiB: "16G", "2000" (MiB), "1T".
func asMemory(value string, _ int) (any, error) {
	units := map[string]float64{"": 1, "K": 1. / 1024, "M": 1, "G": 1024, "T": 1 << 20}
	text := strings.TrimSuffix(strings.ToUpper(value), "B")
	digits := strings.TrimRight(text, "KMGT")
	unit, known := units[text[len(digits):]]
	n, err := strconv.ParseUint(digits, 10, 40)
	if err != nil || !known {
		return nil, errors.New("want a number with K, M, G or T")
	}
	return quantity{Set: true, Number: int64(float64(n)*unit + 0.999)}, nil
}

// complete adds what sbatch works out itself: how many tasks there are, and how
// many CPUs they take together.
func complete(job map[string]any) {
	nodes, errNodes := strconv.Atoi(strings.TrimSpace(textOf(job["nodes"])))
	tasks, given := job["tasks"].(int)
	if each, ok := job["tasks_per_node"].(int); ok && !given && errNodes == nil {
		tasks, given = nodes*each, true
	}
	if !given && errNodes == nil {
		tasks, given = nodes, true
	}
	if !given {
		return
	}
	job["tasks"] = tasks
	if cpus, ok := job["cpus_per_task"].(int); ok {
		job["minimum_cpus"] = tasks * cpus
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// signalled adds the signal before the end: "B:USR1@60".
func signalled(job map[string]any, settings sbatch.Settings, version int) error {
	setting, given := settings["signal"]
	if !given {
		return nil
	}
	flags, rest, flagged := strings.Cut(setting.Value, ":")
	if !flagged {
		flags, rest = "", setting.Value
	}
	name, seconds, timed := strings.Cut(rest, "@")
	if !timed {
		seconds = "60"
	}
	delay, err := strconv.ParseInt(seconds, 10, 16)
	if err != nil || version < typed || flags != "" && flags != "B" || name == "" {
		return cannot("--signal", setting.Place)
	}
	job["kill_warning_signal"], job["kill_warning_delay"] = strings.TrimPrefix(name, "SIG"), quantity{Set: true, Number: delay}
	if flags == "B" {
		job["kill_warning_flags"] = []string{"BATCH_JOB"}
	}
	return nil
}
