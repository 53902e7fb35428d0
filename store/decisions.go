package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// Recorded is a decision about the next link of a chain, as it is kept.
type Recorded struct {
	Chain string
	// Number and Attempt are of the link that would be, or was, submitted.
	Number, Attempt int
	Decision        segue.Decision
	Outcome         *Outcome // of that link; nil while it is not known
}

// Outcome is what became of the hand-over to a link: how long the work stood
// still before it started, and how long it ran beside its predecessor.
type Outcome struct {
	Chain        string
	Number       int // of the link
	At           segue.Time
	Interruption time.Duration
	Overlap      time.Duration
}

const (
	decisionColumns = `chain, number, attempt, at, policy, model, submit, submit_at, remaining, prefer, request, forecast, alternatives, reason`
	decisionWidth   = 14
)

// RecordDecision records a decision. The same one again changes nothing. Of a
// forecast of more than 21 waits its 21 quantiles from 0 to 1 are kept.
func (s *Store) RecordDecision(ctx context.Context, r Recorded) (err error) {
	defer s.wrap(&err, "record a decision of chain %s", r.Chain)
	return s.change(ctx, func(t tx) error { return t.recordDecision(r) })
}

func (t tx) recordDecision(r Recorded) error {
	d := r.Decision
	var texts [3]string
	for i, part := range []any{requestOf(d.Request), forecastOf(d.Forecast), alternativesOf(d.Alternatives)} {
		encoded, err := json.Marshal(part)
		if err != nil {
			return segue.Errorf(segue.Invalid, "a decision of %s: %w", d.Policy, err)
		}
		texts[i] = string(encoded)
	}
	submit := 0
	if d.Submit {
		submit = 1
	}
	_, err := t.exec(`INSERT INTO decisions (`+decisionColumns+`) VALUES (`+placeholders(decisionWidth)+`) ON CONFLICT DO NOTHING`,
		r.Chain, r.Number, r.Attempt, int64(d.At), text(d.Policy), text(d.Model), submit, instant(d.SubmitAt), span(d.Remaining),
		float64(d.Prefer), texts[0], texts[1], texts[2], text(d.Reason))
	return err
}

// Decisions returns the latest n decisions of a chain, the latest first, with
// what came of them.
func (s *Store) Decisions(ctx context.Context, chain string, n int) (latest []Recorded, err error) {
	return s.DecisionsBefore(ctx, chain, Place{At: segue.Never}, n)
}

// Place is that of a decision among those of a chain, which are in the order of its
// fields.
type Place struct {
	At              segue.Time
	Number, Attempt int
}

// DecisionsBefore returns the latest n decisions of a chain that come before a place,
// the latest first, with what came of them.
func (s *Store) DecisionsBefore(ctx context.Context, chain string, before Place, n int) (latest []Recorded, err error) {
	defer s.wrap(&err, "list decisions of chain %s", chain)
	return collect(ctx, s.read, scanDecision,
		`SELECT `+decisionsOf("d")+`, o.at, o.interruption, o.overlap
		FROM decisions d LEFT JOIN outcomes o ON o.chain = d.chain AND o.number = d.number
		WHERE d.chain = $1 AND d.at <= $2 AND (d.at < $2 OR d.number < $3 OR d.number = $3 AND d.attempt < $4)
		ORDER BY d.at DESC, d.number DESC, d.attempt DESC LIMIT $5`, chain, int64(before.At), before.Number, before.Attempt, n)
}

// decisionsOf returns the columns of a decision in the table of that name.
func decisionsOf(table string) string {
	return table + "." + strings.ReplaceAll(decisionColumns, ", ", ", "+table+".")
}

// scanDecision reads a decision, then the three columns of its outcome.
func scanDecision(row scanner) (Recorded, error) {
	var r Recorded
	var request, forecast, alternatives string
	var at, interruption, overlap *int64
	d := &r.Decision
	err := row.Scan(&r.Chain, &r.Number, &r.Attempt, toInstant{&d.At}, &d.Policy, &d.Model, &d.Submit, toInstant{&d.SubmitAt},
		toSpan{&d.Remaining}, &d.Prefer, &request, &forecast, &alternatives, &d.Reason, &at, &interruption, &overlap)
	if err != nil {
		return Recorded{}, err
	}
	var req storedRequest
	var fc storedForecast
	var alts []storedAlternative
	for encoded, into := range map[*string]any{&request: &req, &forecast: &fc, &alternatives: &alts} {
		if err := json.Unmarshal([]byte(*encoded), into); err != nil {
			return Recorded{}, segue.Errorf(segue.Corrupt, "a decision of chain %s at %s: %w", r.Chain, d.At, err)
		}
	}
	d.Request, d.Forecast, d.Alternatives = req.value(), fc.value(), valuesOf(alts)
	if at != nil {
		r.Outcome = &Outcome{r.Chain, r.Number, segue.Time(*at), spanOf(*interruption), spanOf(*overlap)}
	}
	return r, nil
}

// RecordOutcome records what became of the hand-over to a link. A later word
// about the same link replaces an earlier one.
func (s *Store) RecordOutcome(ctx context.Context, o Outcome) (err error) {
	defer s.wrap(&err, "record the outcome of link %d of chain %s", o.Number, o.Chain)
	return s.change(ctx, func(t tx) error {
		_, err := t.exec(`INSERT INTO outcomes (chain, number, at, interruption, overlap) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (chain, number) DO UPDATE SET at = excluded.at, interruption = excluded.interruption, overlap = excluded.overlap`,
			o.Chain, o.Number, int64(o.At), span(o.Interruption), span(o.Overlap))
		return err
	})
}

// Outcomes returns what is known of the hand-overs of a chain, by link.
func (s *Store) Outcomes(ctx context.Context, chain string) (outcomes []Outcome, err error) {
	defer s.wrap(&err, "list outcomes of chain %s", chain)
	return collect(ctx, s.read, func(row scanner) (o Outcome, err error) {
		err = row.Scan(&o.Chain, &o.Number, toInstant{&o.At}, toSpan{&o.Interruption}, toSpan{&o.Overlap})
		return o, err
	}, `SELECT chain, number, at, interruption, overlap FROM outcomes WHERE chain = $1 ORDER BY number`, chain)
}
