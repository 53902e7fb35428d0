package main

import (
	"context"
	"fmt"
	"time"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/store"
)

// chainSource is where chains are looked up: a store, or a server.
type chainSource interface {
	Chains(ctx context.Context, q store.ChainQuery) ([]segue.Chain, error)
	Links(ctx context.Context, chain string) ([]segue.Link, error)
	Decisions(ctx context.Context, chain string, n int) ([]store.Recorded, error)
}

// served are the chains of a server that its caller may see.
type served struct{ client *client.Client }

// Chains implements chainSource, for a query of states only.
func (s served) Chains(ctx context.Context, q store.ChainQuery) ([]segue.Chain, error) {
	answers, err := s.client.Chains(ctx, q.User, q.States...)
	if err != nil {
		return nil, err
	}
	all := make([]segue.Chain, 0, len(answers))
	for i := range answers {
		c, err := servedChain(&answers[i])
		if err != nil {
			return nil, fmt.Errorf("the server's chain %s: %w", answers[i].ID, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Links implements chainSource.
func (s served) Links(ctx context.Context, chain string) ([]segue.Link, error) {
	c, err := s.client.Chain(ctx, chain)
	if err != nil {
		return nil, err
	}
	all := make([]segue.Link, 0, len(c.Links))
	for i := range c.Links {
		l, err := servedLink(chain, &c.Links[i])
		if err != nil {
			return nil, fmt.Errorf("the server's link %d of chain %s: %w", c.Links[i].Number, chain, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// Decisions implements chainSource, without requests and forecasts.
func (s served) Decisions(ctx context.Context, chain string, n int) ([]store.Recorded, error) {
	answers, err := s.client.Decisions(ctx, chain, n)
	if err != nil {
		return nil, err
	}
	all := make([]store.Recorded, 0, len(answers))
	for i := range answers {
		r, err := servedDecision(chain, &answers[i])
		if err != nil {
			return nil, fmt.Errorf("the server's decision about chain %s at %s: %w", chain, answers[i].At, err)
		}
		all = append(all, r)
	}
	return all, nil
}

func servedChain(a *api.ChainAnswer) (c segue.Chain, err error) {
	c = segue.Chain{
		ID: a.ID, Name: a.Name, User: a.User, Why: a.Why, Terms: segue.Terms{MaxLinks: a.MaxLinks},
		Request: segue.Request{
			Shape: segue.Shape{Nodes: a.Nodes, GPUsPerNode: a.GPUsPerNode, Limit: segue.Unlimited},
			User:  a.User, Account: a.Account, Partition: a.Partition, QOS: a.QOS,
		},
	}
	if a.TimeLimit != nil {
		c.Request.Limit = time.Duration(*a.TimeLimit * float64(time.Second))
	}
	if c.Created, err = servedInstant(&a.Created); err != nil {
		return c, err
	}
	if c.State, err = segue.ParseChainState(a.State); err != nil {
		return c, err
	}
	c.Terms.Prefer, err = segue.ParsePreference(a.Prefer)
	return c, err
}

func servedLink(chain string, a *api.LinkAnswer) (l segue.Link, err error) {
	l = segue.Link{
		Chain: chain, Number: a.Number, Attempt: a.Attempt, Ended: segue.ParseJobState(a.Ended),
		ExitCode: a.ExitCode, Signal: a.Signal, Restarts: a.Restarts,
	}
	if l.State, err = segue.ParseLinkState(a.State); err != nil {
		return l, err
	}
	if a.Job != "" {
		if l.Job, err = segue.ParseJobID(a.Job); err != nil {
			return l, err
		}
	}
	for _, t := range []struct {
		into *segue.Time
		text *string
	}{{&l.Planned, a.Planned}, {&l.Submitted, a.Submitted}, {&l.Start, a.Start}, {&l.End, a.End}, {&l.Ready, a.Ready}} {
		if *t.into, err = servedInstant(t.text); err != nil {
			return l, err
		}
	}
	return l, nil
}

func servedDecision(chain string, a *api.DecisionAnswer) (r store.Recorded, err error) {
	r = store.Recorded{Chain: chain, Number: a.Link, Attempt: a.Attempt, Decision: segue.Decision{
		Policy: a.Policy, Model: a.Model, Reason: a.Reason, Submit: a.Decision == "submit",
	}}
	if r.Decision.At, err = servedInstant(&a.At); err != nil {
		return r, err
	}
	if r.Decision.SubmitAt, err = servedInstant(a.SubmitAt); err != nil {
		return r, err
	}
	for i := range a.Alternatives {
		b := &a.Alternatives[i]
		at, err := servedInstant(&b.SubmitAt)
		if err != nil {
			return r, err
		}
		r.Decision.Alternatives = append(r.Decision.Alternatives, segue.Alternative{
			SubmitAt: at, Interruption: time.Duration(b.Interruption * float64(time.Second)), Overlap: time.Duration(b.Overlap * float64(time.Second)),
			StartsBeforeEnd: b.StartsBeforeEnd, Cost: b.Cost, Forecaster: b.Forecaster,
		})
	}
	return r, nil
}

// servedInstant reads an instant as the interface tells it.
func servedInstant(text *string) (segue.Time, error) {
	if text == nil {
		return segue.NoTime, nil
	}
	at, err := time.Parse(time.RFC3339Nano, *text)
	return segue.TimeOf(at), err
}
