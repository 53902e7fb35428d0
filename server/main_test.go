package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/internal/pgtest"
	"github.com/segue-project/segue/store"
)

// The variables of a test binary that is a server: its database, and the folder of its
// cluster, none without one.
const (
	childDatabase = "SEGUE_SERVER_TEST_DATABASE"
	childCluster  = "SEGUE_SERVER_TEST_CLUSTER"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(childDatabase); database != "" {
		if err := serveAsChild(database, os.Getenv(childCluster)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if err := postgres.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "clean up:", err)
		code = 1
	}
	os.Exit(code)
}

// postgres is the server of all tests but those that stop it.
var postgres pgtest.Server

// childEvery is the time between two rounds of a server of a test.
const childEvery = 500 * time.Millisecond

func realNow() segue.Time { return segue.TimeOf(time.Now()) }

// serveAsChild is a server process, which says on its standard output where it
// answers, and ends on SIGTERM.
func serveAsChild(database, dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := store.Open(ctx, database, store.Config{})
	if err != nil {
		return err
	}
	cfg := Config{
		Now: realNow, Holder: fmt.Sprint("server ", os.Getpid()), User: "segue", Root: true, Every: childEvery,
		Exists: func(string, string) bool { return false }, Log: slog.New(slog.NewJSONHandler(os.Stderr, nil)),
	}
	if dir != "" {
		cfg.Driver = fileCluster{dir, realNow}
	}
	srv, err := New(s, cfg)
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	if err := srv.Run(ctx, l); err != nil {
		return err
	}
	return s.Close()
}
