package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api/client"
)

// breaking is a server whose streams of events end after the first event, but for the
// third, at whose event ended is called.
func breaking(t *testing.T, ended func()) *client.Client {
	t.Helper()
	var streams atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		n := streams.Add(1)
		fmt.Fprintf(w, "id: %d\nevent: chain\ndata: {\"at\":\"2022-01-15T12:00:00Z\",\"chain\":{\"id\":\"c%d\",\"state\":\"active\"}}\n\n", n, n)
		if n == 3 {
			_ = http.NewResponseController(w).Flush()
			ended()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(site.Close)
	c, err := client.New(client.Config{Server: site.URL, Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a server does not answer while it comes back does not end `segue status --follow`.
func TestFollowingGoesOnWhereTheServerDoesNotAnswerAtOnce(t *testing.T) {
	t.Parallel()
	var out, complaint bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetOut(&out)
	cmd.SetErr(&complaint)
	asked := 0
	show := func(cmd *cobra.Command, _ chainSource, _ []string) error {
		asked++
		switch asked {
		case 2:
			return segue.Errorf(segue.Unavailable, "the store does not answer")
		case 3:
			fmt.Fprintln(cmd.OutOrStdout(), "shown again")
		case 4:
			cancel()
		}
		return nil
	}
	if err := followStatus(cmd, breaking(t, func() {}), nil, false, show); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if !strings.Contains(out.String(), "shown again") || strings.Count(complaint.String(), "the store does not answer") != 1 {
		t.Errorf("it says %q, and complains %q", out.String(), complaint.String())
	}
}

// The first time it is an error: somebody has typed it just now.
func TestFollowingEndsWhereTheServerDoesNotAnswerAtFirst(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	err := followStatus(cmd, breaking(t, func() {}), nil, false, func(*cobra.Command, chainSource, []string) error {
		return segue.Errorf(segue.Unavailable, "the store does not answer")
	})
	if segue.KindOf(err) != segue.Unavailable {
		t.Errorf("it ends with %v, want an error of kind unavailable", err)
	}
}

// Who reads JSON is told of each place where changes may have passed.
func TestAReaderOfJSONIsToldThatAStreamBroke(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := &cobra.Command{}
	cmd.SetContext(ctx)
	cmd.SetOut(&out)
	if err := followStatus(cmd, breaking(t, cancel), nil, true, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		got = append(got, map[bool]string{true: "resumed", false: "change"}[object["resumed"] == true])
	}
	if text := strings.Join(got, " "); !strings.HasPrefix(text, "change resumed change") {
		t.Errorf("it is told %s; want a change, and that the stream broke, again and again:\n%s", text, out.String())
	}
}

func TestALinkThatIsBeingSubmittedHasNoNumberYet(t *testing.T) {
	t.Parallel()
	c := queued("train")
	c.Link.State, c.Link.Job, c.Link.Submitted = segue.LinkSubmitting, segue.JobID{}, segue.NoTime
	out, complaint, code := segueSays("pause", "train", "--store", storeOf(t, c))
	if code != 0 || strings.Contains(out, "job 0") || !strings.Contains(out, "Link 1 is being submitted") {
		t.Errorf("exit code %d: %s%s", code, out, complaint)
	}
}
