package cli

import (
	"bytes"
	"io"
	"sync"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		done, total int64
		elapsed     time.Duration
		want        string
	}{
		"a quarter done": {
			4500, 18000, 3 * time.Second,
			"replaying [######..................]  25% 4500/18000, 1500/s, 9s left",
		},
		"slow steps keep a digit": {
			1, 4, 2 * time.Second,
			"replaying [######..................]  25% 1/4, 0.5/s, 6s left",
		},
		"all done": {
			18000, 18000, 12 * time.Second,
			"replaying [########################] 100% 18000/18000, 1500/s, took 12s",
		},
		"more than was announced": {
			20, 10, time.Second,
			"replaying [########################] 100% 20/10, 20/s, took 1s",
		},
		"nothing done yet": {
			0, 10, 0,
			"replaying [........................]   0% 0/10, 0.0/s",
		},
		"a total that is not known": {
			300, 0, 3 * time.Second,
			"replaying 300, 100/s",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := progressLine("replaying", tt.done, tt.total, tt.elapsed); got != tt.want {
				t.Errorf("line is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestProgressIsQuietWhereNobodyLooks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := NewProgress(&out, "replaying", 2)
	p.Add(2)
	p.Done()
	if out.Len() > 0 {
		t.Errorf("a progress line was written to a buffer: %q", &out)
	}
}

func TestProgressInALogIsPrintedNowAndThen(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := NewProgress(progressLog{&out}, "replaying", 4)
	clock := p.started
	p.now = func() time.Time { return clock }
	for range 4 {
		clock = clock.Add(3 * time.Second)
		p.Add(1)
	}
	p.Done()
	want := "replaying [############............]  50% 2/4, 0.3/s, 6s left\n" +
		"replaying [########################] 100% 4/4, 0.3/s, took 12s\n" +
		"replaying [########################] 100% 4/4, 0.3/s, took 12s\n"
	if got := out.String(); got != want {
		t.Errorf("progress is\n%s, want\n%s", got, want)
	}
}

func TestProgressThatIsSetFromManySidesCountsEachStepOnce(t *testing.T) {
	t.Parallel()
	p := NewProgress(io.Discard, "judged", 0)
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			for done := w + 1; done <= 800; done += 8 {
				p.Set(done, 800)
			}
		})
	}
	workers.Wait()
	if p.done != 800 || p.total != 800 {
		t.Errorf("%d of %d steps are done, want 800 of 800", p.done, p.total)
	}
	p.Set(799, 800) // a report that was overtaken
	if p.done != 800 {
		t.Errorf("after an old report %d steps are done, want 800", p.done)
	}
}
