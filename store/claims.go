package store

import (
	"context"

	"github.com/segue-project/segue"
)

// Most is how much one user may have in a store at once.
type Most struct {
	// Chains are those that go on, active or paused.
	Chains int
	// Open are first links of which nobody knows yet whether they have a job.
	Open int
}

// ClaimChain is CreateChain for a chain whose user says which job its first link is.
// Of several at once, by whichever server, one gets a job, and all together get no more
// than is allowed. Conflict says also that the job is a link of another chain of the
// user's, Invalid that too many chains go on, Unavailable that too many links are open.
func (s *Store) ClaimChain(ctx context.Context, c segue.Chain, first segue.Link, most Most) (err error) {
	defer s.wrap(&err, "take over chain %s", c.ID)
	return s.createChain(ctx, c, first, func(t tx) error {
		if err := t.turn("chains of " + c.User); err != nil {
			return err
		}
		if err := t.mayHaveMore(c.User, most.Chains); err != nil {
			return err
		}
		return t.mayClaim(c.User, first, most.Open)
	})
}

// turn waits for all other changes that take the same turn, which wait for this one.
func (t tx) turn(name string) error {
	query := t.s.engine.turn()
	if query == "" {
		return nil
	}
	_, err := t.exec(query, text(name))
	return err
}

// mayHaveMore refuses one more chain to a user of whom as many go on as may.
func (t tx) mayHaveMore(user string, most int) error {
	var n int
	_, err := t.row([]any{&n}, `SELECT count(*) FROM chains WHERE username = $1 AND state IN ('active', 'paused')`, text(user))
	if err == nil && n >= most {
		err = segue.Errorf(segue.Invalid, "%d chains of %s go on already, which is the most: stop some", n, user)
	}
	return err
}

// mayClaim refuses a first link whose job is a link already of a chain of the user's, of
// one that was stopped too, and one more that is open. It begins with the links, since
// few of them have not ended.
func (t tx) mayClaim(user string, first segue.Link, most int) error {
	links, err := collect(t.ctx, t, scanLink, `SELECT `+linkColumnsOf("l")+` FROM links l CROSS JOIN chains c
		WHERE l.state IN ('submitting', 'queued', 'running') AND c.id = l.chain AND c.username = $1`, text(user))
	if err != nil {
		return err
	}
	open := 0
	for _, l := range links {
		switch {
		case l.State == segue.LinkSubmitting:
			open++
		case l.Job == first.Job:
			return segue.Errorf(segue.Conflict, "job %s is link %d of chain %s already", l.Job, l.Number, l.Chain)
		}
	}
	if first.State == segue.LinkSubmitting && open >= most {
		return segue.Errorf(segue.Unavailable, "the scheduler is still asked whether the first links of %d chains of %s have jobs", open, user)
	}
	return nil
}
