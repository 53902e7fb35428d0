package config

import (
	"reflect"
	"strings"
)

// Setting is one key of the file, described for people.
type Setting struct {
	Name string // such as training.mail.to
	Kind string // what its value is, and the unit: "span", "size"
	// Default is the value that counts without one, as the file would have it; "" where
	// that is no fixed value: then About ends with it.
	Default string
	About   string
}

// Settings returns all keys of the file, in the order of Config.
func Settings() []Setting {
	var all []Setting
	var look func(t reflect.Type, group string)
	look = func(t reflect.Type, group string) {
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			if f.Type.Kind() == reflect.Struct {
				look(f.Type, group+key+".")
				continue
			}
			name := group + key
			all = append(all, Setting{Name: name, Kind: kinds[f.Type], Default: described[name].standard, About: described[name].about})
		}
	}
	look(reflect.TypeFor[Config](), "")
	return all
}

// kinds says what a value is, by its type.
var kinds = map[reflect.Type]string{
	reflect.TypeFor[string]():            "text",
	reflect.TypeFor[bool]():              "true or false",
	reflect.TypeFor[int]():               "number",
	reflect.TypeFor[*float64]():          "number",
	reflect.TypeFor[[]string]():          "list",
	reflect.TypeFor[map[string]string](): "names, each with a text",
	reflect.TypeFor[Duration]():          "span",
	reflect.TypeFor[Keep]():              "span, or forever",
	reflect.TypeFor[Size]():              "size",
}

// described are the settings: what counts without one, and what it is.
var described = map[string]struct{ standard, about string }{
	"listen":       {"127.0.0.1:7411", "address and port; beyond the machine itself TLS is required"},
	"socket":       {"", "a Unix socket for the users of the machine, who need no token there; default segue.sock in data"},
	"data":         {"", "the folder of the server's state; default ~/.local/state/segue"},
	"database_url": {"", "postgres://...; DATABASE_URL counts before it; default the file segue.db in data"},
	"model": {"", "the folder of the model that decides, \"default\" for the one that segue carries, \"champion\" for the one that trainings chose; " +
		"it may change by SIGHUP; default none, and a planner decides"},
	"models":           {"", "the folder of the models that are listed and trained; default models in data"},
	"every":            {"3s", "the time between two rounds of the server that leads; another takes over within four of them; at least 1s"},
	"submissions":      {"60", "links of one user that are submitted in an hour at most; more wait, the longest overdue one is next"},
	"operators":        {"[]", "users who may do everything on the socket, beside root and the server's own; they may change by SIGHUP"},
	"session_key_file": {"", "the file of what seals the dashboard's sessions, 32 bytes or more; SEGUE_SESSION_KEY counts before it; default a key of the process"},
	"log_level":        {"info", "debug, info, warn or error; it may change by SIGHUP"},

	"tls.certificate": {"", "the file of the certificate, in PEM; default none"},
	"tls.key":         {"", "the file of its key, in PEM; default none"},
	"tls.elsewhere":   {"false", "a proxy before the server sees to TLS, so that it may listen beyond the machine without"},

	"cluster.scheduler":   {"auto", "auto (Slurm, if it is there), slurm (without it the server does not start) or none"},
	"cluster.sbatch":      {"", "the program that submits; default sbatch on PATH"},
	"cluster.environment": {"{}", "variables for Slurm's commands, such as SLURM_CONF"},

	"history.collect": {"5m", "the time between two looks at the queue that are kept"},
	"history.account": {"1h", "the time between two questions to the accounting"},

	"retention.jobs":      {"1825d", "jobs of a history, counted back from its latest one; no less than training.back"},
	"retention.snapshots": {"180d", "looks at the queue"},
	"retention.decisions": {"90d", "decisions to wait; those that led to a submission stay with their chain"},
	"retention.chains":    {"730d", "chains that are over, with all that belongs to them"},
	"retention.audit":     {"730d", "the audit log"},

	"limits.body":        {"1MiB", "the body of a request; all limits may change by SIGHUP"},
	"limits.import":      {"4GiB", "a history that is imported over the interface"},
	"limits.time":        {"30s", "how long a request may take"},
	"limits.import_time": {"1h", "how long an import may take"},
	"limits.concurrent":  {"256", "requests at once; more are answered 503"},
	"limits.rate":        {"", "requests a second, over all callers; more are answered 503; default no bound"},
	"limits.streams":     {"100", "clients that follow events"},
	"limits.imports":     {"2", "histories that come in at once"},

	"advice.fresh":    {"10s", "how long an advice answers the same question again"},
	"advice.stale":    {"30s", "how old it may be at most, while it is worked out again; no less than fresh"},
	"advice.replicas": {"100", "futures that are simulated for one"},

	"training.schedule":        {"", "when a training begins: five fields as in crontab(5), or a word such as @daily; default never"},
	"training.cluster":         {"", "the name of the history in the store; default the scheduler's, or the only one"},
	"training.nodes":           {"", "nodes of the cluster; default the most that were seen in service within 30 days"},
	"training.back":            {"180d", "how much of the history is used"},
	"training.judge":           {"21d", "its end, on which models compete; no more than a third of it"},
	"training.arguments":       {"[]", "arguments of both segue-trainer train and promote"},
	"training.train_arguments": {"[]", "arguments of segue-trainer train only"},
	"training.time_zone":       {"UTC", "where the clock of the schedule stands, such as Europe/Zurich"},
	"training.jitter":          {"10m", "the most by which a training begins later than that"},
	"training.time_limit":      {"8h", "a training that takes longer is ended"},
	"training.keep":            {"30", "runs that keep their folder"},
	"training.min_free":        {"2GiB", "room that the disk must have"},
	"training.command":         {"[segue-trainer]", "the program that trains, with what comes before it, such as srun"},
	"training.webhook":         {"", "a URL that is told of trainings that failed; SEGUE_TRAINING_WEBHOOK counts before it; default none"},
	"training.mail.server":     {"localhost:25", "host and port of SMTP"},
	"training.mail.from":       {"", "the address that mail comes from; default none"},
	"training.mail.to":         {"[]", "who is told of trainings that failed"},

	"tracing.endpoint": {"", "the base URL of a collector's OTLP over HTTP; OTEL_EXPORTER_OTLP_ENDPOINT counts before it; default none"},
	"tracing.ratio":    {"", "the part of the traces that is recorded, more than 0, at most 1; default what OTEL_TRACES_SAMPLER says, or 1"},
}
