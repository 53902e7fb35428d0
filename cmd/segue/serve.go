package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
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
		// A trainer may take ten seconds to end, and then the store and who is told.
		Annotations: map[string]string{cli.Patience: "40s"},
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
// the file, then the defaults. All of it is checked together.
func (f *serveFlags) settings() (config.Config, error) {
	c, err := config.Read(f.file, os.Getenv, f.given()...)
	if err != nil {
		return c, err
	}
	c.Listen, c.Data = cmp.Or(c.Listen, defaultListen), cmp.Or(c.Data, stateDir())
	c.Socket = cmp.Or(c.Socket, filepath.Join(c.Data, "segue.sock"))
	return c, nil
}

// defaultListen is where a server listens that is not told where.
const defaultListen = "127.0.0.1:7411"

// given are the flags that are set.
func (f *serveFlags) given() (all []config.Given) {
	add := func(is bool, flag, setting string, set func(*config.Config)) {
		if is {
			all = append(all, config.Given{Setting: setting, By: "--" + flag, Set: set})
		}
	}
	add(f.listen != "", "listen", "listen", func(c *config.Config) { c.Listen = f.listen })
	add(f.data != "", "data", "data", func(c *config.Config) { c.Data = f.data })
	add(f.model != "", "model", "model", func(c *config.Config) { c.Model = f.model })
	add(f.database != "", "database-url", "database_url", func(c *config.Config) { c.DatabaseURL = f.database })
	add(f.socket != "", "socket", "socket", func(c *config.Config) { c.Socket = f.socket })
	add(f.every != 0, "every", "every", func(c *config.Config) { c.Every = config.Duration(f.every) })
	add(f.elsewhere, "tls-elsewhere", "tls.elsewhere", func(c *config.Config) { c.TLS.Elsewhere = true })
	add(f.noScheduler, "no-scheduler", "cluster.scheduler", func(c *config.Config) { c.Cluster.Scheduler = "none" })
	return all
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	c, err := f.settings()
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	level.Set(levelOf(c))
	log := slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: level}))
	otel.SetLogger(logr.FromSlogHandler(log.Handler())) // of variables that it does not understand
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", err) }))
	certificate, err := certificateOf(c)
	if err != nil {
		return err
	}
	wired, err := serverConfig(c, log)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return segue.Errorf(segue.Unavailable, "make the server's folder: %w", err)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spare)
	}
	s, err := openServed(cmd.Context(), c, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	srv, err := server.New(s, wired)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // before it is said that the server answers
	defer signal.Stop(hangups)
	r := &reloading{flags: f, server: srv, certificate: certificate, level: level, now: c, log: log}
	go r.run(ctx, hangups)
	return serve(ctx, cmd, s, srv, answering{c, certificate, wired.Training, log})
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

// certificateOf returns the certificate of a configuration, nil where there is none.
func certificateOf(c config.Config) (*server.Certificate, error) {
	if c.TLS.Certificate == "" {
		return nil, nil
	}
	return server.ReadCertificate(c.TLS.Certificate, c.TLS.Key)
}

// answering is what a server is started with.
type answering struct {
	config      config.Config
	certificate *server.Certificate // nil for none
	about       *server.Training    // nil where nothing is trained
	log         *slog.Logger
}

// serve answers until the process is told to end, and keeps systemd informed. A
// training that runs is ended with it.
func serve(ctx context.Context, cmd *cobra.Command, s *store.Store, srv *server.Server, with answering) error {
	c, log := with.config, with.log
	tcp, err := listenTCP(ctx, with)
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

	var training sync.WaitGroup
	ctx, stop := context.WithCancel(ctx)
	training.Go(func() { (&scheduledTraining{s, srv, with.about, c, log}).run(ctx) })
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
	stop()
	training.Wait()
	log.Info("server has ended")
	return err
}

func listenTCP(ctx context.Context, with answering) (net.Listener, error) {
	if with.config.TLS.Elsewhere && with.certificate == nil {
		return server.ListenBehind(ctx, with.config.Listen)
	}
	return server.ListenTCP(ctx, with.config.Listen, with.certificate)
}

// reloading reads the configuration again when the process is told to (SIGHUP).
type reloading struct {
	flags  *serveFlags
	server *server.Server
	// certificate is read again too; nil where there is none.
	certificate *server.Certificate
	level       *slog.LevelVar
	now         config.Config
	log         *slog.Logger
}

func (r *reloading) run(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			r.renew()
			if err := r.reload(); err != nil {
				r.log.Error("configuration is as it was", "error", err)
			}
		}
	}
}

// renew takes over a certificate that was renewed, whatever becomes of the rest.
func (r *reloading) renew() {
	if r.certificate == nil {
		return
	}
	if err := r.certificate.Reload(); err != nil {
		r.log.Error("the certificate is as it was", "error", err)
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
