package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/internal/shared"
	"github.com/segue-project/segue/traces"
)

// parquet returns jobs as a file of Parquet.
func parquet(t *testing.T, jobs []segue.Job) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := traces.NewWriter(&out, traces.WriteOptions{Format: traces.Parquet})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if err := w.Write(j); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// cut returns the first lines of a real history.
func cut(t *testing.T, lines int) []byte {
	t.Helper()
	text, err := os.ReadFile(shared.Path(t, "traces/ls6-a100-to-2023-02.log"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(bytes.SplitAfterN(text, []byte("\n"), lines+1)[:lines], nil)
}

// A real history comes in through the interface in every way that it may be written,
// and changes nothing the second time.
func TestAHistoryComesInHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	log := cut(t, 500)
	r, err := traces.NewReader(bytes.NewReader(log), traces.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := traces.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	jobs := int64(len(h.Jobs))
	for name, tt := range map[string]struct {
		content      []byte
		format, want string
	}{
		"the log":              {log, "", "ls6"},
		"the log, by its name": {log, "ls6", "ls6"},
		"zipped":               {zipped(t, log), "auto", "ls6"},
		"Parquet":              {parquet(t, h.Jobs), "", "parquet"},
		"Parquet, by its name": {parquet(t, h.Jobs), "parquet", "parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, url := site(t, Config{})
			c := clientOf(t, srv, url, "olga", api.ScopeOperator)
			for _, changed := range []int64{jobs, 0} {
				done, err := c.ImportHistory(t.Context(), "ls6", client.HistoryFile{Format: tt.format, Content: bytes.NewReader(tt.content)})
				if err != nil || done.Read != jobs || done.Changed != changed || done.Format != tt.want {
					t.Fatalf("%+v, %v; want %d jobs of %s, %d of them new", done, err, jobs, tt.want, changed)
				}
			}
		})
	}
}

// What breaks off or is no history is refused in words, and what came before it is kept
// and seen: it may be sent again as a whole.
func TestAHistoryThatBreaksOffIsRefused(t *testing.T) {
	t.Parallel()
	log := cut(t, 500)
	for name, tt := range map[string]struct {
		file     client.HistoryFile
		want     segue.Kind
		wantText string
	}{
		"zipped, and cut":      {client.HistoryFile{Content: bytes.NewReader(zipped(t, log)[:9000])}, segue.Invalid, "the compressed data end early, after line "},
		"Parquet, and cut":     {client.HistoryFile{Content: bytes.NewReader([]byte("PAR1 and no more"))}, segue.Invalid, "the history"},
		"said to be Parquet":   {client.HistoryFile{Format: "parquet", Content: bytes.NewReader(log)}, segue.Invalid, "is not Parquet"},
		"said to be something": {client.HistoryFile{Format: "csv", Content: bytes.NewReader(log)}, segue.Invalid, "query.format"},
		"prose":                {client.HistoryFile{Content: strings.NewReader("Dear operator,\nthis is a letter.\n")}, segue.Invalid, "the history"},
		"nothing":              {client.HistoryFile{Content: strings.NewReader("")}, segue.Invalid, "the history"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, url := site(t, Config{})
			c := clientOf(t, srv, url, "olga", api.ScopeOperator)
			done, err := c.ImportHistory(t.Context(), "ls6", tt.file)
			if segue.KindOf(err) != tt.want || !strings.Contains(err.Error(), tt.wantText) {
				t.Fatalf("%+v, %v; want an error of kind %s with %q", done, err, tt.want, tt.wantText)
			}
			held, listed := c.Histories(t.Context())
			if listed != nil {
				t.Fatal(listed)
			}
			for _, h := range held {
				if before := fmt.Sprintf("; %d jobs before it were read, %d of them new", h.Jobs, h.Jobs); !strings.Contains(err.Error(), before) {
					t.Errorf("%v; want %q", err, before)
				}
			}
			if kept := len(held) == 1; kept != (name == "zipped, and cut") {
				t.Errorf("histories %+v; want one of what was cut, and no other", held)
			}
		})
	}
}

// Who may not import is told so before anything is sent, and who sends more than may come
// why it is too much.
func TestALargeHistoryIsRefusedInWords(t *testing.T) {
	t.Parallel()
	srv, url := site(t, Config{Limits: api.Limits{Import: 1 << 20}})
	const size = 256 << 20
	for name, tt := range map[string]struct {
		scope api.Scope
		most  int64 // that is sent
		want  string
	}{
		"one who reads":   {api.ScopeRead, 0, "this takes the scope operator"},
		"one who submits": {api.ScopeSubmit, 0, "this takes the scope operator"},
		"more than 1 MiB": {api.ScopeOperator, size / 4, "want at most 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := &sending{Reader: io.LimitReader(&repeating{text: swf(200)}, size)}
			_, err := clientOf(t, srv, url, "ada", tt.scope).ImportHistory(t.Context(), "ls6", client.HistoryFile{Content: sent})
			if n := sent.n.Load(); err == nil || !strings.Contains(err.Error(), tt.want) || n > tt.most {
				t.Errorf("after %d bytes: %v, want %q after at most %d", n, err, tt.want, tt.most)
			}
		})
	}
}

// repeating is a text again and again.
type repeating struct {
	text string
	at   int
}

// Read implements io.Reader.
func (r *repeating) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// sending counts what is read of it.
type sending struct {
	io.Reader
	n atomic.Int64
}

// Read implements io.Reader.
func (c *sending) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n.Add(int64(n))
	return n, err
}
