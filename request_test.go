package segue_test

import (
	"testing"
	"time"

	"github.com/segue-project/segue"
)

func TestShapeInWords(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]segue.Shape{
		"8 nodes x 48h0m0s":           {Nodes: 8, Limit: 48 * time.Hour},
		"1 node x 30m0s":              {Nodes: 1, Limit: 30 * time.Minute},
		"1 node (1 GPU) x 4h0m0s":     {Nodes: 1, GPUsPerNode: 1, Limit: 4 * time.Hour},
		"2 nodes (4 GPUs) x 4h0m0s":   {Nodes: 2, GPUsPerNode: 4, Limit: 4 * time.Hour},
		"1 node (2 GPUs) x unlimited": {Nodes: 1, GPUsPerNode: 2, Limit: segue.Unlimited},
	} {
		if got := s.String(); got != want {
			t.Errorf("%#v in words: %q, want %q", s, got, want)
		}
	}
}

func TestRequestThatNoClusterCouldRun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		shape segue.Shape
		want  string // "" for a request that is fine
	}{
		"whole nodes":        {segue.Shape{Nodes: 1, Limit: time.Second}, ""},
		"some GPUs":          {segue.Shape{Nodes: 4, GPUsPerNode: 2, Limit: segue.Unlimited}, ""},
		"no nodes":           {segue.Shape{Limit: time.Hour}, "request: nodes is 0, want at least 1"},
		"fewer than no GPUs": {segue.Shape{Nodes: 1, GPUsPerNode: -1, Limit: time.Hour}, "request: GPUs per node is -1, want 0 (whole nodes) or more"},
		"no time":            {segue.Shape{Nodes: 1}, "request: time limit is 0s, want more than 0"},
		"negative time":      {segue.Shape{Nodes: 1, Limit: -time.Hour}, "request: time limit is -1h0m0s, want more than 0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := segue.Request{Shape: tt.shape}.Validate()
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tt.want != "" && (err == nil || err.Error() != tt.want):
				t.Errorf("error %v, want %q", err, tt.want)
			case tt.want != "" && segue.KindOf(err) != segue.Invalid:
				t.Errorf("kind %s, want invalid", segue.KindOf(err))
			}
		})
	}
}
