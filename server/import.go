package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/traces"
)

// Import implements api.Histories. What came before the place where a history breaks off
// is kept.
func (h *histories) Import(ctx context.Context, cluster, format string, body io.Reader) (api.Imported, error) {
	f, err := traces.ParseFormat(format)
	if err != nil {
		return api.Imported{}, err
	}
	body, done, err := readable(body, f)
	if err != nil {
		return api.Imported{}, err
	}
	defer done()
	r, err := traces.NewReader(body, traces.Options{Format: f, Name: "the history"})
	if err != nil {
		return api.Imported{}, notOurs(err)
	}
	defer func() { _ = r.Close() }() // it was read
	kept, err := h.store.ImportJobs(ctx, cluster, theirs(r.All()))
	h.advisor.forget()
	h.counts.forget()
	h.statistics.forget()
	if err == nil {
		err = r.Usable()
	}
	if err != nil && kept.Read > 0 {
		err = fmt.Errorf("%w; %d jobs before it were read, %d of them new", err, kept.Read, kept.Changed)
	}
	if err != nil {
		return api.Imported{}, err
	}
	report := r.Report()
	out := api.Imported{
		Read: int64(kept.Read), Changed: int64(kept.Changed), Rejected: report.Rejected() + int64(kept.Refused), Skipped: report.Skipped(),
		Problems: append([]string{}, kept.Problems...), Format: r.Format().String(),
	}
	for _, f := range report.Findings() {
		for _, e := range f.Examples {
			out.Problems = append(out.Problems, f.Reason.String()+": "+e.String())
		}
	}
	return out, nil
}

// theirs are jobs of a history that somebody sent: where it is damaged, nothing of the
// server's is.
func theirs(jobs iter.Seq2[segue.Job, error]) iter.Seq2[segue.Job, error] {
	return func(yield func(segue.Job, error) bool) {
		for j, err := range jobs {
			if !yield(j, notOurs(err)) {
				return
			}
		}
	}
}

func notOurs(err error) error {
	if segue.KindOf(err) == segue.Corrupt {
		return segue.Errorf(segue.Invalid, "%w", err)
	}
	return err
}

// readable returns a body of a format as it can be read: Parquet, whose table of contents
// is at its end, from a file that has no name. done closes it.
func readable(body io.Reader, format traces.Format) (in io.Reader, done func(), err error) {
	start := bufio.NewReader(body)
	const magic = "PAR1"
	switch head, _ := start.Peek(len(magic)); { // what is wrong with it is read again
	case string(head) == magic:
	case format == traces.Parquet:
		return nil, nil, segue.Errorf(segue.Invalid, "the history is not Parquet: it does not begin with %s", magic)
	default:
		return start, func() {}, nil
	}
	f, err := os.CreateTemp("", "segue-import-")
	if err != nil {
		return nil, nil, segue.Errorf(segue.Unavailable, "keep the history while it is read: %w", err)
	}
	done = func() { _ = f.Close() } // nobody needs it any more
	if err = os.Remove(f.Name()); err == nil {
		_, err = io.Copy(f, start)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		done()
		return nil, nil, segue.Errorf(segue.Unavailable, "keep the history while it is read: %w", err)
	}
	return f, done, nil
}
