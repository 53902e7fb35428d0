package cli

import (
	"runtime/debug"
	"testing"

	"github.com/spf13/cobra"
)

func TestDescribeBuild(t *testing.T) {
	t.Parallel()
	stamped := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
			{Key: "vcs.time", Value: "2026-11-29T12:00:00Z"},
			{Key: "vcs.modified", Value: modified},
		}
	}
	tests := map[string]struct {
		info debug.BuildInfo
		want string
	}{
		"a release": {
			info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "v0.1.0"}, Settings: stamped("false")},
			want: "segue v0.1.0, commit 0123456789ab of 2026-11-29T12:00:00Z, go1.26.8",
		},
		"a tree with changes": {
			info: debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Version: "(devel)"}, Settings: stamped("true")},
			want: "segue (devel), commit 0123456789ab of 2026-11-29T12:00:00Z with changes, go1.26.8",
		},
		"a build outside git": {
			info: debug.BuildInfo{GoVersion: "go1.26.8"},
			want: "segue (devel), go1.26.8",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := DescribeBuild("segue", &tt.info); got != tt.want {
				t.Errorf("DescribeBuild is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

func TestCommandLineHoldsTheFlagsThatWereGiven(t *testing.T) {
	t.Parallel()
	cmd := &cobra.Command{Use: "train", RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.Flags().IntSlice("pairs", []int{1}, "")
	cmd.Flags().Float64Slice("shares", nil, "")
	cmd.Flags().Bool("resume", false, "")
	cmd.Flags().String("out", "", "")
	cmd.SetArgs([]string{"--resume", "--pairs", "1,8", "--shares", "1,0.85"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if got, want := CommandLine(cmd), "train --pairs 1,8 --resume --shares 1,0.85"; got != want {
		t.Errorf("command line is %q, want %q", got, want)
	}
}
