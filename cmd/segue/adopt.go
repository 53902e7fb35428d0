package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/segue/passthrough"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
	"github.com/segue-project/segue/store"
)

func newAdoptCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "adopt JOB [--segue-...] [OPTIONS] SCRIPT [ARGS...]",
		Short: "Make a job that was submitted already the first link of a chain",
		Long: `Adopt makes a job that is queued or runs the first link of a chain. After its
number comes what sbatch was given, or what later links are to be given: run it in
the folder from which they are to be submitted. Terms of the chain stand in the
script (#SEGUE --chain ...) or come as --segue-... options.`,
		Example:            "  segue adopt 4711 --segue-for=14d train.sh",
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return segue.Errorf(segue.Invalid, "name a job: segue %s", cmd.Use)
			}
			if args[0] == "--help" || args[0] == "-h" {
				return cmd.Help()
			}
			return adopt(cmd, args[0], args[1:])
		},
	}
}

func adopt(cmd *cobra.Command, number string, args []string) error {
	id, err := segue.ParseJobID(number)
	if err != nil {
		return err
	}
	chain, err := chainOf(args)
	if err != nil {
		return err
	}
	local, server, err := servedSpool()
	if err != nil {
		return err
	}
	if waits, ok := local.ofJob(id); ok {
		return segue.Errorf(segue.Conflict, "job %s is the first link of chain %s, %s", id, waits.Chain.ID, waits.forWhom())
	}
	var where chainStore
	if server != nil {
		if err := refuseKeptHere(cmd.Context(), where, id); err != nil {
			return err
		}
		return adoptFor(cmd, local, server, chain, id)
	}
	s, err := where.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	link, err := runningLink(cmd.Context(), chain, id)
	if err != nil {
		return err
	}
	if err := refuseTwice(cmd.Context(), s, id); err != nil {
		return err
	}
	err = audited(cmd.Context(), s, "adopt-job", chain.ID, func() error { return s.CreateChain(cmd.Context(), chain, link) })
	if err != nil {
		return err
	}
	tellAdopted(cmd, chain, id)
	return nil
}

// refuseKeptHere refuses a job for a server that is a link of a chain that goes on in the
// user's own store, where there is one: both would follow it. One that is over says
// nothing: a chain that moves to a server is stopped before.
func refuseKeptHere(ctx context.Context, where chainStore, id segue.JobID) error {
	s, err := where.existing(ctx)
	if err != nil || s == nil {
		return err
	}
	defer func() { _ = s.Close() }()
	err = refuseTwice(ctx, s, id)
	if l, twice := errors.AsType[*isLinkError](err); twice {
		if chain, unread := s.Chain(ctx, l.link.Chain); unread == nil && chain.State.Final() {
			return nil
		}
		return fmt.Errorf("%w, which `%s= segue status` shows: stop it there first", err, serverVariable)
	}
	return err
}

// adoptFor hands a chain over to a server, of which a job is the first link.
func adoptFor(cmd *cobra.Command, local spool, server *carrier, chain segue.Chain, id segue.JobID) error {
	link, err := runningLink(cmd.Context(), chain, id)
	if err != nil {
		return err
	}
	if err := local.Record(chain, link); err != nil {
		return err
	}
	switch err := server.Record(chain, link); {
	case errors.Is(err, errRefused) || unasked(err):
		return errors.Join(fmt.Errorf("the job is not adopted: %w", err), local.remove(chain.ID))
	case err != nil:
		return fmt.Errorf("the server may have chain %s: `segue status` brings it there if not, do not adopt the job again: %w", chain.ID, err)
	}
	local.taken(spooled{Chain: chain})
	tellAdopted(cmd, chain, id)
	return nil
}

// unasked reports whether an error says that nobody was reached.
func unasked(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// forWhom says for whom a chain waits.
func (c spooled) forWhom() string {
	if c.Server == "" {
		return "which is kept here: " + keptHere
	}
	return fmt.Sprintf("which waits for the server %s: `%s=%s segue status` brings it there", c.Server, serverVariable, c.Server)
}

func tellAdopted(cmd *cobra.Command, chain segue.Chain, id segue.JobID) {
	fmt.Fprintf(cmd.OutOrStdout(), "Job %s is the first link of chain %s (%s).\n", id, chain.ID, printable(chain.Name))
}

// chainOf captures a chain from the arguments of sbatch.
func chainOf(args []string) (segue.Chain, error) {
	args = append([]string{"--" + options.Prefix + "chain"}, args...)
	call := &passthrough.Call{Args: args}
	script, err := scriptOf(call, options.Submission.Read(args), os.Stdin)
	if err != nil {
		return segue.Chain{}, segue.Errorf(segue.Invalid, "%w", err)
	}
	env := os.Environ()
	job, err := sbatch.Read(sbatch.Input{Args: args, Env: env, Script: script})
	if err != nil {
		return segue.Chain{}, err
	}
	if why := append(job.Unsure, job.Refused...); len(why) > 0 {
		return segue.Chain{}, segue.Errorf(segue.Invalid, "it cannot be a chain, because %s", strings.Join(why, "; "))
	}
	chain := segue.Chain{
		ID: newChainID(), Name: job.Name, User: userName(), Created: segue.TimeOf(time.Now()),
		Request: job.Request, Submission: capture(job, chainInput{args: args, env: env, script: script}),
	}
	chain.Request.User = chain.User
	chain.Terms = termsOf(job, chain.Submission.Dir)
	return chain, chain.Terms.Validate()
}

// runningLink returns the first link of a chain, which is a job that Slurm knows.
func runningLink(ctx context.Context, chain segue.Chain, id segue.JobID) (segue.Link, error) {
	cluster, err := schedulers.New(slurm.New(slurm.Config{}), schedulers.Config{Now: func() segue.Time { return segue.TimeOf(time.Now()) }})
	if err != nil {
		return segue.Link{}, err
	}
	state, err := cluster.State(ctx)
	if err != nil {
		return segue.Link{}, err
	}
	for i := range state.Jobs {
		j := &state.Jobs[i]
		switch {
		case j.ID != id:
		case j.User != chain.User:
			return segue.Link{}, segue.Errorf(segue.Invalid, "job %s is %s's", id, j.User)
		case schedulers.LifeOf(j.State) != schedulers.Alive:
			return segue.Link{}, segue.Errorf(segue.Invalid, "job %s has ended: it is %s", id, j.State)
		default:
			return segue.Link{
				Chain: chain.ID, Number: 1, Attempt: 1, State: segue.LinkQueued, Job: id,
				Planned: j.Submit, Submitted: j.Submit, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
			}, nil
		}
	}
	return segue.Link{}, segue.Errorf(segue.NotFound, "squeue shows no job %s", id)
}

// isLinkError is the error of a job that is a link.
type isLinkError struct{ link segue.Link }

func (e *isLinkError) Error() string {
	return fmt.Sprintf("job %s is link %d of chain %s already", e.link.Job, e.link.Number, e.link.Chain)
}

// refuseTwice refuses a job that is a link already.
func refuseTwice(ctx context.Context, s *store.Store, id segue.JobID) error {
	links, err := s.LiveLinks(ctx)
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Job == id && !l.State.Final() {
			return segue.Errorf(segue.Conflict, "%w", &isLinkError{l})
		}
	}
	return nil
}
