package store

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/segue-project/segue"
)

// chainID is what the token of a link can hold.
var chainID = regexp.MustCompile(`^[a-z0-9]+$`)

const chainColumns = `id, name, username, created, state, why, nodes, gpus_per_node, time_limit, account, partition, qos, terms`

// CreateChain records a chain with its first link, which has been submitted or is
// about to be. Conflict says that there is a chain of this ID.
func (s *Store) CreateChain(ctx context.Context, c segue.Chain, first segue.Link) (err error) {
	defer s.wrap(&err, "create chain %s", c.ID)
	return s.createChain(ctx, c, first, func(tx) error { return nil })
}

// createChain records a chain with its first link, unless what is asked before, in the
// same change, refuses it.
func (s *Store) createChain(ctx context.Context, c segue.Chain, first segue.Link, may func(tx) error) error {
	switch {
	case !chainID.MatchString(c.ID):
		return segue.Errorf(segue.Invalid, "its ID is %q, want lower-case letters and digits", c.ID)
	case first.Chain != c.ID || first.Number != 1 || first.Attempt != 1:
		return segue.Errorf(segue.Invalid, "its first link is %s, want %s", first.Token(), (&segue.Link{Chain: c.ID, Number: 1, Attempt: 1}).Token())
	}
	if err := c.Terms.Validate(); err != nil {
		return err
	}
	terms, err := json.Marshal(c.Terms)
	if err != nil {
		return segue.Errorf(segue.Invalid, "its terms: %w", err)
	}
	submission, err := encodeSubmission(c.Submission)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		if err := may(t); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO chains (`+chainColumns+`) VALUES (`+placeholders(13)+`)`,
			c.ID, text(c.Name), text(c.User), int64(c.Created), c.State.String(), text(c.Why),
			c.Request.Nodes, c.Request.GPUsPerNode, span(c.Request.Limit),
			text(c.Request.Account), text(c.Request.Partition), text(c.Request.QOS), string(terms))
		if err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO submissions (chain, content) VALUES ($1, $2)`, c.ID, submission); err != nil {
			return err
		}
		return t.insertLink(&first)
	})
}

// SetChainState moves a chain from the state that the caller saw to another one,
// with a sentence that says why. Conflict says that it is in a third one by now,
// or that the step is none that a chain may take.
func (s *Store) SetChainState(ctx context.Context, id string, from, to segue.ChainState, why string) (err error) {
	defer s.wrap(&err, "set chain %s from %s to %s", id, from, to)
	if !from.MayBecome(to) {
		return segue.Errorf(segue.Conflict, "a chain that is %s may not become %s", from, to)
	}
	return s.change(ctx, func(t tx) error {
		n, err := t.exec(`UPDATE chains SET state = $1, why = $2 WHERE id = $3 AND state = $4`, to.String(), text(why), id, from.String())
		if err != nil || n == 1 {
			return err
		}
		now, err := t.chainState(id)
		if err != nil {
			return err
		}
		return segue.Errorf(segue.Conflict, "it is %s by now", now)
	})
}

// chainState returns the state of a chain, which stays so until the change ends.
func (t tx) chainState(id string) (state segue.ChainState, err error) {
	ok, err := t.row([]any{toName[segue.ChainState]{&state, segue.ParseChainState}}, `SELECT state FROM chains WHERE id = $1`+t.s.engine.forUpdate(), id)
	if err == nil && !ok {
		err = segue.Errorf(segue.NotFound, "there is no such chain")
	}
	return state, err
}

// Chain returns a chain with what was captured at its submission.
func (s *Store) Chain(ctx context.Context, id string) (c segue.Chain, err error) {
	defer s.wrap(&err, "read chain %s", id)
	found, err := collect(ctx, s.read, scanWholeChain, `SELECT `+chainColumns+`, content FROM chains JOIN submissions ON chain = id WHERE id = $1`, id)
	if err == nil && len(found) == 0 {
		err = segue.Errorf(segue.NotFound, "there is no such chain")
	}
	if err != nil {
		return segue.Chain{}, err
	}
	return found[0], nil
}

// ChainQuery says which chains: those that meet all of its fields.
type ChainQuery struct {
	User   string             // empty: everybody's
	States []segue.ChainState // empty: any
	Live   bool               // those with a link that has not ended
	// Limit is how many at most, the latest ones; 0 is all.
	Limit int
	// Before, with the ID of a chain, is where the page before ended: by their
	// time, chains from then on.
	Before   segue.Time
	BeforeID string
}

// Chains returns chains by their time, the latest first, without their
// Submission, which is large: Chain has it.
func (s *Store) Chains(ctx context.Context, q ChainQuery) (chains []segue.Chain, err error) {
	defer s.wrap(&err, "list chains")
	var w where
	if q.User != "" {
		w.and("username = ", text(q.User))
	}
	if len(q.States) > 0 {
		var names []string
		for _, state := range q.States {
			names = append(names, "'"+state.String()+"'")
		}
		w.conditions = append(w.conditions, "state IN ("+strings.Join(names, ", ")+")")
	}
	if q.Live {
		w.conditions = append(w.conditions, "id IN (SELECT chain FROM links WHERE state IN ('submitting', 'queued', 'running'))")
	}
	if q.BeforeID != "" {
		w.args = append(w.args, int64(q.Before), q.BeforeID)
		n := len(w.args)
		w.conditions = append(w.conditions, fmt.Sprintf("(created < $%d OR created = $%d AND id > $%d)", n-1, n-1, n))
	}
	query := `SELECT ` + chainColumns + ` FROM chains` + w.clause() + ` ORDER BY created DESC, id`
	if q.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	return collect(ctx, s.read, scanChain, query, w.args...)
}

func scanChain(row scanner) (segue.Chain, error) {
	var c segue.Chain
	var terms string
	if err := row.Scan(chainFields(&c, &terms)...); err != nil {
		return segue.Chain{}, err
	}
	return c, finishChain(&c, terms)
}

func scanWholeChain(row scanner) (segue.Chain, error) {
	var c segue.Chain
	var terms string
	var submission []byte
	if err := row.Scan(append(chainFields(&c, &terms), &submission)...); err != nil {
		return segue.Chain{}, err
	}
	if err := finishChain(&c, terms); err != nil {
		return segue.Chain{}, err
	}
	var err error
	c.Submission, err = decodeSubmission(submission)
	return c, err
}

func chainFields(c *segue.Chain, terms *string) []any {
	return []any{
		&c.ID, &c.Name, &c.User,
		toInstant{&c.Created},
		toName[segue.ChainState]{&c.State, segue.ParseChainState},
		&c.Why,
		&c.Request.Nodes, &c.Request.GPUsPerNode,
		toSpan{&c.Request.Limit},
		&c.Request.Account, &c.Request.Partition, &c.Request.QOS, terms,
	}
}

func finishChain(c *segue.Chain, terms string) error {
	c.Request.User = c.User
	if err := json.Unmarshal([]byte(terms), &c.Terms); err != nil {
		return segue.Errorf(segue.Corrupt, "the terms of chain %s: %w", c.ID, err)
	}
	return nil
}
