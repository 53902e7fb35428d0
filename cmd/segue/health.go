package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
)

func newHealthCommand() *cobra.Command {
	var url string
	var patience time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it is ready",
		Long: `Health asks a server whether it is ready, and prints what it answers. The exit code
is 0 if it is: for the health checks of containers and of systemd.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client := http.Client{Timeout: patience}
			req, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, url+"/readyz", nil)
			if err != nil {
				return segue.Errorf(segue.Invalid, "--url %s: %w", url, err)
			}
			resp, err := client.Do(req)
			if err != nil {
				return segue.Errorf(segue.Unavailable, "%w", err)
			}
			defer resp.Body.Close() //nolint:errcheck // it was only read
			const most = 1 << 16
			if _, err := io.Copy(cmd.OutOrStdout(), io.LimitReader(resp.Body, most)); err != nil {
				return segue.Errorf(segue.Unavailable, "%w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout())
			if resp.StatusCode != http.StatusOK {
				return segue.Errorf(segue.Unavailable, "the server at %s is not ready: %s", url, resp.Status)
			}
			return nil
		},
	}
	url = "http://127.0.0.1:7411"
	if env := os.Getenv("SEGUE_SERVER"); env != "" {
		url = env
	}
	cmd.Flags().StringVar(&url, "url", url, "the server (default SEGUE_SERVER, or this machine's)")
	cmd.Flags().DurationVar(&patience, "timeout", 5*time.Second, "how long it may take")
	return cmd
}
