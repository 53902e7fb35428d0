package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/traces"
)

// traceConvertFlags are the flags of segue trace convert.
type traceConvertFlags struct {
	history    cli.History
	to, toZone string
	force      bool
}

func newTraceConvertCommand() *cobra.Command {
	var f traceConvertFlags
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a job history in another format",
		Long: `Convert writes the history IN to OUT, one job at a time, and says what was odd
and what the new format cannot express. The format follows the name of OUT:
.swf, .log (Lonestar6), .sacct, .parquet or .csv, with .gz behind for gzip.
"-" is standard input or output.

OUT appears when all is written; after an error nothing is left.`,
		Example: `  segue trace convert jobs.log jobs.parquet
  segue trace convert history.sacct history.swf.gz --timezone Europe/Zurich
  segue trace convert jobs.parquet - --to csv | head`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.history.Path = args[0]
			return f.run(cmd, args[1])
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.history.Format, "from", "auto", "format of IN, when it is not to be recognised: swf, ls6, sacct or parquet")
	flags.StringVar(&f.history.Zone, "timezone", "", "time zone of times without one in IN (default America/Chicago for the Lonestar6 log, UTC otherwise)")
	flags.StringVar(&f.to, "to", "auto", "format of OUT, when its name does not say: swf, ls6, sacct, parquet or csv")
	flags.StringVar(&f.toZone, "to-timezone", "", "time zone of times without one in OUT (default as for IN)")
	flags.BoolVar(&f.force, "force", false, "replace OUT if it exists")
	return cmd
}

func (f *traceConvertFlags) run(cmd *cobra.Command, out string) error {
	opt, err := f.options()
	if err != nil {
		return err
	}
	if err := refuseToReplace(out, f.force); err != nil {
		return err
	}
	follow, end := followReading(cmd.Context(), cmd.ErrOrStderr())
	opt.Progress = follow
	c, err := f.convert(cmd, out, opt)
	end()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if out == "-" {
		w = cmd.ErrOrStderr()
	}
	printConversion(w, out, c)
	return nil
}

func (f *traceConvertFlags) options() (traces.ConvertOptions, error) {
	var opt traces.ConvertOptions
	var err error
	if opt.Read, err = f.history.Options(); err != nil {
		return opt, err
	}
	if opt.Write.Format, err = traces.ParseFormat(f.to); err != nil {
		return opt, fmt.Errorf("--to: %w", err)
	}
	if f.toZone != "" {
		if opt.Write.Zone, err = time.LoadLocation(f.toZone); err != nil {
			return opt, segue.Errorf(segue.Invalid, "--to-timezone %q: want a name such as Europe/Zurich: %w", f.toZone, err)
		}
	}
	return opt, nil
}

func (f *traceConvertFlags) convert(cmd *cobra.Command, out string, opt traces.ConvertOptions) (*traces.Conversion, error) {
	if f.history.Path != "-" && out != "-" {
		return traces.Convert(f.history.Path, out, opt)
	}
	r, err := cli.OpenHistory(f.history.Path, cmd.InOrStdin(), opt.Read)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	opt.Write.Header = r.Header()
	if opt.Write.Header.UnixStart == segue.NoTime && r.Format() != traces.SWF {
		opt.Write.Header.UnixStart = 0 // the first job's submission
	}
	w, err := createOutput(out, cmd.OutOrStdout(), opt.Write)
	if err != nil {
		return nil, err
	}
	c, err := traces.Copy(w, r, opt.Progress)
	if err != nil {
		w.Abort()
		return nil, err
	}
	return c, nil
}

// refuseToReplace refuses an output that is there already.
func refuseToReplace(out string, force bool) error {
	if _, err := os.Stat(out); out != "-" && err == nil && !force {
		return segue.Errorf(segue.Conflict, "%s exists; --force replaces it", out)
	}
	return nil
}

// createOutput creates the history at path, or one on standard output if path
// is "-".
func createOutput(path string, stdout io.Writer, opt traces.WriteOptions) (*traces.Writer, error) {
	if path != "-" {
		return traces.Create(path, opt)
	}
	if opt.Format == traces.Auto {
		return nil, segue.Errorf(segue.Invalid, "--to is missing: standard output has no name that says which format to write")
	}
	return traces.NewWriter(stdout, opt)
}

func printConversion(w io.Writer, out string, c *traces.Conversion) {
	fmt.Fprintf(w, "%s: %s jobs, from %s to %s\n", out, thousands(c.Written), c.From, c.To)
	if c.Refused > 0 {
		fmt.Fprintf(w, "%s jobs cannot be written in this format and were left out.\n", thousands(c.Refused))
	}
	if len(c.Losses) > 0 {
		fmt.Fprintln(w)
		t := newTraceTable(w, "Not expressed in the new format")
		t.AppendHeader(table.Row{"jobs", "what"})
		rightFrom(t, 1, 1)
		for _, l := range c.Losses {
			t.AppendRow(table.Row{thousands(l.Jobs), l.What})
		}
		t.Render()
	}
	printFindings(w, &c.Findings)
}
