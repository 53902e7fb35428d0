package trainer

import (
	"context"
	"runtime"
	"sync"
)

// inParallel calls what prepare returns for every index below n, on as many
// goroutines as there are processors, each with a preparation of its own. It
// returns one of the errors, if there were any, once all goroutines have ended.
func inParallel(n int, prepare func() (func(i int) error, error)) error {
	return spread(context.Background(), min(runtime.GOMAXPROCS(0), n), func(ctx context.Context, tasks chan<- int) error {
		for i := range n {
			if err := hand(ctx, tasks, i); err != nil {
				return err
			}
		}
		return nil
	}, func(context.Context) (func(i int) error, error) { return prepare() })
}

// spread hands what produce makes to so many goroutines, each of which calls what
// prepare returned to it. The first error, of whichever side, or the end of ctx
// ends all; it is returned once all goroutines have ended.
func spread[T any](
	ctx context.Context, workers int,
	produce func(ctx context.Context, tasks chan<- T) error, prepare func(ctx context.Context) (func(T) error, error),
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tasks := make(chan T)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			do, err := prepare(ctx)
			for err == nil {
				t, more := <-tasks
				if !more {
					return
				}
				err = do(t)
			}
			cancel(err)
		})
	}
	err := produce(ctx, tasks)
	close(tasks)
	running.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// hand gives one task to whichever goroutine takes it, unless ctx ends first.
func hand[T any](ctx context.Context, tasks chan<- T, t T) error {
	select {
	case tasks <- t:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
