package nightly_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/trainer/nightly"
)

var failed = store.Training{
	ID: "20230301-023000", Cluster: "c", State: store.TrainingFailed, Step: "train", Why: "train: out of memory\nkilled", Ended: midnight, Folder: "/runs/1",
}

func TestTheWebhookIsTold(t *testing.T) {
	t.Parallel()
	var got map[string]string
	status := http.StatusNoContent
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("a request of %s: %v", r.Header.Get("Content-Type"), err)
		}
		w.WriteHeader(status)
	}))
	defer server.Close()
	if err := (nightly.Alerts{Webhook: server.URL}).Tell(t.Context(), failed); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"text":    "Segue: training 20230301-023000 of cluster c failed at step train. train: out of memory\nkilled",
		"cluster": "c", "training": "20230301-023000", "state": "failed", "step": "train", "why": failed.Why, "folder": "/runs/1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what it gets (-want +got):\n%s", diff)
	}
	status = http.StatusInternalServerError
	if err := (nightly.Alerts{Webhook: server.URL}).Tell(t.Context(), failed); segue.KindOf(err) != segue.Unavailable || !strings.Contains(err.Error(), "500") {
		t.Errorf("error %v of one that fails, want its status", err)
	}
}

// The URL of a webhook may hold a secret, and errors end in the log.
func TestAnErrorOfTheWebhookHidesItsURL(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	around := httptest.NewServer(http.RedirectHandler("/s3cret", http.StatusTemporaryRedirect))
	defer around.Close()
	for name, tt := range map[string]struct {
		url  string
		want segue.Kind
	}{
		"nobody answers":     {gone.URL + "/hooks/s3cret", segue.Unavailable},
		"it leads in circle": {around.URL + "/s3cret", segue.Unavailable},
		"no URL":             {"http://segue:s3cret/x@localhost/", segue.Invalid},
		"an unknown scheme":  {"hook://s3cret/", segue.Unavailable},
	} {
		err := nightly.Alerts{Webhook: tt.url}.Tell(t.Context(), failed)
		if segue.KindOf(err) != tt.want || !strings.HasPrefix(err.Error(), "webhook: ") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: error %v, want one of kind %v without the URL", name, err, tt.want)
		}
	}
}

// relay is a mail server that takes one mail, and hands over what it was told.
func relay(t *testing.T) (address string, told <-chan string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	all := make(chan string, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			close(all)
			return
		}
		defer conn.Close() //nolint:errcheck // what was told is there
		all <- converse(conn)
	}()
	return listener.Addr().String(), all
}

func converse(conn net.Conn) string {
	var told strings.Builder
	lines, body := bufio.NewScanner(conn), false
	fmt.Fprint(conn, "220 relay\r\n")
	for lines.Scan() {
		told.WriteString(lines.Text() + "\n")
		switch word, _, _ := strings.Cut(lines.Text(), " "); {
		case body && lines.Text() != ".":
		case word == "DATA":
			body = true
			fmt.Fprint(conn, "354 go on\r\n")
		case word == "QUIT":
			fmt.Fprint(conn, "221 bye\r\n")
			return told.String()
		default:
			body = false
			fmt.Fprint(conn, "250 good\r\n")
		}
	}
	return told.String()
}

// One who cannot be told does not keep the others from being told.
func TestMailIsSent(t *testing.T) {
	t.Parallel()
	address, told := relay(t)
	alerts := nightly.Alerts{Webhook: "http://127.0.0.1:1/", Relay: address, From: "segue@example.org", To: []string{"ada@example.org", "ben@example.org"}}
	if err := alerts.Tell(t.Context(), failed); segue.KindOf(err) != segue.Unavailable || strings.Contains(err.Error(), "mail") {
		t.Errorf("error %v, want that of the webhook", err)
	}
	got := <-told
	for _, want := range []string{
		"MAIL FROM:<segue@example.org>", "RCPT TO:<ada@example.org>", "RCPT TO:<ben@example.org>",
		"Subject: Segue: training 20230301-023000 of cluster c failed at step train.\n", "\ntrain: out of memory\nkilled\n", "Its log is in /runs/1.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the mail lacks %q:\n%s", want, got)
		}
	}
}
