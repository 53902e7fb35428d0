package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/schedulers/slurm/spelling"
)

// connection returns the client of slurmrestd and the beginning of all addresses.
// It follows no redirection, which would take the token elsewhere.
func connection(cfg Config) (base string, client *http.Client) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = cfg.TLS
	client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	socket, ok := strings.CutPrefix(cfg.URL, "unix://")
	if !ok {
		return strings.TrimSuffix(cfg.URL, "/"), client
	}
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return "http://slurmrestd", client
}

// errNotSent is wrapped by an error of a request that cannot have reached Slurm.
var errNotSent = errors.New("the request was not sent")

// ask asks a question. Its error is Unavailable, or NotFound for a job that Slurm
// says it does not know: what is no answer is no answer.
func (d *Driver) ask(ctx context.Context, path string) (*answer, error) {
	a, err := d.exchange(ctx, http.MethodGet, path, nil)
	if err != nil && segue.KindOf(err) != segue.NotFound {
		return nil, segue.Errorf(segue.Unavailable, "%w", err)
	}
	return a, err
}

// exchange sends a request and reads the answer. An error has the kind that
// Slurm's message tells.
func (d *Driver) exchange(ctx context.Context, method, path string, body any) (*answer, error) {
	status, payload, err := d.send(ctx, method, path, body)
	if err != nil {
		return nil, fmt.Errorf("slurmrestd: %s %s: %w", method, path, err)
	}
	a, err := read(status, payload)
	if err != nil && status == http.StatusNotFound {
		d.forget() // the version has gone, perhaps
	}
	if err == nil {
		err = a.refusal(status)
	}
	if err != nil {
		return nil, fmt.Errorf("slurmrestd: %s %s: %w", method, path, err)
	}
	return a, nil
}

// send sends a request and returns the whole answer. An error is Unavailable.
func (d *Driver) send(ctx context.Context, method, path string, body any) (status int, payload []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	req, err := d.request(ctx, method, path, body)
	if err != nil {
		return 0, nil, segue.Errorf(segue.Unavailable, "%w: %w", errNotSent, err)
	}
	resp, err := d.client.Do(req)
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
			err = fmt.Errorf("%w: %w", errNotSent, err)
		}
		return 0, nil, segue.Errorf(segue.Unavailable, "%w", withoutAddress(err))
	}
	defer func() { _ = resp.Body.Close() }()
	payload, err = io.ReadAll(io.LimitReader(resp.Body, d.cfg.MaxAnswer+1))
	switch {
	case err != nil:
		return resp.StatusCode, nil, segue.Errorf(segue.Unavailable, "the answer is not whole: %w", err)
	case int64(len(payload)) > d.cfg.MaxAnswer:
		return resp.StatusCode, nil, segue.Errorf(segue.Unavailable, "the answer has more than %d bytes", d.cfg.MaxAnswer)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		// A token expires, and there will be another: nothing is refused for good.
		return resp.StatusCode, nil, segue.Errorf(segue.Unavailable, "%w: %s %s: is the token still good (scontrol token)?", errNotSent, resp.Status, spelling.Excerpt(payload))
	}
	return resp.StatusCode, payload, nil
}

// withoutAddress returns what went wrong, without the method and the address, which
// the caller tells.
func withoutAddress(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok && !errors.Is(err, errNotSent) {
		return u.Err
	}
	return err
}

func (d *Driver) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, d.base+path, content)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if d.cfg.Token != nil {
		token, err := d.cfg.Token()
		if err != nil {
			return nil, fmt.Errorf("token: %w", err)
		}
		req.Header.Set("X-SLURM-USER-NAME", d.cfg.User)
		req.Header.Set("X-SLURM-USER-TOKEN", token)
	}
	return req, nil
}

// answer is what slurmrestd says, to whatever it is asked.
type answer struct {
	Meta struct {
		Slurm struct { // "Slurm" in 22.05
			Release text `json:"release"`
			Cluster text `json:"cluster"`
		} `json:"slurm"`
	} `json:"meta"`
	Errors   []complaint `json:"errors"`
	Warnings []complaint `json:"warnings"`
	Results  []complaint `json:"results"` // of an update, one for each job
	// A list that is nil was not in the answer.
	Jobs     []json.RawMessage `json:"jobs"`
	Nodes    []json.RawMessage `json:"nodes"`
	Clusters []struct {
		Name text `json:"name"`
	} `json:"clusters"`
	Statistics struct { // of slurmctld
		Waiting number `json:"dbd_agent_queue_size"`
	} `json:"statistics"`
	JobID  number `json:"job_id"` // of a submission, also in Result
	Result struct {
		JobID number `json:"job_id"`
	} `json:"result"`
	UserMessage text `json:"job_submit_user_msg"`
}

// complaint is an error or a warning.
type complaint struct {
	Text   string
	Number int64
}

// UnmarshalJSON reads an object with any of the names that its fields have had, or
// a bare text.
func (c *complaint) UnmarshalJSON(raw []byte) error {
	var o struct {
		Error       text   `json:"error"`
		Description text   `json:"description"`
		Why         text   `json:"why"`
		Number      number `json:"error_number"`
		Code        number `json:"error_code"`
	}
	*c = complaint{}
	if raw[0] != '{' {
		c.Text = strings.Trim(string(raw), `"`)
		return nil
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	c.Number = o.Number.value
	if c.Number == 0 {
		c.Number = o.Code.value
	}
	for _, t := range []text{o.Error, o.Description, o.Why} {
		if t != "" && !strings.Contains(c.Text, string(t)) {
			c.Text = strings.TrimPrefix(c.Text+": "+string(t), ": ")
		}
	}
	return nil
}

// Errors of Slurm by number.
const (
	jobHeld     = 2042 // it is reported of a job that was to be held
	nothingHere = 9003 // the query has no results
)

// read reads an answer. An error is Unavailable: it is not Slurm's, or not whole.
func read(status int, payload []byte) (*answer, error) {
	var a answer
	if err := json.Unmarshal(payload, &a); err != nil {
		return nil, segue.Errorf(segue.Unavailable, "status %d with what is not an answer of Slurm's: %s: %w", status, spelling.Excerpt(payload), err)
	}
	return &a, nil
}

// refusal returns the error that an answer is: nil for one that is none, however
// it looks.
func (a *answer) refusal(status int) error {
	what := a.harms()
	all := strings.Join(what, "; ")
	switch kind := spelling.KindOf(all); {
	case len(what) == 0 && (status < 300 || len(a.Errors) > 0):
		return nil
	case len(what) == 0:
		return segue.Errorf(segue.Unavailable, "status %d without a reason", status)
	case kind == segue.Other && status == http.StatusBadRequest:
		return segue.Errorf(segue.Invalid, "%s", all)
	default:
		return segue.Errorf(kind, "%s", all)
	}
}

// harms are the errors of an answer that are some.
func (a *answer) harms() []string {
	var what []string
	for _, c := range a.Errors {
		if c.Number != jobHeld && c.Number != nothingHere {
			what = append(what, c.String())
		}
	}
	for _, c := range a.Results {
		if c.Number != 0 && c.Number != jobHeld {
			what = append(what, c.String())
		}
	}
	return what
}

func (c complaint) String() string { return fmt.Sprintf("%s (%d)", c.Text, c.Number) }
