package segue_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/segue-project/segue"
)

func TestKindSurvivesWrapping(t *testing.T) {
	t.Parallel()
	missing := segue.Errorf(segue.NotFound, "model %q: %w", "m1", io.EOF)
	tests := map[string]struct {
		err      error
		wantKind segue.Kind
		wantText string
	}{
		"no error":                      {nil, segue.Other, ""},
		"an error without a kind":       {io.EOF, segue.Other, "EOF"},
		"an error with a kind":          {missing, segue.NotFound, `model "m1": EOF`},
		"wrapped twice":                 {fmt.Errorf("b: %w", fmt.Errorf("a: %w", missing)), segue.NotFound, `b: a: model "m1": EOF`},
		"joined with another":           {errors.Join(io.ErrNoProgress, missing), segue.NotFound, "multiple Read calls return no data or error\nmodel \"m1\": EOF"},
		"given a new kind: the last is": {segue.Errorf(segue.Invalid, "flag: %w", missing), segue.Invalid, `flag: model "m1": EOF`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := segue.KindOf(tt.err); got != tt.wantKind {
				t.Errorf("kind %s, want %s", got, tt.wantKind)
			}
			if tt.err != nil && tt.err.Error() != tt.wantText {
				t.Errorf("message %q, want %q", tt.err, tt.wantText)
			}
		})
	}
	if !errors.Is(missing, io.EOF) {
		t.Error("the cause is lost")
	}
}

func TestKindsInWords(t *testing.T) {
	t.Parallel()
	for kind, want := range map[segue.Kind]string{
		segue.Other: "error", segue.Invalid: "invalid", segue.NotFound: "not found", segue.Conflict: "conflict",
		segue.Unavailable: "unavailable", segue.Corrupt: "corrupt", segue.Kind(99): "error",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d in words: %q, want %q", kind, got, want)
		}
	}
}
