package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/segue-project/segue"
)

// Event is a change of a chain, or of one of its links.
type Event struct {
	ID    int // from 1, in the order in which they were seen
	At    segue.Time
	Chain segue.Chain
	Link  *segue.Link // nil for a change of the chain itself
}

// remembered is how many events a client that comes back can be told of.
const remembered = 1000

// behind is how many events a client may be behind before its stream ends: it
// comes back, and says where it was.
const behind = 100

// Feed hands events on to those who follow. It starts nothing: whoever sees the
// changes publishes them.
type Feed struct {
	mu        sync.Mutex
	last      int
	past      []Event
	followers map[chan Event]bool
	closed    bool
}

// NewFeed returns a feed without events.
func NewFeed() *Feed { return &Feed{followers: map[chan Event]bool{}} }

// Publish numbers events and hands them on. A follower who is too far behind is
// let go.
func (f *Feed) Publish(events ...Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		f.last++
		e.ID = f.last
		f.past = append(f.past, e)
		for c := range f.followers {
			select {
			case c <- e:
			default:
				delete(f.followers, c)
				close(c)
			}
		}
	}
	if extra := len(f.past) - remembered; extra > 0 {
		f.past = append(f.past[:0], f.past[extra:]...)
	}
}

// Past returns the events that are remembered, the first one first.
func (f *Feed) Past() []Event {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.past)
}

// Close ends all streams, and those to come.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.followers {
		delete(f.followers, c)
		close(c)
	}
}

// follow returns what happened since the event of a number, as far as it is
// remembered, and a channel of what is to come; it is closed when the follower is
// let go. leave ends it.
func (f *Feed) follow(since int) (missed []Event, events <-chan Event, leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.past {
		if since > 0 && e.ID > since {
			missed = append(missed, e)
		}
	}
	c := make(chan Event, behind)
	if f.closed {
		close(c)
		return missed, c, func() {}
	}
	f.followers[c] = true
	return missed, c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.followers, c)
	}
}

type (
	eventsInput struct {
		Last int `header:"Last-Event-ID" minimum:"0" doc:"The latest event that was seen, after the stream broke."`
	}
	// ChainEvent is a chain that is new or has changed.
	ChainEvent struct {
		At    string      `json:"at" format:"date-time" doc:"When it was seen."`
		Chain ChainAnswer `json:"chain"`
	}
	// LinkEvent is a link that is new or has changed.
	LinkEvent struct {
		At    string     `json:"at" format:"date-time" doc:"When it was seen."`
		Chain string     `json:"chain" doc:"ID of its chain."`
		Link  LinkAnswer `json:"link"`
	}
	// Heartbeat says that the stream lives.
	Heartbeat struct {
		At string `json:"at" format:"date-time"`
	}
)

// heartbeat is the time between two signs of life, so that whoever is between us
// does not cut the line. At each the caller is looked at again.
const heartbeat = 15 * time.Second

func (a *API) addEvents() {
	op := a.guarded(operation("follow-events", "GET", eventsPath, "events", "Follow changes of chains and links as server-sent events"), ScopeRead)
	op.Description = "A user sees own chains, an operator all. Changes are seen within some seconds. A stream that breaks goes on " +
		"where it was with `Last-Event-ID`, as far as this server remembers; after a restart, list the chains again." + op.Description
	kinds := map[string]any{"chain": ChainEvent{}, "link": LinkEvent{}, "heartbeat": Heartbeat{}}
	sse.Register(a.huma, op, kinds, func(ctx context.Context, in *eventsInput, send sse.Sender) { a.follow(ctx, in.Last, send) })
}

// eventsPath is where events are followed: what lasts has places of its own.
const eventsPath = "/v1/events"

func (a *API) follow(ctx context.Context, since int, send sse.Sender) {
	caller, _ := callerOf(ctx)
	missed, events, leave := a.services.Feed.follow(since)
	defer leave()
	a.metrics.streams.Inc()
	defer a.metrics.streams.Dec()
	if send.Data(Heartbeat{a.cfg.Now().String()}) != nil {
		return
	}
	for _, e := range missed {
		if !tell(e, caller, send) {
			return
		}
	}
	alive := time.NewTicker(heartbeat)
	defer alive.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-alive.C:
			if !stillMay(ctx, ScopeRead) || send.Data(Heartbeat{a.cfg.Now().String()}) != nil {
				return
			}
		case e, more := <-events:
			if !more || !tell(e, caller, send) {
				return
			}
		}
	}
}

// tell sends an event to a caller who may see it, and reports whether the stream
// goes on.
func tell(e Event, caller Caller, send sse.Sender) bool {
	if e.Chain.User != caller.User && !caller.Operator() {
		return true
	}
	var data any = ChainEvent{e.At.String(), ChainOf(e.Chain)}
	if e.Link != nil {
		data = LinkEvent{e.At.String(), e.Chain.ID, LinkOf(*e.Link)}
	}
	return send(sse.Message{ID: e.ID, Data: data}) == nil
}
