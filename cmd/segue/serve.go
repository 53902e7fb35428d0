package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/cmd/segue/passthrough"
	"github.com/segue-project/segue/schedulers"
	"github.com/segue-project/segue/schedulers/slurm"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// serveFlags are the flags of segue serve.
type serveFlags struct {
	listen, data, database, socket, model string
	every                                 time.Duration
	noScheduler                           bool
}

func newServeCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer programs and users, and keep chains going",
		Long: `Serve answers requests for advice, chains, histories and models (docs/api.md), and
keeps chains going as 'segue agent' does. Of several servers on one PostgreSQL all
answer and one submits; another takes over when it is gone.

With nothing given it listens on this machine only, and keeps its state where
'segue sbatch' and 'segue status' have theirs. Its first token, an operator's, is
in a file that only its user may read.`,
		Example: "  segue serve\n  segue serve --database-url postgres://segue@db/segue",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7411", "address and port")
	flags.StringVar(&f.socket, "socket", "", "Unix socket for the users of this machine, who need no token there (default DATA/segue.sock)")
	flags.StringVar(&f.data, "data", "", "folder of the server's state (default where segue keeps what is one's own)")
	flags.StringVar(&f.database, "database-url", "", "postgres://... (default DATABASE_URL, or a file in DATA)")
	flags.StringVar(&f.model, "model", "", "let the trained model in this folder decide, \"default\" for the one that segue carries (without it a planner decides)")
	flags.DurationVar(&f.every, "every", 3*time.Second, "time between two rounds of the one that submits; another takes over within four of them")
	flags.BoolVar(&f.noScheduler, "no-scheduler", false, "submit nothing, and advise from the history, even where there is a Slurm")
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), nil))
	slog.SetDefault(log)
	if f.data == "" {
		f.data = stateDir()
	}
	if err := os.MkdirAll(f.data, 0o700); err != nil {
		return segue.Errorf(segue.Unavailable, "make the server's folder: %w", err)
	}
	s, err := f.store(cmd.Context(), log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	srv, err := f.server(s, log)
	if err != nil {
		return err
	}
	listeners, err := f.listeners(cmd.Context())
	if err != nil {
		return err
	}
	if err := f.announce(cmd, s, listeners); err != nil {
		return err
	}
	return serve(cmd.Context(), srv, listeners, log)
}

// store opens the server's store.
func (f *serveFlags) store(ctx context.Context, log *slog.Logger) (*store.Store, error) {
	where := f.database
	if where == "" {
		where = os.Getenv("DATABASE_URL")
	}
	if where == "" {
		where = filepath.Join(f.data, "segue.db")
	}
	return store.Open(ctx, where, store.Config{NetworkDisk: true, MaxConns: 16, Log: log})
}

// server wires a server on the Slurm of the environment, where there is one.
func (f *serveFlags) server(s *store.Store, log *slog.Logger) (*server.Server, error) {
	model, err := server.OpenModel(f.model)
	if err != nil {
		return nil, err
	}
	registry, err := (&modelsFlags{}).folder()
	if err != nil {
		registry = "" // nobody's home: there are none
	}
	host, _ := os.Hostname()
	cfg := server.Config{
		Now:    func() segue.Time { return segue.TimeOf(time.Now()) },
		Holder: fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:6]), Version: cli.Version(),
		User: userName(), Root: os.Geteuid() == 0, Every: f.every, Exists: exists, Model: model, Registry: registry, Log: log,
	}
	cfg.Driver = f.driver(log)
	if !cfg.Root {
		cfg.ReadyFile, cfg.TakeOver = readyFile, takeOver
	}
	return server.New(s, cfg)
}

// driver returns the Slurm of the environment, nil where there is none.
func (f *serveFlags) driver(log *slog.Logger) schedulers.Driver {
	if f.noScheduler {
		return nil
	}
	program, err := passthrough.Find(os.Getenv("SEGUE_SBATCH"), os.Getenv("PATH"))
	if err != nil {
		log.Warn("there is no Slurm: nothing is submitted, and advice is about the end of the history", "error", err)
		return nil
	}
	return slurm.New(slurm.Config{Sbatch: program})
}

// listeners opens what the server answers on.
func (f *serveFlags) listeners(ctx context.Context) ([]net.Listener, error) {
	tcp, err := server.ListenTCP(ctx, f.listen, "", "")
	if err != nil {
		return nil, err
	}
	if f.socket == "" {
		f.socket = filepath.Join(f.data, "segue.sock")
	}
	unix, err := server.ListenUnix(ctx, f.socket)
	if err != nil {
		_ = tcp.Close()
		return nil, err
	}
	return []net.Listener{tcp, unix}, nil
}

// announce says where the server answers, and where its first token is.
func (f *serveFlags) announce(cmd *cobra.Command, s *store.Store, listeners []net.Listener) error {
	path := filepath.Join(f.data, "token")
	if _, err := server.FirstToken(cmd.Context(), s, path, userName(), segue.TimeOf(time.Now())); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Segue answers on http://%s, and for users of this machine on %s.\n", listeners[0].Addr(), f.socket)
	fmt.Fprintf(out, "Its state is in %s; an operator's token is in %s.\n", s.Where(), path)
	return nil
}

// serve runs a server until the process is told to end, and keeps systemd informed.
func serve(ctx context.Context, srv *server.Server, listeners []net.Listener, log *slog.Logger) error {
	systemd := server.Notifier{Address: os.Getenv("NOTIFY_SOCKET")}
	span, _ := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	tell := func(message string) {
		if err := systemd.Tell(context.WithoutCancel(ctx), message); err != nil {
			log.Warn("systemd is not told", "error", err)
		}
	}
	tell("READY=1")
	defer context.AfterFunc(ctx, func() { tell("STOPPING=1") })()
	go systemd.Watchdog(ctx, time.Duration(span)*time.Microsecond, srv.Alive)
	err := srv.Run(ctx, listeners...)
	log.Info("server has ended")
	return err
}
