package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/schedulers"
)

// followStatus shows chains, or one of a name, and goes on with what changes.
func followStatus(cmd *cobra.Command, c *client.Client, names []string, asJSON bool, show func(*cobra.Command, chainSource, []string) error) error {
	id := ""
	if len(names) > 0 {
		chain, err := find(cmd.Context(), served{c}, names[0])
		if err != nil {
			return err
		}
		id = chain.ID
	}
	begins := 0
	return followChains(cmd, c, id, asJSON, func() error {
		begins++
		switch {
		case !asJSON:
			return show(cmd, served{c}, names)
		case begins > 1:
			return json.NewEncoder(cmd.OutOrStdout()).Encode(resumed{segue.TimeOf(time.Now()).String(), true})
		}
		return nil
	})
}

// resumed is what a reader of JSON is told of a stream that broke: changes may have passed
// of which it has heard nothing.
type resumed struct {
	At      string `json:"at"`
	Resumed bool   `json:"resumed"`
}

// followChains prints the changes of chains as the server tells them, until the command
// is told to end: of all that the caller may see, or of the one of an ID. now is called
// whenever the stream begins, also after it broke. Where the server does not answer it
// then, the stream is begun again; only the first time that is an error.
func followChains(cmd *cobra.Command, c *client.Client, id string, asJSON bool, now func() error) error {
	out := cmd.OutOrStdout()
	began := false
	for {
		var unanswered error
		err := c.Follow(cmd.Context(), func(e client.Event) error {
			switch {
			case e.Chain != nil && id != "" && e.Chain.Chain.ID != id, e.Link != nil && id != "" && e.Link.Chain != id:
				return nil
			case e.Chain == nil && e.Link == nil:
				err := now()
				if began && segue.KindOf(err) == segue.Unavailable {
					unanswered = err
				}
				began = began || err == nil
				return err
			case asJSON && e.Chain != nil:
				return json.NewEncoder(out).Encode(e.Chain)
			case asJSON:
				return json.NewEncoder(out).Encode(e.Link)
			}
			_, err := fmt.Fprintln(out, changeOf(e))
			return err
		})
		if errors.Is(err, context.Canceled) {
			return nil
		}
		if unanswered == nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "segue: asked again in %s: %s\n", followAgain, oneLine(unanswered))
		if schedulers.Sleep(cmd.Context(), followAgain) != nil {
			return nil //nolint:nilerr // it was told to end
		}
	}
}

// followAgain is how long after a question that was not answered a stream is begun again.
const followAgain = 2 * time.Second

// changeOf says in a line what has changed.
func changeOf(e client.Event) string {
	if e.Chain != nil {
		c := e.Chain.Chain
		return strings.TrimSuffix(fmt.Sprintf("%s  %s  %s is %s: %s", e.Chain.At, c.ID, printable(cmp.Or(c.Name, c.ID)), c.State, printable(c.Why)), ": ")
	}
	return fmt.Sprintf("%s  %s  link %d %s", e.Link.At, e.Link.Chain, e.Link.Link.Number, linkNow(&e.Link.Link))
}

// linkNow says in which state a link is, and what of that a person waits for.
func linkNow(l *api.LinkAnswer) string {
	switch l.State {
	case "submitting":
		return "is being submitted"
	case "queued":
		return "waits as job " + l.Job
	case "running":
		if l.End != nil {
			return fmt.Sprintf("runs as job %s, until %s at most", l.Job, *l.End)
		}
		return "runs as job " + l.Job
	case "lost":
		return fmt.Sprintf("made no job (attempt %d), and is tried again", l.Attempt)
	}
	return fmt.Sprintf("has ended: %s, exit code %d", l.Ended, l.ExitCode)
}
