package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

// What was said serves while it is asked for again, and for ten minutes where nobody
// answers or somebody is said to be nobody: that is what getent says of everybody while
// the directory is away. Both are asked again soon.
func TestOnlyTheFirstQuestionAboutAUserWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock, d := &clock{at: t0}, &directory{known: map[string]string{"id -G ada": "1"}}
		n := newNames(clock.now, namesPatience)
		n.run = d.ask
		silent := errors.New("sssd does not answer")
		nobody := func() error { _, err := d.ask("getent", "nobody"); return err }()
		d.asked = nil
		for _, step := range []struct {
			what   string
			passes time.Duration
			known  map[string]string // from then on
			want   string
			err    error
			asked  int // in all, once nothing goes on any more
		}{
			{"at first", 0, d.known, "1", nil, 1},
			{"just before it is old", namesFresh - time.Second, map[string]string{"id -G ada": "2"}, "1", nil, 1},
			{"once it is old", time.Second, map[string]string{"id -G ada": "2"}, "1", nil, 2},
			{"after that", 0, nil, "2", nil, 2},
			{"while nobody answers", namesFresh, nil, "2", nil, 3},
			{"before the next try", namesDoubt - time.Second, nil, "2", nil, 3},
			{"ten minutes after the last answer", namesKept - namesFresh, nil, "", silent, 4},
			{"while that is believed", namesDoubt - time.Second, map[string]string{"id -G ada": "3"}, "", silent, 4},
			{"when it answers again", time.Second, map[string]string{"id -G ada": "3"}, "3", nil, 5},
			{"when there is nobody any more", namesFresh, map[string]string{}, "3", nil, 6},
			{"before the next try of that", namesDoubt - time.Second, map[string]string{}, "3", nil, 6},
			{"ten minutes after there was somebody", namesKept - namesFresh, map[string]string{}, "", nobody, 7},
			{"when there is somebody again", namesDoubt, map[string]string{"id -G ada": "4"}, "4", nil, 8},
		} {
			clock.advance(step.passes)
			d.known = step.known
			got, err := n.ask("id", "-G", "ada")
			if got != step.want || fmt.Sprint(err) != fmt.Sprint(step.err) {
				t.Errorf("%s: %q, %v; want %q, %v", step.what, got, err, step.want, step.err)
			}
			synctest.Wait()
			if len(d.asked) != step.asked {
				t.Errorf("%s: the directory was asked %d times, want %d", step.what, len(d.asked), step.asked)
			}
		}
	})
}

// What did not answer while the clock was fast is asked again once it is right.
func TestAFailureIsForgottenWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	clock, d := &clock{at: t0.Add(24 * time.Hour)}, &directory{}
	n := newNames(clock.now, namesPatience)
	n.run = d.ask
	if _, err := n.ask("id", "-G", "ada"); err == nil {
		t.Fatal("a directory that does not answer answers")
	}
	clock.advance(-24 * time.Hour)
	d.known = map[string]string{"id -G ada": "1"}
	if got, err := n.ask("id", "-G", "ada"); got != "1" || err != nil {
		t.Errorf("%q, %v; want what it answers by now", got, err)
	}
}

// getent says of everybody that there is nobody while the service behind it is away, so
// this is taken for true only once it has said nothing else for ten minutes.
func TestThatThereIsNobodyIsTakenForTrueLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock, d := &clock{at: t0}, &directory{}
		a := newAccounts(clock.now)
		a.names.run = d.ask
		here, away := map[string]string{"getent passwd segue-ada": adasLine}, map[string]string{}
		for _, step := range []struct {
			what   string
			passes time.Duration
			known  map[string]string // from then on; nil where the directory does not answer
			want   segue.Kind        // of the error; Other for none
		}{
			{"of a user who was never asked about", 0, away, segue.Unavailable},
			{"just before ten minutes", namesKept - time.Second, away, segue.Unavailable},
			{"after ten minutes", namesDoubt, away, segue.Invalid},
			{"when the user is there", namesDoubt, here, segue.Other},
			{"a day later, in an outage", 24 * time.Hour, away, segue.Unavailable},
			{"where getent itself fails", namesKept - time.Second, nil, segue.Unavailable},
			{"when it says nobody anew", namesDoubt, away, segue.Unavailable},
			{"just before ten minutes of that", namesKept - time.Second, away, segue.Unavailable},
			{"after ten minutes of that", namesDoubt, away, segue.Invalid},
		} {
			clock.advance(step.passes)
			d.known = step.known
			if _, err := a.byName("segue-ada"); segue.KindOf(err) != step.want {
				t.Errorf("%s: %v, want an error of kind %v", step.what, err, step.want)
			}
			synctest.Wait()
		}
	})
}

