package cli

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args []string
		err  error // what the command returns
		want int
	}{
		"a command that works":          {args: []string{"work"}, want: ExitOK},
		"a command that fails":          {args: []string{"work"}, err: errors.New("disk full"), want: ExitFailure},
		"input that is wrong":           {args: []string{"work"}, err: segue.Errorf(segue.Invalid, "line 3"), want: ExitUsage},
		"a file that is not there":      {args: []string{"work"}, err: segue.Errorf(segue.NotFound, "x.log"), want: ExitFailure},
		"an interrupted command":        {args: []string{"work"}, err: context.Canceled, want: ExitFailure},
		"an unknown flag":               {args: []string{"work", "--frob"}, want: ExitUsage},
		"too many arguments":            {args: []string{"work", "hard"}, want: ExitUsage},
		"a required flag missing":       {args: []string{"group", "strict"}, want: ExitUsage},
		"an unknown command of a group": {args: []string{"group", "frob"}, want: ExitUsage},
		"a group without a command":     {args: []string{"group"}, want: ExitOK},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			root := fakeRoot(tt.err)
			root.SetArgs(tt.args)
			root.SetOut(&out)
			refuseStrayArguments(root)
			markRunErrors(root)
			got := ExitOK
			if cmd, err := root.ExecuteC(); err != nil {
				got = report(&out, cmd, err)
			}
			if got != tt.want {
				t.Errorf("exit code is %d, want %d; output:\n%s", got, tt.want, &out)
			}
		})
	}
}

// fakeRoot returns a command line with the commands "work", which returns err,
// and "group strict", which needs a flag.
func fakeRoot(err error) *cobra.Command {
	root := &cobra.Command{Use: "segue", SilenceErrors: true, SilenceUsage: true}
	work := &cobra.Command{Use: "work", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return err }}
	strict := &cobra.Command{Use: "strict", RunE: func(*cobra.Command, []string) error { return nil }}
	strict.Flags().String("trace", "", "")
	if err := strict.MarkFlagRequired("trace"); err != nil {
		panic(err)
	}
	group := &cobra.Command{Use: "group"}
	group.AddCommand(strict)
	root.AddCommand(work, group)
	return root
}
