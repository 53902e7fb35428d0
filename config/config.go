package config

// Config is everything that can be set. What is not, zero here, is for its user to
// choose; the comments say what that is for a server.
type Config struct {
	// Listen is the address and port of the server; default 127.0.0.1:7411. Beyond
	// the machine itself TLS is required.
	Listen string `yaml:"listen,omitempty"`
	// Socket is a Unix socket for the users of the machine, who need no token there;
	// default segue.sock in the folder of the data.
	Socket string `yaml:"socket,omitempty"`
	TLS    TLS    `yaml:"tls,omitempty"`
	// Data is the folder of the server's state.
	Data string `yaml:"data,omitempty"`
	// DatabaseURL is a postgres:// URL; default a file in the folder of the data. The
	// variable DATABASE_URL counts before it, since it may hold a password.
	DatabaseURL string  `yaml:"database_url,omitempty"`
	Cluster     Cluster `yaml:"cluster,omitempty"`
	// Model is the folder of the trained model that decides, "default" for the one
	// that segue carries, "champion" for the one that trainings have chosen (a planner
	// until there is one); default a planner. It may change while the server works.
	Model string `yaml:"model,omitempty"`
	// Models is the folder of the models that are listed and trained; default the folder
	// models in that of the data.
	Models string `yaml:"models,omitempty"`
	// Every is the time between two rounds of the server that submits. Another one
	// takes over within four of them; default 3s.
	Every Duration `yaml:"every,omitempty"`
	// Submissions is how many links of one user are submitted in an hour at most; more
	// wait, the longest overdue one is next; default 60.
	Submissions int       `yaml:"submissions,omitempty"`
	History     History   `yaml:"history,omitempty"`
	Retention   Retention `yaml:"retention,omitempty"`
	// Operators are users who may do everything on the socket, beside root and the
	// server's own. They may change while the server works.
	Operators []string `yaml:"operators,omitempty"`
	// Limits bound what requests may take. They may change while the server works.
	Limits   Limits   `yaml:"limits,omitempty"`
	Advice   Advice   `yaml:"advice,omitempty"`
	Training Training `yaml:"training,omitempty"`
	Tracing  Tracing  `yaml:"tracing,omitempty"`
	// SessionKeyFile holds what seals the sessions of the dashboard, any 32 bytes or
	// more: servers that stand behind one name need the same, and with it sessions
	// outlast a restart. The variable SEGUE_SESSION_KEY, with the secret itself, counts
	// before it; default none, and a key of the process.
	SessionKeyFile string `yaml:"session_key_file,omitempty"`
	// LogLevel is debug, info, warn or error; default info. It may change while the
	// server works.
	LogLevel string `yaml:"log_level,omitempty"`
}

// TLS are the files of a certificate and of its key, in PEM; both or none.
type TLS struct {
	Certificate string `yaml:"certificate,omitempty"`
	Key         string `yaml:"key,omitempty"`
	// Elsewhere says that a proxy before the server sees to TLS, so that it may listen
	// beyond the machine without: in a container.
	Elsewhere bool `yaml:"elsewhere,omitempty"`
}

// Cluster is the scheduler.
type Cluster struct {
	// Scheduler is auto (the Slurm of the environment, if there is one), slurm, or
	// none; default auto.
	Scheduler string `yaml:"scheduler,omitempty"`
	// Sbatch is the program that submits; default sbatch on PATH.
	Sbatch string `yaml:"sbatch,omitempty"`
	// Environment is added to that of Slurm's commands, such as SLURM_CONF.
	Environment map[string]string `yaml:"environment,omitempty"`
}

// History says how the history is collected.
type History struct {
	// Collect is the time between two snapshots of the queue that are kept; default
	// 5m. Account is the time between two questions to the accounting; default 1h.
	Collect Duration `yaml:"collect,omitempty"`
	Account Duration `yaml:"account,omitempty"`
}

// Retention says how long things are kept in the store.
type Retention struct {
	// Jobs of a history, counted back from its latest one; default 1825d. Snapshots of
	// the queue; default 180d.
	Jobs      Keep `yaml:"jobs,omitempty"`
	Snapshots Keep `yaml:"snapshots,omitempty"`
	// Decisions to wait; default 90d. Those that led to a submission stay with their
	// chain.
	Decisions Keep `yaml:"decisions,omitempty"`
	// Chains that are over, with all that belongs to them; default 730d.
	Chains Keep `yaml:"chains,omitempty"`
	// Audit is the audit log; default 730d.
	Audit Keep `yaml:"audit,omitempty"`
}

