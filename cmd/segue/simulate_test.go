package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/internal/shared"
)

// TestSimulateAgreesWithTheReferenceSchedules runs the command as a user would
// and wants, job by job, the starts that other simulators gave.
func TestSimulateAgreesWithTheReferenceSchedules(t *testing.T) {
	t.Parallel()
	const kth, lublin = "traces/KTH-SP2-1996.swf", "traces/lublin-256.swf"
	tests := []struct {
		reference, trace, nodes string
		flags                   []string
	}{
		{"kth-sp2.fcfs", kth, "100", []string{"--backfill", "none"}},
		{"kth-sp2.easy.per-instant", kth, "100", []string{"--backfill", "easy"}},
		{"kth-sp2.easy.per-event", kth, "100", []string{"--backfill", "easy", "--events", "per-event"}},
		{"kth-sp2.easy-clairvoyant.per-event", kth, "100", []string{"--backfill", "easy", "--events", "per-event", "--clairvoyant"}},
		{"kth-sp2.conservative.per-event", kth, "100", []string{"--backfill", "conservative", "--events", "per-event"}},
		{"lublin-256.fcfs", lublin, "256", []string{"--backfill", "none"}},
		{"lublin-256.easy", lublin, "256", []string{"--backfill", "easy"}},
		{"lublin-256.easy", lublin, "256", []string{"--backfill", "easy", "--events", "per-event"}},
		{"lublin-256.conservative.per-event", lublin, "256", []string{"--backfill", "conservative", "--events", "per-event"}},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%s/%d", tt.reference, i), func(t *testing.T) {
			t.Parallel()
			args := []string{"simulate", "--trace", shared.Path(t, tt.trace), "--nodes", tt.nodes, "--starts", "-"}
			var got, stderr bytes.Buffer
			if code := run(append(args, tt.flags...), strings.NewReader(""), &got, &stderr); code != cli.ExitOK {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
			want := unzipped(t, shared.Path(t, "reference/"+tt.reference+".csv.gz"))
			if got.String() == want {
				return
			}
			wantLines, gotLines := strings.Split(want, "\n"), strings.Split(got.String(), "\n")
			t.Errorf("%d lines, want %d", len(gotLines), len(wantLines))
			for k := range min(len(gotLines), len(wantLines)) {
				if gotLines[k] != wantLines[k] {
					t.Fatalf("first line that differs is %d (-want +got):\n%s", k+1, cmp.Diff(wantLines[k], gotLines[k]))
				}
			}
		})
	}
}

func unzipped(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
