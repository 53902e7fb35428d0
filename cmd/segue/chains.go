package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// chainStore is where chains are kept.
type chainStore struct{ where string }

func (c *chainStore) add(flags *pflag.FlagSet) {
	flags.StringVar(&c.where, "store", "", "where chains are kept: a file, or postgres://... (default DATABASE_URL, or a file of one's own)")
}

// open opens the store, and takes over what was submitted since somebody last did.
// What cannot be taken over is told, and keeps nobody from the other chains.
func (c *chainStore) open(ctx context.Context) (*store.Store, error) {
	s, err := c.openOnly(ctx)
	if err != nil {
		return nil, err
	}
	if err := takeOverAll(ctx, s); err != nil {
		fmt.Fprintf(os.Stderr, "segue: %s\n", err)
	}
	tellWaiting(os.Stderr, "")
	return s, nil
}

func (c *chainStore) openOnly(ctx context.Context) (*store.Store, error) {
	where := c.where
	if where == "" {
		where = os.Getenv("DATABASE_URL")
	}
	if where == "" {
		where = filepath.Join(stateDir(), "segue.db")
		if err := os.MkdirAll(stateDir(), 0o700); err != nil {
			return nil, segue.Errorf(segue.Unavailable, "make the folder of the store: %w", err)
		}
	}
	return store.Open(ctx, where, store.Config{NetworkDisk: true}) // where most home folders are
}

// with calls use with the open store, and closes it.
func (c *chainStore) with(ctx context.Context, use func(s *store.Store) error) error {
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	return use(s)
}

// existing opens the store that is named or that is there already, and returns nil
// where there is none: for commands whose work is elsewhere.
func (c *chainStore) existing(ctx context.Context) (*store.Store, error) {
	if c.where == "" && os.Getenv("DATABASE_URL") == "" {
		if _, err := os.Stat(filepath.Join(stateDir(), "segue.db")); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
	}
	return c.openOnly(ctx)
}

// audited does something between two lines in the audit log, which name the user whom
// the system knows.
func audited(ctx context.Context, s *store.Store, action, object string, do func() error) error {
	deed := server.Deed{User: userName(), Via: server.ByCommand, Action: action, Object: object}
	return server.Audited(ctx, s, deed, segue.TimeOf(time.Now()), do)
}

// holder names this process, and no other, to those who share its store.
func holder() string {
	host, _ := os.Hostname()
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:6])
}

// takeOver brings the chains into the store that segue sbatch has spooled for it.
func takeOver(ctx context.Context, s *store.Store) error {
	return spool{dir: stateDir()}.HandOver(recorded{ctx, s}, segue.TimeOf(time.Now()))
}

// takeOverAll is takeOver, and brings to the server of the environment what waits for
// that.
func takeOverAll(ctx context.Context, s *store.Store) error {
	return errors.Join(bringToServer(), takeOver(ctx, s))
}

// recorded is a Recorder that keeps chains in a store.
type recorded struct {
	ctx   context.Context
	store *store.Store
}

func (r recorded) Record(chain segue.Chain, link segue.Link) error {
	return r.store.CreateChain(r.ctx, chain, link)
}

// find returns the chain that a person names: by its ID, the beginning of it, or
// by its name where only one has it.
func find(ctx context.Context, s chainSource, name string) (segue.Chain, error) {
	if name == "" {
		return segue.Chain{}, segue.Errorf(segue.Invalid, "the name of the chain is empty; `segue status --all` lists the chains")
	}
	chains, err := s.Chains(ctx, store.ChainQuery{})
	if err != nil {
		return segue.Chain{}, err
	}
	for _, matches := range []func(segue.Chain) bool{
		func(c segue.Chain) bool { return c.ID == name },
		func(c segue.Chain) bool { return c.Name == name && !c.State.Final() },
		func(c segue.Chain) bool { return c.Name == name },
		func(c segue.Chain) bool { return strings.HasPrefix(c.ID, name) },
	} {
		var ids []string
		var found segue.Chain
		for _, c := range chains {
			if matches(c) {
				ids, found = append(ids, c.ID), c
			}
		}
		switch len(ids) {
		case 0:
		case 1:
			return found, nil
		default:
			slices.Sort(ids)
			return segue.Chain{}, segue.Errorf(segue.Invalid, "%.60q is several chains: %s", name, strings.Join(ids, ", "))
		}
	}
	return segue.Chain{}, segue.Errorf(segue.NotFound, "there is no chain %.60q; `segue status --all` lists them", name)
}

