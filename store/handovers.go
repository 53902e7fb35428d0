package store

import (
	"context"

	"github.com/segue-project/segue"
)

// Handover is a link that started, with the decision that led to its submission
// and, where it is known, what came of it.
type Handover struct {
	Recorded
	Submitted, Start segue.Time
}

// Handovers returns the latest n links that started and were planned from an instant
// on, the latest first: of one user, or with "" of everybody. Links that nothing
// was decided about, such as the first of a chain, are not among them.
func (s *Store) Handovers(ctx context.Context, user string, from segue.Time, n int) (all []Handover, err error) {
	defer s.wrap(&err, "list handovers")
	return collect(ctx, s.read, func(row scanner) (h Handover, err error) {
		r, err := scanDecision(trailing{row, []any{toInstant{&h.Submitted}, toInstant{&h.Start}}})
		h.Recorded = r
		return h, err
	}, `SELECT `+decisionsOf("d")+`, o.at, o.interruption, o.overlap, l.submitted, l.start_at
		FROM links l
		JOIN decisions d ON d.chain = l.chain AND d.number = l.number AND d.attempt = l.attempt AND d.at = l.planned
		LEFT JOIN outcomes o ON o.chain = l.chain AND o.number = l.number
		WHERE l.planned >= $1 AND l.submitted IS NOT NULL AND l.start_at IS NOT NULL
			AND ($2 = '' OR l.chain IN (SELECT id FROM chains WHERE username = $2))
		ORDER BY l.planned DESC, l.chain LIMIT $3`, int64(from), text(user), n)
}

// OpenDecisions returns the latest decision about each chain that goes on, as long
// as the link that it is about has not started: of one user, or with "" of everybody.
func (s *Store) OpenDecisions(ctx context.Context, user string) (all []Recorded, err error) {
	defer s.wrap(&err, "list open decisions")
	return collect(ctx, s.read, scanDecision, `SELECT `+decisionsOf("d")+`, NULL, NULL, NULL
		FROM chains c CROSS JOIN decisions d
		WHERE c.state IN ('active', 'paused') AND ($1 = '' OR c.username = $1) AND d.chain = c.id
			AND d.at = (SELECT max(at) FROM decisions m WHERE m.chain = c.id)
			AND NOT EXISTS (SELECT 1 FROM links l WHERE l.chain = d.chain AND l.number = d.number AND l.start_at IS NOT NULL)
		ORDER BY d.chain, d.number, d.attempt`, text(user))
}

// trailing is a row with more columns at its end than whoever scans it knows.
type trailing struct {
	scanner
	more []any
}

// Scan implements scanner.
func (t trailing) Scan(into ...any) error { return t.scanner.Scan(append(into, t.more...)...) }
