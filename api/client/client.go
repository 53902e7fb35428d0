package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

// Config says where a server is. Server is required.
type Config struct {
	// Server is http://HOST:PORT, https://... or unix:///path/of/segue.sock.
	Server string
	// Token is a secret of `segue token create`; on the socket none is needed.
	Token string
	// HTTP sends the requests; default one with a limit of a minute for each.
	HTTP *http.Client
}

// Client talks to a server. Several goroutines may use it.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New returns a client, which does not talk yet.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.Server)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "server %q: %w", cfg.Server, err)
	}
	c := &Client{base: strings.TrimSuffix(cfg.Server, "/"), token: cfg.Token, http: cfg.HTTP}
	if c.http == nil {
		c.http = &http.Client{Timeout: time.Minute}
	}
	switch {
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		c.base = "http://segue"
		over := *c.http
		over.Transport = &http.Transport{ExpectContinueTimeout: time.Second, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", u.Path)
		}}
		c.http = &over
	default:
		return nil, segue.Errorf(segue.Invalid, "server %q: want http://HOST:PORT, https://HOST:PORT or unix:///PATH", cfg.Server)
	}
	return c, nil
}

// Advise asks whether to submit the next link of a chain now.
func (c *Client) Advise(ctx context.Context, r api.AdviceRequest) (answer api.AdviceAnswer, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/advice", "", r, &answer)
	return answer, err
}

// Chains returns all chains that the caller may see, the latest first; with a user
// those of that one, with states those that are in one of them.
func (c *Client) Chains(ctx context.Context, user string, states ...segue.ChainState) (all []api.ChainAnswer, err error) {
	q := url.Values{}
	var names []string
	for _, state := range states {
		names = append(names, state.String())
	}
	if len(names) > 0 {
		q.Set("state", strings.Join(names, ","))
	}
	if user != "" {
		q.Set("user", user)
	}
	return list[api.ChainAnswer](ctx, c, "/v1/chains", q, "chains", math.MaxInt)
}

// Chain is a chain with its links.
type Chain = api.ChainWithLinks

// Chain returns a chain and its links, the first one first.
func (c *Client) Chain(ctx context.Context, id string) (chain Chain, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/chains/"+url.PathEscape(id), "", nil, &chain)
	return chain, err
}

// Decisions returns the latest n decisions about a chain, the latest first.
func (c *Client) Decisions(ctx context.Context, id string, n int) ([]api.DecisionAnswer, error) {
	return list[api.DecisionAnswer](ctx, c, "/v1/chains/"+url.PathEscape(id)+"/decisions", url.Values{}, "decisions", n)
}

// HandOver hands over a chain whose first link is submitted. It may be asked for again
// when nobody knows what became of it: the chain is taken once.
func (c *Client) HandOver(ctx context.Context, chain segue.Chain, first segue.Link) error {
	body, err := api.HandOverOf(chain, first)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPut, "/v1/chains/"+url.PathEscape(chain.ID), "", body, new(Chain))
}

// Change pauses, resumes or stops a chain, by that verb. With a key it is done once,
// however often it is asked for within a day.
func (c *Client) Change(ctx context.Context, id, verb, key string) (chain Chain, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/chains/"+url.PathEscape(id)+"/"+url.PathEscape(verb), key, nil, &chain)
	return chain, err
}

// do sends a request in JSON and reads the answer.
func (c *Client) do(ctx context.Context, method, path, key string, body, answer any) error {
	if body == nil {
		return c.send(ctx, c.http, method, path, http.Header{keyHeader: {key}}, http.NoBody, answer)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	return c.send(ctx, c.http, method, path, http.Header{keyHeader: {key}, "Content-Type": {"application/json"}}, bytes.NewReader(text), answer)
}

const keyHeader = "Idempotency-Key"

// send sends a request and reads the answer. An error of the server has the kind that
// it has there.
func (c *Client) send(ctx context.Context, by *http.Client, method, path string, header http.Header, body io.Reader, answer any) error {
	r, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	for name, values := range header {
		if values[0] != "" {
			r.Header[name] = values
		}
	}
	got, err := by.Do(r)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "ask the server: %w", err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "read the server's answer: %w", err)
	}
	if got.StatusCode/100 != 2 {
		return refusal(got, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return segue.Errorf(segue.Corrupt, "read the server's answer: %w", err)
	}
	return nil
}

// request returns one in the name of the caller.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("ask the server: %w", err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, nil
}

// refusal returns the error of an answer that is none.
func refusal(got *http.Response, text []byte) error {
	var p api.Problem
	if err := json.Unmarshal(text, &p); err != nil || p.Title == "" {
		return segue.Errorf(segue.Unavailable, "the server answers %s", got.Status)
	}
	all := []error{fmt.Errorf("the server answers: %w", &p)}
	for _, d := range p.Errors {
		all = append(all, fmt.Errorf("%s: %s", d.Location, d.Message))
	}
	return segue.Errorf(p.Kind(), "%w", errors.Join(all...))
}
