package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/policy"
)

// serverFlags name a server to ask.
type serverFlags struct{ server, tokenFile string }

func (f *serverFlags) add(flags *pflag.FlagSet, about string) {
	flags.StringVar(&f.server, "server", "", "ask the server at http://HOST:PORT, https://... or unix:///PATH, "+about)
	flags.StringVar(&f.tokenFile, "token-file", "", "file that holds a token of 'segue token create'; on a socket none is needed")
}

// asks reports whether a server is to be asked, and refuses, by their names, flags that
// are about what is here beside it, and --token-file without it.
func (f *serverFlags) asks(cmd *cobra.Command, about string, here ...string) (bool, error) {
	if !cmd.Flags().Changed("server") {
		if cmd.Flags().Changed("token-file") {
			return false, segue.Errorf(segue.Invalid, "--token-file is for a server: name one by --server")
		}
		return false, nil
	}
	for _, name := range here {
		if cmd.Flags().Changed(name) {
			return false, segue.Errorf(segue.Invalid, "--%s is about %s: a server knows its own", name, about)
		}
	}
	return true, nil
}

// client returns a client of the server that was named.
func (f *serverFlags) client() (*client.Client, error) {
	cfg := client.Config{Server: f.server}
	if f.tokenFile != "" {
		token, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, segue.Errorf(segue.Invalid, "--token-file: %w", err)
		}
		cfg.Token = strings.TrimSpace(string(token))
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	return c, nil
}

// told is an error of a server with what to do about it on a command line.
func (f *serverFlags) told(err error) error {
	if p, ok := errors.AsType[*api.Problem](err); ok && p.Status == http.StatusUnauthorized && f.tokenFile == "" {
		return fmt.Errorf("%w (--token-file names the file of one)", err)
	}
	return err
}

// onlyHere are flags of advise that say what a server knows itself.
var onlyHere = []string{"trace", "at", "cluster-nodes", "model", "policy", "replicas", "seed", "backfill"}

// onlyServed are flags of advise that only a server can look at.
var onlyServed = []string{"job", "partition", "account", "gpus-per-node", "cluster"}

// runServer asks a server instead of a recorded history.
func (f *adviseFlags) runServer(cmd *cobra.Command) error {
	c, err := f.ask.client()
	if err != nil {
		return err
	}
	r := api.AdviceRequest{
		Nodes: f.requestNodes, GPUsPerNode: f.gpusPerNode, TimeLimit: f.limit, Partition: f.partition, Account: f.account, User: f.user,
		Cluster: f.cluster, PredecessorJob: f.job, Remaining: f.remaining, Prefer: f.prefer,
	}
	if f.maxLead > 0 {
		r.MaxLead = f.maxLead.String()
	}
	a, err := c.Advise(cmd.Context(), r)
	if err != nil {
		return f.ask.told(err)
	}
	if f.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(a)
	}
	return printServed(cmd.OutOrStdout(), a)
}

// printServed prints the advice of a server for people.
func printServed(w io.Writer, a api.AdviceAnswer) error {
	words := func(seconds float64) string { return policy.Words(time.Duration(seconds * float64(time.Second))) }
	fmt.Fprintf(w, "%s\n\n", a.Reason)
	fmt.Fprintf(w, "Cluster %s at %s, %s ago (%s): %d jobs run, %d wait.\n", a.Cluster, a.DataAt, words(a.DataAge), a.Source, a.Running, a.Pending)
	for _, note := range a.Notes {
		fmt.Fprintln(w, note)
	}
	fmt.Fprintf(w, "Wait of a submission then:")
	for _, q := range a.Wait {
		fmt.Fprintf(w, "  %g %% within %s", 100*q.P, words(q.Seconds))
	}
	fmt.Fprintf(w, "\n\n")
	t := table.NewWriter()
	t.SetOutputMirror(w)
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"submit at (UTC)", "expected interruption", "expected overlap", "no gap", "cost, hours"})
	for _, alt := range a.Alternatives {
		t.AppendRow(table.Row{
			alt.SubmitAt, words(alt.Interruption), words(alt.Overlap), fmt.Sprintf("%.0f %%", 100*alt.StartsBeforeEnd), fmt.Sprintf("%.2f", alt.Cost),
		})
	}
	t.Render()
	_, err := fmt.Fprintf(w, "Decided by %s, at --prefer %s.\n", a.Policy, a.Prefer)
	return err
}
