package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show which segue this is",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{GoVersion: runtime.Version()}
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), describeBuild(info))
			return err
		},
	}
}

// describeBuild returns what the Go toolchain recorded of a build, on one
// line: "segue v0.1.0, commit 0123456789ab of 2026-11-29T12:00:00Z, go1.26.8".
func describeBuild(info *debug.BuildInfo) string {
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	parts := []string{"segue " + version}
	if revision := settings["vcs.revision"]; revision != "" {
		commit := "commit " + revision[:min(12, len(revision))]
		if at := settings["vcs.time"]; at != "" {
			commit += " of " + at
		}
		if settings["vcs.modified"] == "true" {
			commit += " with changes"
		}
		parts = append(parts, commit)
	}
	return strings.Join(append(parts, info.GoVersion), ", ")
}
