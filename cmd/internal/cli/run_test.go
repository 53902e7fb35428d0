package cli

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// A command that has others to end is given the time that it asks for, whatever its
// flags; the others have five seconds.
func TestACommandThatEndsOthersMayTakeLonger(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "segue"}
	serve := &cobra.Command{Use: "serve", Run: func(*cobra.Command, []string) {}, Annotations: map[string]string{Patience: "40s"}}
	serve.Flags().String("data", "", "")
	root.AddCommand(serve, &cobra.Command{Use: "status", Run: func(*cobra.Command, []string) {}})
	for name, tt := range map[string]struct {
		args []string
		want time.Duration
	}{
		"one that asks":     {[]string{"serve", "--data", "status"}, 40 * time.Second},
		"one that does not": {[]string{"status"}, 5 * time.Second},
		"none":              {[]string{"nothing"}, 5 * time.Second},
	} {
		if got := patienceOf(root, tt.args); got != tt.want {
			t.Errorf("%s has %s, want %s", name, got, tt.want)
		}
	}
}
