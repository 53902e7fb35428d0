package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/config"
	"github.com/segue-project/segue/provisioner"
	"github.com/segue-project/segue/server"
	"github.com/segue-project/segue/store"
)

// serveFlags are the flags of segue serve. One that is given counts before the
// file and the environment.
type serveFlags struct {
	file, listen, socket, data, database, model string
	every                                       time.Duration
	noScheduler, elsewhere                      bool
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
in a file that only its user may read. SIGHUP lets it read its configuration again.`,
		Example: "  segue serve\n  segue serve --config /etc/segue/segue.yaml\n  segue serve --database-url postgres://segue@db/segue",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.file, "config", "", "file of configuration (docs/operator.md)")
	flags.StringVar(&f.listen, "listen", "", "address and port (default 127.0.0.1:7411)")
	flags.BoolVar(&f.elsewhere, "tls-elsewhere", false, "listen beyond this machine without TLS: a proxy before the server sees to it")
	flags.StringVar(&f.socket, "socket", "", "Unix socket for the users of this machine, who need no token there (default DATA/segue.sock)")
	flags.StringVar(&f.data, "data", "", "folder of the server's state (default where segue keeps what is one's own)")
	flags.StringVar(&f.database, "database-url", "", "postgres://... (default DATABASE_URL, or a file in DATA)")
	flags.StringVar(&f.model, "model", "", "let the trained model in this folder decide, \"default\" for the one that segue carries, \"champion\" for the one that trainings chose (without it a planner decides)")
	flags.DurationVar(&f.every, "every", 0, "time between two rounds of the one that submits; another takes over within four of them (default 3s)")
	flags.BoolVar(&f.noScheduler, "no-scheduler", false, "submit nothing, and advise from the history, even where there is a Slurm")
	return cmd
}

// settings returns the configuration: what flags say, then the environment, then
// the file, then the defaults.
func (f *serveFlags) settings() (config.Config, error) {
	c := config.Environment(os.Getenv)
	if f.file != "" {
		var err error
		if c, err = config.Read(f.file, os.Getenv); err != nil {
			return c, err
		}
	}
	for _, s := range []struct {
		into           *string
		flag, fallback string
	}{
		{&c.Listen, f.listen, "127.0.0.1:7411"},
		{&c.Data, f.data, stateDir()},
		{&c.Model, f.model, ""},
		{&c.DatabaseURL, f.database, ""},
		{&c.Socket, f.socket, ""},
	} {
		if s.flag != "" {
			*s.into = s.flag
		}
		if *s.into == "" {
			*s.into = s.fallback
		}
	}
	if c.Socket == "" {
		c.Socket = filepath.Join(c.Data, "segue.sock")
	}
	if f.every != 0 {
		c.Every = config.Duration(f.every)
	}
	c.TLS.Elsewhere = c.TLS.Elsewhere || f.elsewhere
	if f.noScheduler {
		c.Cluster.Scheduler = "none"
	}
	return c, nil
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	c, err := f.settings()
	if err != nil {
		return err
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spare)
	}
	level := new(slog.LevelVar)
	level.Set(levelOf(c))
	log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
	otel.SetLogger(logr.FromSlogHandler(log.Handler())) // of variables that it does not understand
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", err) }))
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return segue.Errorf(segue.Unavailable, "make the server's folder: %w", err)
	}
	s, err := openServed(cmd.Context(), c, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	wired, err := serverConfig(c, log)
	if err != nil {
		return err
	}
	srv, err := server.New(s, wired)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // before it is said that the server answers
	defer signal.Stop(hangups)
	r := &reloading{flags: f, server: srv, level: level, now: c, log: log}
	go r.run(ctx, hangups)
	return serve(ctx, cmd, s, srv, c, log)
}

// spare is how many goroutines more run at once than there are cores: the one that
// works an advice out does so for long, and what it has of a core the kernel takes
// from it for a request, which Go would let wait.
const spare = 1

// openServed opens the server's store.
func openServed(ctx context.Context, c config.Config, log *slog.Logger) (*store.Store, error) {
	where := c.DatabaseURL
	if where == "" {
		where = filepath.Join(c.Data, "segue.db")
	}
	return store.Open(ctx, where, store.Config{NetworkDisk: true, MaxConns: 16, Log: log})
}

// serve answers until the process is told to end, and keeps systemd informed.
func serve(ctx context.Context, cmd *cobra.Command, s *store.Store, srv *server.Server, c config.Config, log *slog.Logger) error {
	tcp, err := listenTCP(ctx, c)
	if err != nil {
		return err
	}
	unix, err := server.ListenUnix(ctx, c.Socket)
	if err != nil {
		_ = tcp.Close()
		return err
	}
	token := filepath.Join(c.Data, "token")
	host, _ := os.Hostname() // to tell machines apart
	_, revoked, err := server.FirstToken(ctx, s, server.First{Path: token, Host: host, User: userName()}, segue.TimeOf(time.Now()))
	if err != nil {
		return err
	}
	if len(revoked) > 0 {
		log.Warn("first tokens that were in the same file before are revoked", "tokens", revoked)
	}
	scheme := "http"
	if c.TLS.Certificate != "" {
		scheme = "https"
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "Segue answers on %s://%s, and for users of this machine on %s.\n", scheme, tcp.Addr(), c.Socket)
	fmt.Fprintf(out, "Its state is in %s; an operator's token, valid for up to a year, is in %s.\n", s.Where(), token)

	go train(ctx, s, srv, c, log)
	systemd := server.Notifier{Address: os.Getenv("NOTIFY_SOCKET")}
	tell := func(message string) {
		if err := systemd.Tell(context.WithoutCancel(ctx), message); err != nil {
			log.Warn("systemd is not told", "error", err)
		}
	}
	tell("READY=1")
	defer context.AfterFunc(ctx, func() { tell("STOPPING=1") })()
	span, _ := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64) // 0 is none
	go systemd.Watchdog(ctx, time.Duration(span)*time.Microsecond, srv.Alive)
	err = srv.Run(ctx, tcp, unix)
	log.Info("server has ended")
	return err
}

func listenTCP(ctx context.Context, c config.Config) (net.Listener, error) {
	if c.TLS.Elsewhere && c.TLS.Certificate == "" {
		return server.ListenBehind(ctx, c.Listen)
	}
	return server.ListenTCP(ctx, c.Listen, c.TLS.Certificate, c.TLS.Key)
}

// reloading reads the configuration again when the process is told to (SIGHUP).
type reloading struct {
	flags  *serveFlags
	server *server.Server
	level  *slog.LevelVar
	now    config.Config
	log    *slog.Logger
}

func (r *reloading) run(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			if err := r.reload(); err != nil {
				r.log.Error("configuration is as it was", "error", err)
			}
		}
	}
}

// reload takes over what can change while the server works: all of it, or nothing
// where the file is wrong.
func (r *reloading) reload() error {
	c, err := r.flags.settings()
	if err != nil {
		return err
	}
	next := r.now // with what can change; the rest wants a restart
	next.Limits, next.Operators, next.Model, next.LogLevel = c.Limits, c.Operators, c.Model, c.LogLevel
	choose := func() (*provisioner.Trained, error) { return modelOf(next) }
	if err := r.server.Reload(limitsOf(next), next.Operators, choose, next.Model == champion); err != nil {
		return err
	}
	r.level.Set(levelOf(next))
	r.log.Info("configuration is read again", "wants_a_restart", fixed(next, c))
	r.now = next
	return nil
}
