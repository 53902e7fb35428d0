package cli

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Build returns what the Go toolchain recorded of the running program.
func Build() *debug.BuildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return &debug.BuildInfo{GoVersion: runtime.Version()}
	}
	return info
}

// DescribeBuild returns what the Go toolchain recorded of a build of a program, on
// one line: "segue v0.1.0, commit 0123456789ab of 2026-11-29T12:00:00Z, go1.26.8".
func DescribeBuild(program string, info *debug.BuildInfo) string {
	parts := []string{program + " " + versionOf(info)}
	if commit := commitOf(info); commit != "" {
		parts = append(parts, commit)
	}
	return strings.Join(append(parts, info.GoVersion), ", ")
}

func versionOf(info *debug.BuildInfo) string {
	if info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// commitOf returns the commit of a build, "" where it is not known.
func commitOf(info *debug.BuildInfo) string {
	settings := make(map[string]string, len(info.Settings))
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	revision := settings["vcs.revision"]
	if revision == "" {
		return ""
	}
	commit := "commit " + revision[:min(12, len(revision))]
	if at := settings["vcs.time"]; at != "" {
		commit += " of " + at
	}
	if settings["vcs.modified"] == "true" {
		commit += " with changes"
	}
	return commit
}

// Version returns the version of the running program and its commit:
// "v0.1.0, commit 0123456789ab of 2026-11-29T12:00:00Z".
func Version() string {
	info := Build()
	if commit := commitOf(info); commit != "" {
		return versionOf(info) + ", " + commit
	}
	return versionOf(info)
}

// CommandLine returns the command with the flags that were given, by name, for
// a report.
func CommandLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		line += " --" + f.Name
		if f.Value.Type() != "bool" {
			line += " " + FlagText(f)
		}
	})
	return line
}

// FlagText returns the value of a flag as it is typed.
func FlagText(f *pflag.Flag) string {
	text := strings.Trim(f.Value.String(), "[]")
	if f.Value.Type() != "float64Slice" { // which pflag writes with six decimals
		return text
	}
	numbers := strings.Split(text, ",")
	for i, n := range numbers {
		if v, err := strconv.ParseFloat(n, 64); err == nil {
			numbers[i] = strconv.FormatFloat(v, 'g', -1, 64)
		}
	}
	return strings.Join(numbers, ",")
}
