//go:build native

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestHistoriesToLearnFrom(t *testing.T) {
	t.Parallel()
	var f trainFlags
	f.history.Path, f.scheduler.Nodes, f.also = "a.swf", 8, []string{"dir/b.swf=64", "c=d=16"}
	if _, err := f.sources(); segue.KindOf(err) != segue.Invalid || !strings.Contains(err.Error(), `--also "c=d=16": want a file and the nodes`) {
		t.Errorf("error %v, want an invalid one that names c=d=16", err)
	}
	f.also = f.also[:1]
	got, err := f.sources()
	if err != nil {
		t.Fatal(err)
	}
	want := []source{{"a.swf", 8, ""}, {"dir/b.swf", 64, " of b.swf"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(source{})); diff != "" {
		t.Errorf("histories differ (-want +got):\n%s", diff)
	}
}
