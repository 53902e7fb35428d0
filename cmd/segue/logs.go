package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api/client"
	"github.com/segue-project/segue/schedulers/slurm/sbatch"
	"github.com/segue-project/segue/store"
)

func newLogsCommand() *cobra.Command {
	var where chainStore
	var ask serverFlags
	var lines int
	var all bool
	cmd := &cobra.Command{
		Use:   "logs CHAIN",
		Short: "Show where a chain's links write, and the end of the latest output",
		Args:  cobra.ExactArgs(1),

		ValidArgsFunction: completeChain(&where, &ask),
		RunE: func(cmd *cobra.Command, args []string) error {
			show := func(s chainSource, whole func(id string) (segue.Chain, error)) error {
				found, err := find(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				chain, err := whole(found.ID)
				if err != nil {
					return err
				}
				links, err := s.Links(cmd.Context(), chain.ID)
				if err != nil {
					return err
				}
				return showLogs(cmd.OutOrStdout(), chain, links, lines, all)
			}
			return ask.ask(cmd.Context(), &where,
				func(c *client.Client) error { return show(served{c}, spool{dir: stateDir()}.handedOver) },
				func(s *store.Store) error {
					return show(s, func(id string) (segue.Chain, error) { return s.Chain(cmd.Context(), id) })
				})
		},
	}
	where.add(cmd.Flags())
	ask.add(cmd.Flags(), "about its chains (default "+serverVariable+")")
	cmd.Flags().IntVarP(&lines, "lines", "n", 10, "how many of the last lines of an output")
	cmd.Flags().BoolVar(&all, "all", false, "show the end of every link's output")
	return cmd
}

func showLogs(out io.Writer, chain segue.Chain, links []segue.Link, lines int, all bool) error {
	if s := chain.Submission; s.Dir == "" && len(s.Env) == 0 {
		return segue.Errorf(segue.NotFound, "what was captured of chain %s is kept no longer", chain.ID)
	}
	job, err := sbatch.Read(sbatch.Input{Args: chain.Submission.Args, Env: chain.Submission.Env, Script: chain.Submission.Script})
	if err != nil {
		return err
	}
	for i, l := range links {
		if l.Job.Number == 0 {
			continue
		}
		path := outputFile(job, chain, l)
		fmt.Fprintf(out, "link %d, job %s, %s: %s\n", l.Number, l.Job, linkState(&l), path)
		if !all && i < len(links)-1 && links[i+1].Start.Known() {
			continue // a later link has written since
		}
		end, err := tail(path, lines)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintln(out, "  (nothing is there yet)")
		case errors.Is(err, errNoFile):
			fmt.Fprintln(out, "  (what was written there is not kept in a file)")
		case err != nil:
			return err
		default:
			_, _ = out.Write(end)
		}
	}
	return nil
}

// outputFile returns the file that gets a link's output: sbatch's pattern with
// what is known filled in (man sbatch, "filename pattern"), in the folder of the
// job.
func outputFile(job *sbatch.Job, chain segue.Chain, l segue.Link) string {
	pattern := job.Output
	if pattern == "" {
		pattern = "slurm-%j.out"
	}
	number := strconv.FormatInt(l.Job.Number, 10)
	path := strings.NewReplacer("%%", "%", "%j", number, "%A", number, "%J", number, "%x", job.Name, "%u", chain.User).Replace(pattern)
	return under(workDir(job, chain.Submission.Dir), path)
}

// most is how much of the end of a file is looked at for its last lines.
const most = 1 << 20

var errNoFile = errors.New("not a regular file")

// tail returns the last lines of a file. A pipe or a device, which might keep the
// reader waiting, is errNoFile.
func tail(path string, lines int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(max(0, info.Size()-most), io.SeekStart); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, err
	}
	all := bytes.SplitAfter(data, []byte("\n"))
	if n := len(all); n > 0 && len(all[n-1]) == 0 {
		all = all[:n-1]
	}
	return bytes.Join(all[max(0, len(all)-max(lines, 0)):], nil), nil
}
