package main

import (
	"io"
	"os"

	"github.com/segue-project/segue/cmd/internal/cli"
	_ "github.com/segue-project/segue/cmd/segue/entry" // where the kernel enters
	"github.com/segue-project/segue/cmd/segue/passthrough"
)

func main() {
	if call := passthrough.Pending; call != nil {
		os.Exit(runSbatch(call, stdio{os.Stdin, os.Stdout, os.Stderr}))
	}
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line args and returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Run(newRootCommand(), args, stdin, stdout, stderr)
}
