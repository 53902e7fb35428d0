package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/store"
	"github.com/segue-project/segue/traces"
)

// listServedHistories shows what a server holds of each cluster.
func listServedHistories(cmd *cobra.Command, ask *serverFlags, asJSON bool) error {
	c, err := ask.client()
	if err != nil {
		return err
	}
	all, err := c.Histories(cmd.Context())
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if asJSON {
		for _, h := range all {
			if err := json.NewEncoder(out).Encode(h); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "The server holds no history. `segue history import --server` sends it one.")
		return err
	}
	held := make([]store.History, 0, len(all))
	for i := range all {
		h, err := servedHistory(&all[i])
		if err != nil {
			return fmt.Errorf("the server's history of cluster %s: %w", safe(all[i].Cluster), err)
		}
		held = append(held, h)
	}
	tabulateHistories(out, held)
	return nil
}

func servedHistory(a *api.HistoryAnswer) (h store.History, err error) {
	h = store.History{Cluster: a.Cluster, Jobs: a.Jobs}
	for _, t := range []struct {
		into *segue.Time
		text *string
	}{{&h.First, a.First}, {&h.Last, a.Last}, {&h.Seen, a.Seen}, {&h.Accounted, a.Accounted}} {
		if *t.into, err = servedInstant(t.text); err != nil {
			return h, err
		}
	}
	return h, nil
}

// sendHistory sends a history to a server as it is read.
func sendHistory(cmd *cobra.Command, ask *serverFlags, history *cli.History, cluster string) error {
	if _, err := traces.ParseFormat(history.Format); err != nil {
		return fmt.Errorf("--trace-format: %w", err)
	}
	c, err := ask.client()
	if err != nil {
		return err
	}
	in, size, err := openToSend(history.Path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it is only read
	line := cli.NewProgress(cmd.ErrOrStderr(), "bytes sent", size)
	done, err := c.ImportHistory(cmd.Context(), cluster, client.HistoryFile{Content: watched{in, line}, Format: history.Format})
	line.Done()
	if segue.KindOf(err) == segue.Invalid {
		return fmt.Errorf("%s: %w", history.Path, err)
	}
	if err != nil {
		return err
	}
	tellImported(cmd.OutOrStdout(), cluster, done.Read, done.Changed)
	if done.Rejected > 0 {
		first := strings.Join(done.Problems[:min(1, len(done.Problems))], "") // those of what is left out come first
		fmt.Fprintf(cmd.ErrOrStderr(), "segue: %s: %d of %d records cannot be used and are left out, the first as %s\n",
			history.Path, done.Rejected, done.Rejected+done.Read, safe(first))
	}
	return nil
}

// openToSend opens a file, or with the path "-" the standard input, and returns its size
// in bytes, 0 where it is not known.
func openToSend(path string, stdin io.Reader) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(stdin), 0, nil
	}
	return traces.OpenFile(path)
}

// watched is what is sent, with a line that says how far it has come.
type watched struct {
	io.Reader
	line *cli.Progress
}

// Read implements io.Reader.
func (w watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.line.Add(int64(n))
	return n, err
}
