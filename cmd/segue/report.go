package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
)

// reportFlag is the file of a report that stands alone; empty for none.
type reportFlag struct{ path string }

func (r *reportFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&r.path, "report", "", "write a self-contained HTML report to this file")
}

// writable refuses a report that could not be written after hours of work.
func (r *reportFlag) writable() error {
	if r.path == "" {
		return nil
	}
	if err := cli.Writable(r.path); err != nil {
		return segue.Errorf(segue.Invalid, "--report %q: %w", r.path, err)
	}
	return nil
}

// write writes the page, if a report is wanted, and says where.
func (r *reportFlag) write(cmd *cobra.Command, page func(commandLine string) ([]byte, error)) error {
	if r.path == "" {
		return nil
	}
	text, err := page(cli.CommandLine(cmd))
	if err != nil {
		return err
	}
	if err := cli.WriteFile(r.path, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "The report is in %s.\n", r.path)
	return nil
}
