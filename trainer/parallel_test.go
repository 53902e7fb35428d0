package trainer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

func TestEveryIndexIsDoneOnce(t *testing.T) {
	t.Parallel()
	var counts [100]atomic.Int32
	err := inParallel(len(counts), func() (func(i int) error, error) {
		return func(i int) error { counts[i].Add(1); return nil }, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range counts {
		if n := counts[i].Load(); n != 1 {
			t.Errorf("index %d was done %d times, want once", i, n)
		}
	}
}

// Whoever fails, all end, and that error is returned.
func TestFirstErrorEndsAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	endless := func(ctx context.Context, tasks chan<- int) error {
		for i := 0; ; i++ {
			if err := hand(ctx, tasks, i); err != nil {
				return err
			}
		}
	}
	idle := func(context.Context) (func(int) error, error) { return func(int) error { return nil }, nil }
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx     context.Context
		produce func(context.Context, chan<- int) error
		prepare func(context.Context) (func(int) error, error)
		want    error
	}{
		"in the making": {t.Context(), func(context.Context, chan<- int) error { return broken }, idle, broken},
		"in a preparation": {t.Context(), endless, func(context.Context) (func(int) error, error) {
			return nil, broken
		}, broken},
		"in a task": {t.Context(), endless, func(context.Context) (func(int) error, error) {
			return func(i int) error { return map[bool]error{true: broken}[i == 7] }, nil
		}, broken},
		"by the caller": {cancelled, endless, idle, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := spread(tt.ctx, 3, tt.produce, tt.prepare); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	if err := inParallel(0, func() (func(int) error, error) { return nil, broken }); err != nil {
		t.Errorf("nothing to do: error %v", err)
	}
}
