package nightly

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/smtp"
	"net/url"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/store"
)

// Alerts says who is told of a training that failed. What is empty is left out.
type Alerts struct {
	Webhook string   // a URL, which gets a POST of JSON
	Relay   string   // host:port of a mail server that takes mail without a password
	From    string   // address of the sender
	To      []string // addresses
	Client  *http.Client
}

// patience is how long a webhook or a mail server may take.
const patience = 10 * time.Second

// Tell tells everybody of a training. One who cannot be told does not keep the
// others from being told.
func (a Alerts) Tell(ctx context.Context, t store.Training) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all []error
	if a.Webhook != "" {
		all = append(all, a.post(ctx, t))
	}
	if a.Relay != "" && len(a.To) > 0 {
		all = append(all, a.mail(ctx, t))
	}
	return errors.Join(all...)
}

func (a Alerts) post(ctx context.Context, t store.Training) error {
	body, err := json.Marshal(struct {
		Text     string `json:"text"` // what Slack, Mattermost and their like show
		Cluster  string `json:"cluster"`
		Training string `json:"training"`
		State    string `json:"state"`
		Step     string `json:"step"`
		Why      string `json:"why"`
		Folder   string `json:"folder"`
	}{headline(t) + " " + t.Why, t.Cluster, t.ID, string(t.State), t.Step, t.Why, t.Folder})
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Webhook, bytes.NewReader(body))
	if err != nil {
		return segue.Errorf(segue.Invalid, "webhook: %w", withoutURL(err))
	}
	req.Header.Set("Content-Type", "application/json")
	client := a.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "webhook: %w", withoutURL(err))
	}
	defer resp.Body.Close() //nolint:errcheck // nothing of it is read
	if resp.StatusCode/100 != 2 {
		return segue.Errorf(segue.Unavailable, "webhook: it answers %s", resp.Status)
	}
	return nil
}

// withoutURL returns what failed without the URL, which may hold a secret: errors
// end in the log.
func withoutURL(err error) error {
	failed, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok:
		return err
	case failed.Op == "parse": // its cause names parts of the URL
		return errors.New("its URL is none")
	default:
		return failed.Err
	}
}

func (a Alerts) mail(ctx context.Context, t store.Training) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.Relay)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "mail: %w", err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline) // a connection that takes none fails at the first word
	}
	host, _, _ := net.SplitHostPort(a.Relay)
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		_ = conn.Close()
		return segue.Errorf(segue.Unavailable, "mail: %w", err)
	}
	defer c.Close() //nolint:errcheck // Quit says whether the mail was taken
	if err := a.send(c, t); err != nil {
		return segue.Errorf(segue.Unavailable, "mail: %w", err)
	}
	return nil
}

func (a Alerts) send(c *smtp.Client, t store.Training) error {
	if err := c.Mail(a.From); err != nil {
		return err
	}
	for _, to := range a.To {
		if err := c.Rcpt(to); err != nil {
			return err
		}
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n\r\nIts log is in %s.\r\n",
		a.From, strings.Join(a.To, ", "), headline(t), t.Ended.Std().UTC().Format(time.RFC1123Z), strings.ReplaceAll(t.Why, "\n", "\r\n"), t.Folder)
	if _, err := w.Write([]byte(text)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return c.Quit()
}

func headline(t store.Training) string {
	return fmt.Sprintf("Segue: training %s of cluster %s %s at step %s.", t.ID, t.Cluster, t.State, t.Step)
}