func TestAStrangerAtTheSocketIsTold(t *testing.T) {
	t.Parallel()
	clock, d := &clock{at: t0}, &directory{known: map[string]string{"getent passwd 70001": adasLine}}
	a := newAccounts(clock.now)
	a.names.run = d.ask
	if _, err := a.peer(70002); segue.KindOf(err) != segue.NotFound {
		t.Errorf("a stranger: %v, want an error of kind not found", err)
	}
	if ada, err := a.peer(70001); ada.name != "segue-ada" || err != nil {
		t.Errorf("ada: %+v, %v", ada, err)
	}
	d.known = map[string]string{}
	clock.advance(namesKept)
	if _, err := a.peer(70001); segue.KindOf(err) != segue.Unavailable {
		t.Errorf("ada, in an outage: %v, want an error of kind unavailable", err)
	}
}

// Whoever asks about somebody whom the directory is slow to tell of waits, once for
// all who ask; nobody else does. The getent of this test tells of ada when it is let.
func TestASlowDirectoryKeepsOnlyThoseWaitingWhomItIsAskedAbout(t *testing.T) {
	dir := t.TempDir()
	gate, log := filepath.Join(dir, "gate"), filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$2\" >> %s\n[ \"$2\" != segue-ada ] || read -r _ < %s\necho \"$2:*:70001:70002::/:/bin/sh\"\n", log, gate)
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "getent"), []byte(script), 0o755), syscall.Mkfifo(gate, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	a := &accounts{newNames(realNow, time.Minute)}
	found := make(chan error)
	for range 3 {
		go func() {
			_, err := a.byName("segue-ada")
			found <- err
		}()
	}
	let, err := os.OpenFile(gate, os.O_WRONLY, 0) // which waits for getent to be there
	if err != nil {
		t.Fatal(err)
	}
	bob, err := a.byName("segue-bob")
	if diff := cmp.Diff(account{"segue-bob", 70001, 70002}, bob, cmp.AllowUnexported(account{})); diff != "" || err != nil {
		t.Errorf("somebody else: %v (-want +got):\n%s", err, diff)
	}
	select {
	case err := <-found:
		t.Errorf("ada is known before getent tells: %v", err)
	default:
	}
	if _, err := let.WriteString("go\n"); err != nil {
		t.Error(err)
	}
	for range 3 {
		if err := <-found; err != nil {
			t.Errorf("ada: %v", err)
		}
	}
	asked, err := os.ReadFile(log)
	if want := "segue-ada\nsegue-bob\n"; string(asked) != want || err != nil {
		t.Errorf("getent was asked about %q, %v; want %q", asked, err, want)
	}
	if err := let.Close(); err != nil {
		t.Error(err)
	}
}

// A connection whose user is not known yet keeps no other from being taken.
func TestAConnectionThatWaitsForANameKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	srv, err := New(openStore(t), Config{Now: realNow, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	first, asked, told := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	first <- struct{}{}
	srv.peers.of = func(*net.UnixConn) (string, uint32, error) {
		select {
		case <-first:
			close(asked)
			<-told
		default:
		}
		return "ada", 70001, nil
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := ListenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- srv.Run(ctx, l) }()
	ask := func() int {
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}
		defer transport.CloseIdleConnections()
		return status(t, &http.Client{Transport: transport}, "http://segue/v1/chains")
	}
	slow := make(chan int)
	go func() { slow <- ask() }()
	<-asked
	if got := ask(); got != http.StatusOK {
		t.Errorf("while the first waits the second is answered with %d, want 200", got)
	}
	close(told)
	if got := <-slow; got != http.StatusOK {
		t.Errorf("the first is answered with %d, want 200", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
