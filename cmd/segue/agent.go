package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// agentFlags are the flags of segue agent.
type agentFlags struct {
	where      chainStore
	access     slurmAccess
	every      time.Duration
	background bool
	model      string
	once       bool
}

func newAgentCommand() *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Keep one's chains going: submit each next link when it is time",
		Long: `Agent keeps one's chains going, until it is told to end (SIGTERM): every minute it
looks at the queue, says what the wait of each next link would be, and submits
it when it is time. Of several agents that were started one works, so that it may
be started again at will: from a cron table, a login script, on two login nodes.

With --background it goes on after one has logged out. It writes to agent.log
beside the store.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.where.add(cmd.Flags())
	f.access.add(cmd.Flags())
	cmd.Flags().DurationVar(&f.every, "every", time.Minute, "time between two looks at the queue")
	cmd.Flags().BoolVar(&f.background, "background", false, "go on in the background")
	cmd.Flags().BoolVar(&f.once, "once", false, "look once, and end")
	cmd.Flags().StringVar(&f.model, "model", "", "let the trained model in this folder decide, \"default\" for the one that segue carries (without it a planner decides)")
	return cmd
}

func (f *agentFlags) run(cmd *cobra.Command) error {
	if f.every < time.Second {
		return segue.Errorf(segue.Invalid, "--every %s: want at least a second", f.every)
	}
	if f.background {
		return f.detach(cmd)
	}
	s, err := f.where.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	agent, err := f.agent(cmd, s)
	if err != nil {
		return err
	}
	if f.once {
		err := agent.Once(cmd.Context())
		if errors.Is(err, provisioner.ErrOtherWorks) {
			fmt.Fprintln(cmd.OutOrStdout(), "Nothing was done: another agent works.")
			return nil
		}
		return err
	}
	return agent.Run(cmd.Context())
}

// agent wires an agent on the Slurm of the environment.
func (f *agentFlags) agent(cmd *cobra.Command, s *store.Store) (*provisioner.Agent, error) {
	now := func() segue.Time { return segue.TimeOf(time.Now()) }
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
	driver, err := f.access.driver()
	if err != nil {
		return nil, err
	}
	cluster, err := schedulers.New(driver, schedulers.Config{
		Now: now, Fresh: min(f.every/2, 10*time.Second), Pause: min(f.every, 10*time.Second), Log: log,
	})
	if err != nil {
		return nil, err
	}
	by, err := server.OpenModel(f.model)
	if err != nil {
		return nil, err
	}
	chains := func(under *store.Store) (*provisioner.Chains, error) {
		caps, err := cluster.Capabilities(cmd.Context())
		if err != nil {
			return nil, err
		}
		return provisioner.NewChains(under, cluster, provisioner.ChainsConfig{
			Now: now, Decider: provisioner.NewLive(under, caps.Cluster, provisioner.LiveConfig{By: by, Refresh: min(15*f.every, 15*time.Minute)}),
			Exists: exists, ReadyDir: readyDir(), User: userName(), Every: f.every, DecideEvery: max(f.every, min(5*f.every, time.Minute)), Log: log,
		})
	}
	return provisioner.NewAgent(s, cluster, chains, provisioner.AgentConfig{
		Now: now, Holder: holder(), Lease: provisioner.LeaseOf(userName()),
		Every: f.every, Collect: min(5*f.every, 5*time.Minute), TakeOver: takeOverAll, Log: log,
	})
}

// exists reports whether this process's user sees a file. It is false too where the
// file system does not say: that says nothing about the work.
func exists(_, path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// detach starts the agent again, in a session of its own.
func (f *agentFlags) detach(cmd *cobra.Command) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	if err := os.MkdirAll(stateDir(), 0o700); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	path := filepath.Join(stateDir(), "agent.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	defer log.Close()
	args := append([]string{"agent", "--every", f.every.String()}, f.access.args()...)
	if f.where.where != "" {
		args = append(args, "--store", f.where.where)
	}
	if f.model != "" {
		args = append(args, "--model", f.model)
	}
	child := exec.CommandContext(context.WithoutCancel(cmd.Context()), self, args...)
	child.Stdout, child.Stderr = log, log // in this folder, where relative paths are meant
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case err := <-ended:
		return segue.Errorf(segue.Unavailable, "the agent has ended at once (%w): %s tells why", err, path)
	case <-time.After(time.Second): // it has opened the store
	}
	fmt.Fprintf(cmd.OutOrStdout(), "The agent works in the background as process %d, and writes to %s.\n", child.Process.Pid, path)
	return nil
}