// Limits bound what requests may take.
type Limits struct {
	Body       Size     `yaml:"body,omitempty"`        // of a request; default 1MiB
	Import     Size     `yaml:"import,omitempty"`      // of a history; default 4GiB
	Time       Duration `yaml:"time,omitempty"`        // until an answer; default 30s
	ImportTime Duration `yaml:"import_time,omitempty"` // until one to an import; default 1h
	Concurrent int      `yaml:"concurrent,omitempty"`  // requests at once; default 256
	Rate       int      `yaml:"rate,omitempty"`        // requests a second, over all callers; default no bound
	Streams    int      `yaml:"streams,omitempty"`     // clients that follow events; default 100
	Imports    int      `yaml:"imports,omitempty"`     // histories that come in at once; default 2
}

// Advice says how long advice is remembered.
type Advice struct {
	// Fresh is how long an advice answers the same question again; default 10s.
	Fresh Duration `yaml:"fresh,omitempty"`
	// Stale is how old it may be at most, while it is worked out again; default 30s.
	Stale Duration `yaml:"stale,omitempty"`
	// Replicas is how many futures are simulated; default 100.
	Replicas int `yaml:"replicas,omitempty"`
}

// Tracing says which OpenTelemetry collector is told of requests and rounds.
type Tracing struct {
	// Endpoint is the base URL of its OTLP over HTTP, such as http://localhost:4318; the
	// variable OTEL_EXPORTER_OTLP_ENDPOINT counts before it; default none. The variable
	// OTEL_EXPORTER_OTLP_HEADERS may hold headers that let in.
	Endpoint string `yaml:"endpoint,omitempty"`
	// Ratio is which part of the traces that begin here is recorded, more than 0 and at
	// most 1; default what the variable OTEL_TRACES_SAMPLER says, or 1.
	Ratio *float64 `yaml:"ratio,omitempty"`
}

// Part returns the part of the traces that is recorded, 0 where nothing is said.
func (t Tracing) Part() float64 {
	if t.Ratio == nil {
		return 0
	}
	return *t.Ratio
}

// Training says when and how models are trained from the history.
type Training struct {
	// Schedule is when a training begins: five fields as in crontab(5), or a word such
	// as @daily; default never.
	Schedule string `yaml:"schedule,omitempty"`
	// Cluster is the name of the history in the store; default the scheduler's, or the
	// only one. Nodes is how many it has; default the most that were seen in service.
	Cluster string `yaml:"cluster,omitempty"`
	Nodes   int    `yaml:"nodes,omitempty"`
	// Back is how much of the history is used, default 180 days (4320h). Judge is its
	// end, on which models compete, no more than a third of it; default 21 days (504h).
	Back  Duration `yaml:"back,omitempty"`
	Judge Duration `yaml:"judge,omitempty"`
	// Arguments are given to training and contest alike, such as --pairs=1 and
	// --backfill=easy; TrainArguments to training only.
	Arguments      []string `yaml:"arguments,omitempty"`
	TrainArguments []string `yaml:"train_arguments,omitempty"`
	// TimeZone is where that clock stands, such as Europe/Zurich; default UTC.
	TimeZone string `yaml:"time_zone,omitempty"`
	// Jitter is the most by which it begins later than that; default 10m.
	Jitter Duration `yaml:"jitter,omitempty"`
	// TimeLimit ends a run that takes longer; default 8h.
	TimeLimit Duration `yaml:"time_limit,omitempty"`
	// Keep is how many runs keep their folder; default 30.
	Keep int `yaml:"keep,omitempty"`
	// MinFree is how much room the disk must have; default 2GiB.
	MinFree Size `yaml:"min_free,omitempty"`
	// Command trains; default [segue-trainer]. With srun before it, it runs on the
	// cluster.
	Command []string `yaml:"command,omitempty"`
	// Webhook is told of every training that failed, by a POST of JSON. The variable
	// SEGUE_TRAINING_WEBHOOK counts before it, since a URL may be a secret.
	Webhook string `yaml:"webhook,omitempty"`
	Mail    Mail   `yaml:"mail,omitempty"`
}

// Mail says who is told of a training that failed.
type Mail struct {
	Server string   `yaml:"server,omitempty"` // HOST:PORT of SMTP; default localhost:25
	From   string   `yaml:"from,omitempty"`
	To     []string `yaml:"to,omitempty"`
}
