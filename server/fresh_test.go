package server

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// A description of a history, which reads all its jobs, serves for a minute, and is
// made anew when jobs come in through the server.
func TestAHistoryIsNotReadForEveryQuestion(t *testing.T) {
	t.Parallel()
	s, clock := openStore(t), &clock{at: t0}
	srv, err := New(s, Config{Now: clock.now, Holder: "one", User: "segue", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h := newHistories(s, srv.advisor, clock.now)
	jobs := func(when string, counted, described int64) {
		t.Helper()
		all, err := h.Histories(t.Context())
		if err != nil || len(all) != 1 || all[0].Jobs != counted {
			t.Errorf("%s: histories %+v, %v; want one of %d jobs", when, all, err, counted)
		}
		about, err := h.Statistics(t.Context(), "ls6")
		if err != nil || about.Jobs != described {
			t.Errorf("%s: a description of %d jobs, %v; want %d", when, about.Jobs, err, described)
		}
	}
	if _, err := h.Statistics(t.Context(), "ls6"); segue.KindOf(err) != segue.NotFound {
		t.Errorf("without a history: %v, want an error of kind not found", err)
	}
	keepHistory(t, s, "ls6", t0, 20)
	jobs("at first", 20, 20)
	keepHistory(t, s, "ls6", t0, 50)
	jobs("when another has brought jobs", 20, 20)
	clock.advance(countsFresh)
	jobs("10 s later", 50, 20)
	clock.advance(time.Minute)
	jobs("a minute later", 50, 50)
	const line = "; UnixStartTime: 1700000000\n99 0 10 60 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n"
	if _, err := h.Import(t.Context(), "ls6", "swf", strings.NewReader(line)); err != nil {
		t.Fatal(err)
	}
	jobs("after an import", 51, 51)
}
