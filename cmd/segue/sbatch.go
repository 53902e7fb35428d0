package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/cmd/internal/cli"
	"github.com/segue-project/segue/cmd/segue/passthrough"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// newSbatchCommand lists the command in the help. It never runs from here: main
// looks for a call as sbatch before cobra does, since cobra would read sbatch's
// options by rules of its own.
func newSbatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sbatch [OPTIONS] [SCRIPT [ARGS...]]",
		Short: "Submit a job as sbatch does, or the first link of a chain",
		Long: `segue sbatch hands everything to the real sbatch: its options, its output and
its exit code are those of sbatch. A script with the line

    #SEGUE --chain

or a command line with --segue-chain makes the job the first link of a chain.
Terms of the chain follow in the same way: ` + strings.Join(termNames(), ", ") + `.`,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return (&passthrough.Call{Args: args}).Exec()
		},
	}
}

func termNames() []string {
	names := make([]string, len(options.Term))
	for i, o := range options.Term {
		names[i] = "--" + o.Name
	}
	return names
}

// The exit code of a shell that does not find a command.
const exitNotFound = 127

// runSbatch deals with a call as sbatch that may be a chain, and returns the
// exit code; a plain job replaces the process and does not return.
func runSbatch(call *passthrough.Call, std stdio) int {
	line := options.Submission.Read(call.Args)
	plain := passthrough.Call{Args: line.Without(call.Args, (*options.Option).Segue)}
	if line.Has("help") || line.Has("usage") || line.Has("version") {
		return execSbatch(&plain, std.err)
	}
	script, err := scriptOf(call, line, std.in)
	plain.Input = call.Input
	if err != nil {
		// sbatch says so in its own words, or finds what was not found here.
		return execSbatch(&plain, std.err)
	}
	env := os.Environ()
	job, err := sbatch.Read(sbatch.Input{Args: call.Args, Env: env, Script: script})
	if err != nil {
		fmt.Fprintf(std.err, "segue: %s\n", err)
		return cli.ExitUsage
	}
	if _, _, _, _, marked := segue.FindToken(job.Comment); marked {
		// A later link, submitted through a link named sbatch: its chain exists.
		return execSbatch(&plain, std.err)
	}
	if chain := os.Getenv(sbatch.ChainVariable); chain != "" && !asksForChain(line) {
		// A script that submits itself would begin a chain with every link.
		job.Unsure = append(job.Unsure, fmt.Sprintf("it is submitted by a link of chain %s, where only --segue-chain begins another one", chain))
	}
	if job.Chain && len(job.Unsure) == 0 && len(job.Refused) == 0 {
		return submitChain(job, chainInput{args: call.Args, env: env, script: script}, std)
	}
	if job.Chain && len(job.Refused) == 0 {
		fmt.Fprintf(std.err, "segue: not a chain, but a single job, because %s\n", strings.Join(job.Unsure, "; "))
	}
	return execSbatch(&plain, std.err)
}

// asksForChain reports whether the command line itself has a term of a chain.
func asksForChain(line options.Line) bool {
	return slices.ContainsFunc(line.Given, func(g options.Given) bool { return g.Option != nil && g.Option.Segue() })
}

// stdio are the standard streams.
type stdio struct {
	in       *os.File
	out, err io.Writer
}

// execSbatch replaces the process by the real sbatch, and returns an exit code
// when that fails.
func execSbatch(call *passthrough.Call, stderr io.Writer) int {
	err := call.Exec()
	fmt.Fprintf(stderr, "segue: %s\n", err)
	if errors.Is(err, passthrough.ErrNoSbatch) {
		return exitNotFound
	}
	return cli.ExitFailure
}

// scriptOf reads the batch script as sbatch will: from the file that the
// arguments name, or from standard input. With --wrap there is none.
func scriptOf(call *passthrough.Call, line options.Line, stdin io.Reader) ([]byte, error) {
	switch {
	case line.Has("wrap"):
		return nil, nil
	case line.Script < len(call.Args):
		chdir := ""
		for _, g := range line.Given {
			if g.Option != nil && g.Option.Name == "chdir" {
				chdir = g.Value
			}
		}
		return passthrough.ReadScript(call.Args[line.Script], chdir)
	case call.Input == nil:
		// From here on the script is in memory: for sbatch too.
		input, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("read the script from standard input: %w", err)
		}
		call.Input = append([]byte{}, input...)
	}
	return call.Input, nil
}
