package trainer

import (
	"runtime"
	"sync"
)

// inParallel calls what prepare returns for every index below n, on as many
// goroutines as there are processors, each with a preparation of its own. It
// returns one of the errors, if there were any, once all goroutines have ended.
func inParallel(n int, prepare func() (func(i int) error, error)) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	tasks, errs := make(chan int), make(chan error, workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			do, err := prepare()
			for i := range tasks {
				if err == nil {
					err = do(i)
				}
			}
			if err != nil {
				errs <- err
			}
		})
	}
	for i := range n {
		tasks <- i
	}
	close(tasks)
	running.Wait()
	close(errs)
	return <-errs
}
