package store

import (
	"context"
	"errors"
	"time"

	"github.com/segue-project/segue"
)

// Most is how much one user may have in a store at once.
type Most struct {
	// Chains are those that go on, active or paused.
	Chains int
	// Recent are those that were made within any 30 days, also if they are over.
	Recent int
	// Open are first links of which nobody knows yet whether they have a job.
	Open int
	// Bytes are what was captured at the submissions of chains, also of those that are
	// over, before one more comes.
	Bytes int64
}

// recent is the span of Most.Recent.
const recent = 30 * 24 * time.Hour

// ErrLinkAlready is wrapped by the error of a chain whose first link's job is a link of
// another chain of the user's.
var ErrLinkAlready = errors.New("it is a link already")

// ClaimChain is CreateChain for a chain whose user says which job its first link is.
// Of several at once, by whichever server, one gets a job, and all together get no more
// than is allowed. Conflict says also that the job is a link of another chain of the
// user's (ErrLinkAlready), Invalid that too many chains go on, Unavailable that too many links are open.
// Where too many bytes were captured, those of chains that are over are forgotten.
func (s *Store) ClaimChain(ctx context.Context, c segue.Chain, first segue.Link, most Most) (err error) {
	defer s.wrap(&err, "take over chain %s", c.ID)
	return s.createChain(ctx, c, first, func(t tx) error {
		if err := t.turn("chains of " + c.User); err != nil {
			return err
		}
		if err := t.mayHaveMore(c, most); err != nil {
			return err
		}
		if err := t.makeRoom(c.User, most.Bytes); err != nil {
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

// mayHaveMore refuses one more chain to a user of whom as many go on as may, or were
// made.
func (t tx) mayHaveMore(c segue.Chain, most Most) error {
	var n int
	_, err := t.row([]any{&n}, `SELECT count(*) FROM chains WHERE username = $1 AND state IN ('active', 'paused')`, text(c.User))
	if err == nil && n >= most.Chains {
		err = segue.Errorf(segue.Invalid, "%d chains of %s go on already, which is the most: stop some", n, c.User)
	}
	if err != nil {
		return err
	}
	_, err = t.row([]any{&n}, `SELECT count(*) FROM chains WHERE username = $1 AND created >= $2`, text(c.User), int64(c.Created.Add(-recent)))
	if err == nil && n >= most.Recent {
		err = segue.Errorf(segue.Invalid, "%d chains of %s were made within 30 days, which is the most", n, c.User)
	}
	return err
}

// makeRoom forgets what was captured of a user's chains that are over, the oldest first,
// until it is no more than may be. It refuses one more chain where those that go on have
// more than that.
func (t tx) makeRoom(user string, most int64) error {
	var kept int64
	_, err := t.row([]any{&kept}, `SELECT coalesce(sum(length(content)), 0) FROM chains JOIN submissions ON chain = id WHERE username = $1`, text(user))
	if err != nil || kept <= most {
		return err
	}
	nothing, err := encodeSubmission(segue.Submission{})
	if err != nil {
		return err
	}
	type captured struct {
		chain string
		bytes int64
	}
	over, err := collect(t.ctx, t, func(row scanner) (c captured, err error) {
		err = row.Scan(&c.chain, &c.bytes)
		return c, err
	}, `SELECT id, length(content) FROM chains JOIN submissions ON chain = id
		WHERE username = $1 AND state NOT IN ('active', 'paused') AND length(content) > $2 ORDER BY created, id`, text(user), len(nothing))
	if err != nil {
		return err
	}
	for _, c := range over {
		if kept <= most {
			return nil
		}
		if _, err := t.exec(`UPDATE submissions SET content = $1 WHERE chain = $2`, nothing, c.chain); err != nil {
			return err
		}
		kept -= c.bytes - int64(len(nothing))
	}
	if kept > most {
		return segue.Errorf(segue.Invalid, "the scripts and environments of the chains of %s that go on take %d bytes, and may take %d: stop some", user, kept, most)
	}
	return nil
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
			return segue.Errorf(segue.Conflict, "job %s is link %d of chain %s: %w", l.Job, l.Number, l.Chain, ErrLinkAlready)
		}
	}
	if first.State == segue.LinkSubmitting && open >= most {
		return segue.Errorf(segue.Unavailable, "the scheduler is still asked whether the first links of %d chains of %s have jobs", open, user)
	}
	return nil
}
