package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// addProgressFlag gives every command --progress, which shows progress where
// standard error is no terminal: in a log, say.
func addProgressFlag(root *cobra.Command) {
	show := root.PersistentFlags().Bool("progress", false, "show progress even when standard error is not a terminal")
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		if *show {
			cmd.Root().SetErr(progressLog{cmd.ErrOrStderr()})
		}
	}
}

// progressLog is a standard error on which the user asked for progress.
type progressLog struct{ io.Writer }

// Progress is one line on standard error that says how far a long command has
// come, how fast it is, and how long it will take. On a terminal the line is
// redrawn in place; with --progress elsewhere it is printed anew now and then;
// otherwise nothing is shown. It may be used by several goroutines.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer // nil: show nothing
	redraw   bool
	label    string
	total    int64 // 0: not known
	done     int64
	now      func() time.Time
	started  time.Time
	drawn    time.Time
	interval time.Duration // between two drawings
}

// NewProgress starts a progress line for total steps; a total of 0 is one that
// is not known. The caller ends it with Done.
func NewProgress(w io.Writer, label string, total int64) *Progress {
	p := &Progress{label: label, total: total, now: time.Now, interval: 5 * time.Second}
	if log, ok := w.(progressLog); ok {
		p.w, w = log.Writer, log.Writer
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.w, p.redraw, p.interval = w, true, 100*time.Millisecond
	}
	p.started = p.now()
	p.drawn = p.started
	return p
}

// Add counts n more steps.
func (p *Progress) Add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance(n)
}

// Set says that done of total steps are done. Of two reports that arrive in the
// wrong order the larger counts.
func (p *Progress) Set(done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = int64(total)
	p.advance(max(0, int64(done)-p.done))
}

func (p *Progress) advance(n int64) {
	p.done += n
	if p.w == nil {
		return
	}
	if now := p.now(); now.Sub(p.drawn) >= p.interval {
		p.drawn = now
		p.draw(now)
	}
}

// Done draws the line for the last time and leaves it there.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.w == nil {
		return
	}
	p.draw(p.now())
	if p.redraw {
		fmt.Fprintln(p.w)
	}
	p.w = nil
}

func (p *Progress) draw(now time.Time) {
	line := progressLine(p.label, p.done, p.total, now.Sub(p.started))
	if p.redraw {
		fmt.Fprintf(p.w, "\r%s\x1b[K", line)
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// progressLine returns for example
// "replaying [######..................]  25% 4500/18000, 1500/s, 9s left".
func progressLine(label string, done, total int64, elapsed time.Duration) string {
	rate := 0.0
	if elapsed > 0 {
		rate = float64(done) / elapsed.Seconds()
	}
	digits := 0
	if rate < 10 {
		digits = 1
	}
	if total <= 0 {
		return fmt.Sprintf("%s %d, %.*f/s", label, done, digits, rate)
	}
	const cells = 24
	share := min(float64(done)/float64(total), 1)
	filled := int(share * cells)
	bar := strings.Repeat("#", filled) + strings.Repeat(".", cells-filled)
	line := fmt.Sprintf("%s [%s] %3.0f%% %d/%d, %.*f/s", label, bar, 100*share, done, total, digits, rate)
	switch {
	case done >= total:
		line += fmt.Sprintf(", took %s", elapsed.Round(time.Second))
	case rate > 0:
		left := time.Duration(float64(total-done) / rate * float64(time.Second))
		line += fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return line
}
