package main

import (
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/segue/passthrough"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/schedulers/slurm/rest"
)

// slurmAccess says how Slurm is reached: by its commands, or through slurmrestd.
type slurmAccess struct {
	url       string // of slurmrestd; "" for the commands
	tokenFile string
}

func (a *slurmAccess) add(flags *pflag.FlagSet) {
	flags.StringVar(&a.url, "slurmrestd", os.Getenv("SEGUE_SLURMRESTD"),
		"look at the queue through slurmrestd: http(s)://host:port or unix:///path; default $SEGUE_SLURMRESTD, or Slurm's commands")
	flags.StringVar(&a.tokenFile, "slurmrestd-token", "", "file of the token for slurmrestd, read for each request; default is the token in $SLURM_JWT")
}

// args are the arguments that say the same again.
func (a *slurmAccess) args() []string {
	var args []string
	if a.url != "" {
		args = append(args, "--slurmrestd", a.url)
	}
	if a.tokenFile != "" {
		args = append(args, "--slurmrestd-token", a.tokenFile)
	}
	return args
}

// driver returns the driver of the cluster. Where sbatch is on PATH it submits also
// when all else goes through slurmrestd: it takes what was captured as it is.
func (a *slurmAccess) driver() (schedulers.Driver, error) {
	program, err := passthrough.Find(os.Getenv("SEGUE_SBATCH"), os.Getenv("PATH"))
	if a.url == "" {
		if err != nil {
			return nil, segue.Errorf(segue.Unavailable, "%w", err)
		}
		return slurm.New(slurm.Config{Sbatch: program}), nil
	}
	cfg := rest.Config{URL: a.url, User: userName()}
	if err == nil {
		cfg.Commands = slurm.New(slurm.Config{Sbatch: program})
	}
	if a.tokenFile != "" || os.Getenv("SLURM_JWT") != "" {
		cfg.Token = a.token
	}
	return rest.New(cfg)
}

func (a *slurmAccess) token() (string, error) {
	if a.tokenFile == "" {
		return os.Getenv("SLURM_JWT"), nil
	}
	content, err := os.ReadFile(a.tokenFile)
	// As scontrol token prints it, or the token alone.
	return strings.TrimPrefix(strings.TrimSpace(string(content)), "SLURM_JWT="), err
}
