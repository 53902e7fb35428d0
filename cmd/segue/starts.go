package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/traces"
)

// writeStarts writes one line "id,start" per job of the history to the file at
// path, or to stdout if that is "-". The lines are sorted by id; the start is in
// whole seconds on the history's own clock, -1 for a job that never started.
func writeStarts(path string, stdout io.Writer, h *traces.History, starts []segue.Time) error {
	if path == "-" {
		return printStarts(stdout, h, starts)
	}
	return cli.WriteFile(path, func(w io.Writer) error { return printStarts(w, h, starts) })
}

func printStarts(w io.Writer, h *traces.History, starts []segue.Time) error {
	order := make([]int, len(h.Jobs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := h.Jobs[a].ID, h.Jobs[b].ID
		return cmp.Or(cmp.Compare(x.Number, y.Number), cmp.Compare(x.Sub, y.Sub))
	})
	zero := clockZero(h.Header)
	out := bufio.NewWriter(w)
	for _, i := range order {
		second := int64(-1)
		if starts[i].Known() {
			second = starts[i].Unix() - zero
		}
		fmt.Fprintf(out, "%s,%d\n", h.Jobs[i].ID, second)
	}
	return out.Flush()
}

// clockZero returns the second since the Unix epoch in which the history's own
// clock is 0: an SWF file counts from its start, every other format tells the
// time of day.
func clockZero(head traces.Header) int64 {
	if head.UnixStart.Known() {
		return head.UnixStart.Unix()
	}
	return 0
}
