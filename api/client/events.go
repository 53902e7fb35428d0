package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

// Event is one of the stream of changes. Both pointers are nil for its beginning, also
// after it broke: then changes may have passed that nobody tells.
type Event struct {
	Chain *api.ChainEvent
	Link  *api.LinkEvent
}

// Follow hands on the changes of the chains that the caller may see, until ctx ends or
// use fails, whose error it returns. A stream that breaks goes on where it was: while the
// server does not answer it is asked again and again, after a second at first, and no
// later than after half a minute. What the server refuses is an error of the kind that
// it has there.
func (c *Client) Follow(ctx context.Context, use func(Event) error) error {
	const first, longest = time.Second, 30 * time.Second
	last, pause := 0, first
	for {
		err := c.stream(ctx, &last, func(e Event) error {
			pause = first
			if err := use(e); err != nil {
				return enough{err}
			}
			return nil
		})
		if said, ok := errors.AsType[enough](err); ok {
			return said.error
		}
		if kind := segue.KindOf(err); err != nil && kind != segue.Unavailable && kind != segue.Corrupt {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, longest)
	}
}

// enough is an error of whoever uses events.
type enough struct{ error }

// silence is how long a stream says nothing before it counts as broken: three heartbeats
// of the server.
const silence = 45 * time.Second

// stream follows changes from the one after last on, until the stream breaks.
func (c *Client) stream(ctx context.Context, last *int, use func(Event) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	alive := time.AfterFunc(silence, stop)
	defer alive.Stop()
	r, err := c.request(ctx, http.MethodGet, "/v1/events", http.NoBody)
	if err != nil {
		return err
	}
	if *last > 0 {
		r.Header.Set("Last-Event-ID", strconv.Itoa(*last))
	}
	lasting := *c.http
	lasting.Timeout = 0
	got, err := lasting.Do(r)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "ask the server: %w", err)
	}
	defer func() { _ = got.Body.Close() }()
	if got.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(got.Body, 1<<20)) // the status says enough
		return refusal(got, text)
	}
	if err := use(Event{}); err != nil {
		return err
	}
	for e, err := range sse.Read(got.Body, &sse.ReadConfig{MaxEventSize: 1 << 20}) {
		if err != nil {
			return segue.Errorf(segue.Unavailable, "read the server's events: %w", err)
		}
		alive.Reset(silence)
		event, err := read(e)
		if err != nil {
			return err
		}
		if event.Chain == nil && event.Link == nil {
			continue // a heartbeat, or what a later server tells
		}
		if err := use(event); err != nil {
			return err
		}
		if n, err := strconv.Atoi(e.LastEventID); err == nil {
			*last = n
		}
	}
	return nil
}

func read(e sse.Event) (event Event, err error) {
	switch e.Type {
	case "chain":
		err = json.Unmarshal([]byte(e.Data), &event.Chain)
	case "link":
		err = json.Unmarshal([]byte(e.Data), &event.Link)
	}
	if err != nil {
		return Event{}, segue.Errorf(segue.Corrupt, "read the server's events: %w", err)
	}
	return event, nil
}
