package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/segue-project/segue"
)

const (
	linkColumns = `chain, number, attempt, state, job_number, job_sub, job_kind, planned, submitted, start_at, end_at, ready, ` +
		`ended, exit_code, signal, restarts`
	linkWidth = 16
)

// linkColumnsOf returns linkColumns, of a table by another name.
func linkColumnsOf(table string) string {
	return table + "." + strings.ReplaceAll(linkColumns, ", ", ", "+table+".")
}

// NextLink records that the next link of a chain is about to be submitted,
// together with the decision that led to it, and returns it: in state submitting,
// the number after the last one's, or the next attempt at it where that was lost.
// Its token is the scheduler's to carry.
//
// last is the latest link that the caller knows of. Conflict says that it is not
// the latest, that one waits, or that the chain is not active. Of several callers
// at once one succeeds.
func (s *Store) NextLink(ctx context.Context, last segue.Link, d segue.Decision) (next segue.Link, err error) {
	defer s.wrap(&err, "plan the link after %s", last.Token())
	next = segue.Link{
		Chain: last.Chain, Number: last.Number + 1, Attempt: 1, State: segue.LinkSubmitting,
		Planned: d.At, Submitted: segue.NoTime, Start: segue.NoTime, End: segue.NoTime, Ready: segue.NoTime,
	}
	if last.State == segue.LinkLost {
		next.Number, next.Attempt = last.Number, last.Attempt+1
	}
	err = s.change(ctx, func(t tx) error {
		state, err := t.chainState(last.Chain)
		if err != nil {
			return err
		}
		if state != segue.ChainActive {
			return segue.Errorf(segue.Conflict, "the chain is %s", state)
		}
		if err := t.mayFollow(last); err != nil {
			return err
		}
		if err := t.insertLink(&next); err != nil {
			return err
		}
		return t.recordDecision(Recorded{Chain: next.Chain, Number: next.Number, Attempt: next.Attempt, Decision: d})
	})
	if err != nil {
		return segue.Link{}, err
	}
	return next, nil
}

// mayFollow refuses a successor to a link that is not the latest of its chain,
// and one beside another that waits.
func (t tx) mayFollow(last segue.Link) error {
	var latest segue.Link
	ok, err := t.row(linkFields(&latest), `SELECT `+linkColumns+` FROM links WHERE chain = $1 ORDER BY number DESC, attempt DESC LIMIT 1`, last.Chain)
	switch {
	case err != nil:
		return err
	case !ok || latest.Number != last.Number || latest.Attempt != last.Attempt:
		return segue.Errorf(segue.Conflict, "the latest link is %s", latest.Token())
	case (latest.State == segue.LinkLost) != (last.State == segue.LinkLost):
		return segue.Errorf(segue.Conflict, "the latest link is %s", latest.State)
	}
	var waits bool
	_, err = t.row([]any{&waits}, `SELECT EXISTS (SELECT 1 FROM links WHERE chain = $1 AND state IN ('submitting', 'queued'))`, last.Chain)
	if err == nil && waits {
		err = segue.Errorf(segue.Conflict, "a link of the chain waits already")
	}
	return err
}

func (t tx) insertLink(l *segue.Link) error {
	_, err := t.exec(`INSERT INTO links (`+linkColumns+`) VALUES (`+placeholders(linkWidth)+`)`,
		l.Chain, l.Number, l.Attempt, l.State.String(), l.Job.Number, l.Job.Sub, int64(l.Job.Kind),
		instant(l.Planned), instant(l.Submitted), instant(l.Start), instant(l.End), instant(l.Ready),
		l.Ended.String(), l.ExitCode, l.Signal, l.Restarts)
	return err
}

// UpdateLink records what is known of a link now. was is the state in which the
// caller saw it; Conflict says that it is in another one by now, or may not go
// from there to its new state. When the link was ready is not forgotten unless it
// was requeued meanwhile.
func (s *Store) UpdateLink(ctx context.Context, was segue.LinkState, l segue.Link) (err error) {
	defer s.wrap(&err, "update link %s from %s to %s", l.Token(), was, l.State)
	if was != l.State && !was.MayBecome(l.State) {
		return segue.Errorf(segue.Conflict, "a link that is %s may not become %s", was, l.State)
	}
	return s.change(ctx, func(t tx) error {
		n, err := t.exec(`UPDATE links SET state = $5, job_number = $6, job_sub = $7, job_kind = $8,
			planned = $9, submitted = $10, start_at = $11, end_at = $12,
			ready = CASE WHEN restarts = $17 THEN COALESCE($13, ready) ELSE $13 END,
			ended = $14, exit_code = $15, signal = $16, restarts = $17
			WHERE chain = $1 AND number = $2 AND attempt = $3 AND state = $4`,
			l.Chain, l.Number, l.Attempt, was.String(), l.State.String(), l.Job.Number, l.Job.Sub, int64(l.Job.Kind),
			instant(l.Planned), instant(l.Submitted), instant(l.Start), instant(l.End), instant(l.Ready),
			l.Ended.String(), l.ExitCode, l.Signal, l.Restarts)
		if err != nil || n == 1 {
			return err
		}
		now, err := t.link(&l)
		if err != nil {
			return err
		}
		return segue.Errorf(segue.Conflict, "it is %s by now", now.State)
	})
}

