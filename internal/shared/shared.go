// Package shared finds the folder of real job histories and right values that
// lies beside the checkout, for tests and benchmarks. It never copies from it.
// Start reading at Path.
package shared

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the path of the file name under ../shared. A missing folder
// fails the test under CI=true and skips it elsewhere, since a user's clone
// has no such folder.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	_, here, _, ok := runtime.Caller(0)
	if !ok {
		tb.Fatal("shared: no caller information")
	}
	path := filepath.Join(filepath.Dir(here), "..", "..", "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatalf("shared: %v: the job histories must lie beside the checkout under CI", err)
		}
		tb.Skipf("shared: %v", err)
	}
	return path
}
