package main

import (
	"crypto/sha256"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/cmd/segue/passthrough"
	"github.com/segue-project/segue/config"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/server/spans"
	"github.com/segue-project/segue/store"
)

// serverConfig returns what a configuration means for a server.
func serverConfig(c config.Config, log *slog.Logger) (server.Config, error) {
	model, err := modelAtStart(c, log)
	if err != nil {
		return server.Config{}, err
	}
	cfg := server.Config{
		Now:    func() segue.Time { return segue.TimeOf(time.Now()) },
		Holder: holder(), Version: cli.Version(),
		User: userName(), Root: os.Geteuid() == 0, Operators: c.Operators, Limits: limitsOf(c), Every: c.Every.Std(), MaxSubmissions: c.Submissions,
		Collect: c.History.Collect.Std(), Account: c.History.Account.Std(), Exists: exists, TakeOver: takeOver, Model: model, Registry: modelsOf(c),
		Retention: store.Retention{
			Jobs: c.Retention.Jobs.Std(), Snapshots: c.Retention.Snapshots.Std(), Decisions: c.Retention.Decisions.Std(),
			Chains: c.Retention.Chains.Std(), Audit: c.Retention.Audit.Std(),
		},
		Advice:  server.AdviceConfig{Fresh: c.Advice.Fresh.Std(), Stale: c.Advice.Stale.Std(), Replicas: c.Advice.Replicas},
		Tracing: spans.Config{Endpoint: c.Tracing.Endpoint, Ratio: c.Tracing.Part()},
		Log:     log,
	}
	if cfg.SessionKey, err = sessionKey(os.Getenv("SEGUE_SESSION_KEY"), c.SessionKeyFile); err != nil {
		return server.Config{}, err
	}
	if c.Training.Schedule != "" {
		cfg.Training = server.NewTraining()
	}
	if c.Model == champion {
		cfg.Champion = func() (*provisioner.Trained, error) { return modelOf(c) }
	}
	if cfg.Driver, cfg.NoDriver, err = driverOf(c.Cluster); err != nil {
		return server.Config{}, err
	}
	if cfg.NoDriver != "" {
		log.Warn("there is no Slurm: nothing is submitted, and advice is about the end of the history; cluster.scheduler: none says that this is meant",
			"why", cfg.NoDriver)
	}
	if cfg.Root {
		cfg.Exists = server.ExistsAs(submitAs())
	} else { // others could not make a file there
		cfg.ReadyDir = readyDir()
	}
	return cfg, nil
}

// sessionKey returns the key that a secret makes, which is given or the content of a
// file; nil without either. Whoever else can read it can take part in everybody's
// sessions.
func sessionKey(secret, path string) ([]byte, error) {
	from := "SEGUE_SESSION_KEY"
	if secret == "" {
		if path == "" {
			return nil, nil
		}
		from = "session_key_file: " + path
		info, err := os.Stat(path)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "session_key_file: %w", err)
		}
		if info.Mode().Perm()&0o007 != 0 {
			return nil, segue.Errorf(segue.Invalid, "%s: anybody may read or write it: chmod o= %s", from, path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "session_key_file: %w", err)
		}
		secret = strings.TrimSpace(string(text))
	}
	const least = 32
	if len(secret) < least {
		return nil, segue.Errorf(segue.Invalid, "%s has %d bytes, want at least %d: head -c 32 /dev/urandom | base64", from, len(secret), least)
	}
	key := sha256.Sum256([]byte(secret))
	return key[:], nil
}

// commandsOf finds Slurm's commands: sbatch is program. missing says in words what is
// not there, and absent why.
func commandsOf(c config.Cluster) (program, missing string, absent error) {
	program = c.Sbatch
	if program == "" {
		if program, absent = passthrough.Find(os.Getenv("SEGUE_SBATCH"), os.Getenv("PATH")); absent != nil {
			return "", "no sbatch on PATH", absent
		}
	}
	if _, absent = exec.LookPath(program); absent != nil {
		return "", "no sbatch at " + program, absent
	}
	if _, absent = exec.LookPath("squeue"); absent != nil {
		return "", "no squeue on PATH", absent
	}
	return program, "", nil
}

// driverOf returns the Slurm of a configuration, nil where there is none; missing says
// why there is none where one was looked for.
func driverOf(c config.Cluster) (driver schedulers.Driver, missing string, err error) {
	if c.Scheduler == "none" {
		return nil, "", nil
	}
	program, missing, absent := commandsOf(c)
	switch {
	case missing != "" && c.Scheduler == "slurm":
		return nil, "", segue.Errorf(segue.Unavailable, "cluster.scheduler is slurm: %w", absent)
	case missing != "":
		return nil, missing, nil
	}
	env := os.Environ()
	for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
		env = append(env, name+"="+c.Environment[name])
	}
	cfg := slurm.Config{Sbatch: program, Env: env}
	if os.Geteuid() == 0 {
		cfg.As = submitAs()
	}
	return slurm.New(cfg), "", nil
}

// submitAs returns as whom root acts for a user: one for all who ask, so that looking
// for files keeps known whom to submit for.
var submitAs = sync.OnceValue(func() func(user string) (*syscall.Credential, error) {
	return server.SubmitAs(userName(), func() segue.Time { return segue.TimeOf(time.Now()) })
})

func limitsOf(c config.Config) api.Limits {
	l := c.Limits
	return api.Limits{
		Body: int64(l.Body), Import: int64(l.Import), Time: l.Time.Std(), ImportTime: l.ImportTime.Std(),
		Concurrent: l.Concurrent, Rate: l.Rate, Streams: l.Streams, Imports: l.Imports,
	}
}

func levelOf(c config.Config) slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // it is checked; without one it is info
	return level
}

// fixed returns the names of the settings that differ and count only after a
// restart.
func fixed(was, is config.Config) []string {
	was.Limits, was.Operators, was.Model, was.LogLevel = is.Limits, is.Operators, is.Model, is.LogLevel
	var names []string
	a, b := reflect.ValueOf(was), reflect.ValueOf(is)
	for i := range a.NumField() {
		if !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
			names = append(names, name)
		}
	}
	return names
}
