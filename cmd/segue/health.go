package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/config"
)

// healthFlags are the flags of segue health.
type healthFlags struct {
	url, file, ca string
	patience      time.Duration
}

func newHealthCommand() *cobra.Command {
	var f healthFlags
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask a server whether it is ready",
		Long: `Health asks a server whether it is ready, and prints what it answers. The exit code
is 0 if it is: for the health checks of containers and of systemd. It needs no token.

It asks the server of --url, of the configuration of --config, of SEGUE_SERVER, or the
one at ` + "http://" + defaultListen + `. Over https the certificate must be one that this machine
trusts, or one of --ca, and for the name that is asked. On this machine itself (127.0.0.1,
localhost) it need not: nothing that is asked is secret, no network is between, and
certificates are for other names. With --ca it must be one of those there too.`,
		Example: `  segue health --config /etc/segue/segue.yaml
  segue health --url unix:///run/segue/segue.sock
  segue health --url https://segue.example.org:7411 --ca /etc/ssl/cluster.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "the server: http://HOST:PORT, https://... or unix:///PATH")
	flags.StringVar(&f.file, "config", "", "the server that this file configures")
	flags.StringVar(&f.ca, "ca", "", "file of the certificates, in PEM, by which to know the server")
	flags.DurationVar(&f.patience, "timeout", 5*time.Second, "how long it may take")
	return cmd
}

func (f *healthFlags) run(cmd *cobra.Command) error {
	server, err := f.server()
	if err != nil {
		return err
	}
	transport, base, err := f.reach(server)
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Timeout: f.patience, Transport: transport}
	req, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, base+"/readyz", http.NoBody)
	if err != nil {
		return segue.Errorf(segue.Invalid, "server %s: %w", server, err)
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
		return segue.Errorf(segue.Unavailable, "the server at %s is not ready: %s", server, resp.Status)
	}
	return nil
}

// server returns which server is asked.
func (f *healthFlags) server() (string, error) {
	switch {
	case f.url != "" && f.file != "":
		return "", segue.Errorf(segue.Invalid, "--url and --config both name a server: want one")
	case f.url != "":
		return f.url, nil
	case f.file != "":
		c, err := (&serveFlags{file: f.file}).settings()
		if err != nil {
			return "", err
		}
		return addressed(c)
	case os.Getenv("SEGUE_SERVER") != "":
		return os.Getenv("SEGUE_SERVER"), nil
	}
	return "http://" + defaultListen, nil
}

// addressed returns how a server is asked from its own machine.
func addressed(c config.Config) (string, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil || port == "0" {
		return "", segue.Errorf(segue.Invalid, "listen: %s says no port: give --url", c.Listen)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // all addresses, this one too
		host = "127.0.0.1"
	}
	scheme := "http"
	if c.TLS.Certificate != "" {
		scheme = "https"
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

// reach returns by what to ask a server, and the URL by which it is asked then.
func (f *healthFlags) reach(server string) (*http.Transport, string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, "", segue.Errorf(segue.Invalid, "server %q: %w", server, err)
	}
	switch {
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		return &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", u.Path)
		}}, "http://segue", nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		known, err := f.known(config.Loopback(u.Hostname()))
		return &http.Transport{TLSClientConfig: known}, strings.TrimSuffix(server, "/"), err
	}
	return nil, "", segue.Errorf(segue.Invalid, "server %q: want http://HOST:PORT, https://HOST:PORT or unix:///PATH", server)
}

// known returns by what a server is known over TLS: on this machine by the
// certificates of --ca alone, whatever their names, and by nothing without them.
func (f *healthFlags) known(here bool) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: here} //nolint:gosec // no network is between, and nothing is told
	if f.ca == "" {
		return cfg, nil
	}
	text, err := os.ReadFile(f.ca)
	if err != nil {
		return nil, segue.Errorf(segue.Invalid, "--ca: %w", err)
	}
	if cfg.RootCAs = x509.NewCertPool(); !cfg.RootCAs.AppendCertsFromPEM(text) {
		return nil, segue.Errorf(segue.Invalid, "--ca %s: there is no certificate in it", f.ca)
	}
	if here {
		cfg.VerifyConnection = func(s tls.ConnectionState) error {
			between := x509.NewCertPool()
			for _, c := range s.PeerCertificates[1:] {
				between.AddCert(c)
			}
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: cfg.RootCAs, Intermediates: between})
			return err
		}
	}
	return cfg, nil
}
