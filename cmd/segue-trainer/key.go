//go:build native

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/predictor"
)

// keyOf identifies what samples are gathered from, a line for each thing: the
// histories, every flag that bears on samples, what is described of a queue, and
// the program.
func keyOf(flags *pflag.FlagSet, m models.Manifest, program string) string {
	lines := []string{"a history of SHA-256 " + m.Trace.SHA256}
	for _, note := range m.Notes { // of other histories, and of loads that are left out
		lines = append(lines, fmt.Sprintf("%q", note))
	}
	var gathering pflag.FlagSet
	new(trainFlags).addGathering(&gathering)
	gathering.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "trace" && flag.Name != "also" { // of which the digests are there
			lines = append(lines, fmt.Sprintf("--%s %q", flag.Name, cli.FlagText(flags.Lookup(flag.Name))))
		}
	})
	return strings.Join(append(lines,
		"features of SHA-256 "+predictor.FeatureHash(predictor.FeatureNames()),
		"summaries of SHA-256 "+predictor.FeatureHash(predictor.SummaryNames()),
		"segue-trainer "+program), "\n")
}

// programOf says which build of the program that is: its version, which names a
// commit, or where no version says all that it was made from, the SHA-256 of the
// executable.
func programOf(build *debug.BuildInfo, executable func() (string, error)) (string, error) {
	version := build.Main.Version
	if version != "" && version != "(devel)" && !strings.HasSuffix(version, "+dirty") {
		return version, nil
	}
	path, err := executable()
	if err != nil {
		return "", fmt.Errorf("find the program itself: %w", err)
	}
	digest, err := digestOf(path)
	return "of SHA-256 " + digest, err
}

// digestOf returns the SHA-256 of a file, in hexadecimal digits.
func digestOf(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("digest %s: %w", path, err)
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", fmt.Errorf("digest %s: %w", path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