// newChainStateCommands returns pause, resume and stop.
func newChainStateCommands() []*cobra.Command {
	var all []*cobra.Command
	for _, c := range []struct {
		action           string // in the audit log, as the interface calls it
		use, short, long string
		from             []segue.ChainState
		to               segue.ChainState
		why              string
	}{
		{
			"pause-chain", "pause CHAIN", "Submit no more links of a chain until it is resumed",
			"Pause keeps what runs and what is queued, and submits nothing more.",
			[]segue.ChainState{segue.ChainActive},
			segue.ChainPaused, "Paused by its user.",
		},
		{
			"resume-chain", "resume CHAIN", "Let a paused chain go on", "Resume lets a paused chain go on.",
			[]segue.ChainState{segue.ChainPaused},
			segue.ChainActive, "",
		},
		{
			"stop-chain", "stop CHAIN", "End a chain: no link follows",
			"Stop ends a chain for good. What runs goes on to its end, and what is queued stays:\ncancel those with scancel, by the job numbers that it prints.",
			[]segue.ChainState{segue.ChainActive, segue.ChainPaused},
			segue.ChainStopped, "Stopped by its user.",
		},
	} {
		var where chainStore
		var ask serverFlags
		cmd := &cobra.Command{
			Use: c.use, Short: c.short, Long: c.long, Args: cobra.ExactArgs(1),
			ValidArgsFunction: completeChain(&where, &ask, c.from...),
			RunE: func(cmd *cobra.Command, args []string) error {
				return ask.ask(cmd.Context(), &where, func(to *client.Client) error {
					return askToChange(cmd, to, args[0], c.action, c.to)
				}, func(s *store.Store) error {
					return changeState(cmd, s, args[0], c.action, c.from, c.to, c.why)
				})
			},
		}
		where.add(cmd.Flags())
		ask.add(cmd.Flags(), "which keeps the chain going (default "+serverVariable+")")
		all = append(all, cmd)
	}
	return all
}

func changeState(cmd *cobra.Command, s *store.Store, name, action string, from []segue.ChainState, to segue.ChainState, why string) error {
	ctx := cmd.Context()
	chain, err := find(ctx, s, name)
	if err != nil {
		return err
	}
	if !slices.Contains(from, chain.State) {
		return segue.Errorf(segue.Conflict, "%s", sentences(fmt.Sprintf("chain %s is %s already.", chain.ID, chain.State), chain.Why))
	}
	err = audited(ctx, s, action, chain.ID, func() error { return s.SetChainState(ctx, chain.ID, chain.State, to, why) })
	if err != nil {
		return err
	}
	links, err := s.Links(ctx, chain.ID)
	if err != nil {
		return err
	}
	tellChanged(cmd.OutOrStdout(), chain, to, links)
	return nil
}

// askToChange has a server change the state of a chain. It is asked for once, by a key
// of its own.
func askToChange(cmd *cobra.Command, to *client.Client, name, action string, state segue.ChainState) error {
	chain, err := find(cmd.Context(), served{to}, name)
	if err != nil {
		return err
	}
	verb, _, _ := strings.Cut(action, "-")
	if _, err := to.Change(cmd.Context(), chain.ID, verb, rand.Text()); err != nil {
		return err
	}
	links, err := served{to}.Links(cmd.Context(), chain.ID)
	if err != nil {
		return err
	}
	tellChanged(cmd.OutOrStdout(), chain, state, links)
	return nil
}

// tellChanged says what a chain is by now, and which of its links go on all the same.
func tellChanged(out io.Writer, chain segue.Chain, to segue.ChainState, links []segue.Link) {
	fmt.Fprintf(out, "Chain %s (%s) is %s.\n", chain.ID, printable(chain.Name), to)
	for _, l := range links {
		switch {
		case l.State.Final() || to == segue.ChainActive:
		case l.State == segue.LinkSubmitting:
			fmt.Fprintf(out, "Link %d is being submitted, and its job goes on: `segue status %s` shows its number in a moment.\n", l.Number, chain.ID)
		default:
			fmt.Fprintf(out, "Link %d, job %s, is %s and goes on.\n", l.Number, l.Job, l.State)
		}
	}
}

// newReadyCommand returns segue ready, which a link runs.
func newReadyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ready",
		Short: "Say, in a job of a chain, that it is of use now",
		Long: `Ready is for the script of a chain's job: it says that the job is of use now (its
model is loaded, its server answers), so that its predecessor may be stopped. It
makes the file that SEGUE_READY_FILE names; touch does as well.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			path := os.Getenv("SEGUE_READY_FILE")
			if path == "" {
				return segue.Errorf(segue.Invalid, "SEGUE_READY_FILE is not set: this is not a job of a chain")
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				return fmt.Errorf("say that the job is ready: %w", err)
			}
			return os.WriteFile(path, nil, 0o600)
		},
	}
}