// MarkReady records that a link is of use since the instant at. What it said
// first counts. NotFound says that there is no such link, Conflict that it does
// not run.
func (s *Store) MarkReady(ctx context.Context, token string, at segue.Time) (err error) {
	defer s.wrap(&err, "mark %s ready", token)
	l, err := linkOf(token)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t tx) error {
		n, err := t.exec(`UPDATE links SET ready = COALESCE(ready, $4)
			WHERE chain = $1 AND number = $2 AND attempt = $3 AND state IN ('submitting', 'queued', 'running')`,
			l.Chain, l.Number, l.Attempt, instant(at))
		if err != nil || n == 1 {
			return err
		}
		now, err := t.link(&l)
		if err != nil {
			return err
		}
		return segue.Errorf(segue.Conflict, "it is %s", now.State)
	})
}

// link returns a link by its identity.
func (t tx) link(id *segue.Link) (l segue.Link, err error) {
	ok, err := t.row(linkFields(&l), `SELECT `+linkColumns+` FROM links WHERE chain = $1 AND number = $2 AND attempt = $3`, id.Chain, id.Number, id.Attempt)
	if err == nil && !ok {
		err = segue.Errorf(segue.NotFound, "there is no such link")
	}
	return l, err
}

// LinkByToken returns the link whose submission carries the token.
func (s *Store) LinkByToken(ctx context.Context, token string) (l segue.Link, err error) {
	defer s.wrap(&err, "find link %s", token)
	id, err := linkOf(token)
	if err != nil {
		return segue.Link{}, err
	}
	found, err := collect(ctx, s.read, scanLink, `SELECT `+linkColumns+` FROM links WHERE chain = $1 AND number = $2 AND attempt = $3`, id.Chain, id.Number, id.Attempt)
	if err == nil && len(found) == 0 {
		err = segue.Errorf(segue.NotFound, "there is no such link")
	}
	if err != nil {
		return segue.Link{}, err
	}
	return found[0], nil
}

// linkOf returns the identity in a token.
func linkOf(token string) (segue.Link, error) {
	found, chain, number, attempt, ok := segue.FindToken(token)
	if !ok || found != token {
		return segue.Link{}, segue.Errorf(segue.Invalid, "want a token like %s", (&segue.Link{Chain: "k3v9q2", Number: 7, Attempt: 1}).Token())
	}
	return segue.Link{Chain: chain, Number: number, Attempt: attempt}, nil
}

// Links returns all links of a chain, the first one first.
func (s *Store) Links(ctx context.Context, chain string) (links []segue.Link, err error) {
	defer s.wrap(&err, "list links of chain %s", chain)
	return collect(ctx, s.read, scanLink, `SELECT `+linkColumns+` FROM links WHERE chain = $1 ORDER BY number, attempt`, chain)
}

// liveLinks asks for what LiveLinks returns, in no order: sorted, SQLite would
// look at every link there ever was. Of two links with the same key in the two
// parts there is none. The chains come first in the join, and a look at the key
// finds the latest link of each, however many came before.
var liveLinks = `SELECT ` + linkColumns + ` FROM links WHERE state IN ('submitting', 'queued', 'running')
	UNION ALL
	SELECT ` + linkColumnsOf("l") + ` FROM chains c CROSS JOIN links l
		WHERE c.state IN ('active', 'paused') AND l.chain = c.id AND l.state IN ('ended', 'lost')
		AND l.number = (SELECT max(number) FROM links n WHERE n.chain = c.id)
		AND l.attempt = (SELECT max(attempt) FROM links a WHERE a.chain = c.id AND a.number = l.number)`

// LiveLinks returns what a loop over all chains has to look at, by chain: every
// link that has not ended, and the latest one of each chain that goes on.
func (s *Store) LiveLinks(ctx context.Context) (links []segue.Link, err error) {
	defer s.wrap(&err, "list live links")
	links, err = collect(ctx, s.read, scanLink, liveLinks)
	slices.SortFunc(links, func(a, b segue.Link) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Number, b.Number), cmp.Compare(a.Attempt, b.Attempt))
	})
	return links, err
}

// Submissions returns when the later links of a user's chains were submitted, or about to
// be, from one instant to another, the earliest first.
func (s *Store) Submissions(ctx context.Context, user string, from, to segue.Time) (at []segue.Time, err error) {
	defer s.wrap(&err, "list submissions of %s", user)
	scan := func(row scanner) (t segue.Time, err error) { return t, row.Scan(toInstant{&t}) }
	return collect(ctx, s.read, scan, `SELECT planned FROM links JOIN chains ON chain = id
		WHERE username = $1 AND planned >= $2 AND planned <= $3 AND (number > 1 OR attempt > 1) ORDER BY planned`, text(user), int64(from), int64(to))
}

func scanLink(row scanner) (l segue.Link, err error) {
	err = row.Scan(linkFields(&l)...)
	return l, err
}

func linkFields(l *segue.Link) []any {
	return []any{
		&l.Chain, &l.Number, &l.Attempt,
		toName[segue.LinkState]{&l.State, segue.ParseLinkState},
		&l.Job.Number, &l.Job.Sub, &l.Job.Kind,
		toInstant{&l.Planned},
		toInstant{&l.Submitted},
		toInstant{&l.Start},
		toInstant{&l.End},
		toInstant{&l.Ready},
		toName[segue.JobState]{&l.Ended, parseJobState},
		&l.ExitCode, &l.Signal, &l.Restarts,
	}
}
