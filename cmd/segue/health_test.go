package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// Health asks over http, over https on this machine, whose certificate may be for
// another name, and on a socket; of a file of configuration it takes where its server
// listens.
func TestHealthAsksWhereAServerListens(t *testing.T) {
	dir := t.TempDir()
	ready := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "ready at %s", r.URL.Path)
	})
	plain, secure := httptest.NewServer(ready), httptest.NewTLSServer(ready)
	socket := filepath.Join(dir, "segue.sock")
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	local := httptest.NewUnstartedServer(ready)
	_ = local.Listener.Close() // the socket is to be listened on
	local.Listener = l
	local.Start()
	for _, s := range []*httptest.Server{plain, secure, local} {
		t.Cleanup(s.Close)
	}
	files := map[string]string{
		"ca.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})),
		"c.yaml": "listen: 0.0.0.0:" + port(t, plain) + "\ntls: {elsewhere: true}\n",
		"s.yaml": "listen: 0.0.0.0:" + port(t, secure) + "\ntls: {certificate: c.pem, key: k.pem}\n",
		"0.yaml": "listen: 127.0.0.1:0\n",
		"no.pem": "nothing",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	other := filepath.Join(dir, "other.pem")
	issueFor(t, other)
	t.Setenv("SEGUE_SERVER", plain.URL)
	for name, tt := range map[string]struct {
		args []string
		want string // of the error; "" for an answer
	}{
		"the environment's":             {nil, ""},
		"plain":                         {[]string{"--url", plain.URL}, ""},
		"with TLS, here":                {[]string{"--url", secure.URL}, ""},
		"with TLS, known":               {[]string{"--url", secure.URL, "--ca", file("ca.pem")}, ""},
		"with TLS, of another":          {[]string{"--url", secure.URL, "--ca", other}, "certificate"},
		"on a socket":                   {[]string{"--url", "unix://" + socket}, ""},
		"of a file":                     {[]string{"--config", file("c.yaml")}, ""},
		"of a file, with TLS":           {[]string{"--config", file("s.yaml")}, ""},
		"of a file that says no port":   {[]string{"--config", file("0.yaml")}, "says no port"},
		"two servers":                   {[]string{"--config", file("c.yaml"), "--url", plain.URL}, "want one"},
		"no certificates":               {[]string{"--url", secure.URL, "--ca", file("no.pem")}, "there is no certificate"},
		"a scheme that is none of them": {[]string{"--url", "ftp://segue"}, "want http://"},
	} {
		var out, errs bytes.Buffer
		code := run(append([]string{"health"}, tt.args...), nil, &out, &errs)
		if tt.want == "" && (code != 0 || out.String() != "ready at /readyz\n") {
			t.Errorf("%s: exit code %d, %s%s", name, code, out.String(), errs.String())
		}
		if tt.want != "" && (code == 0 || !strings.Contains(errs.String(), tt.want)) {
			t.Errorf("%s: exit code %d, %s; want %q", name, code, errs.String(), tt.want)
		}
	}
}

func port(t *testing.T, s *httptest.Server) string {
	t.Helper()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// issueFor writes the certificate of somebody else.
func issueFor(t *testing.T, file string) {
	t.Helper()
	text := `-----BEGIN CERTIFICATE-----
MIIBdjCCAR2gAwIBAgIUH8Q+4QSFufSLKOw0EfQc1/XlSfQwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTMwMDk1NDUxWhgPMjEyNjExMDYwOTU0
NTFaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
0yj/hfUujq9eOmnXQUDqegp/HqBPwYslcYMlqVLDC1NZj4PA25ejtiHVqY/4Yv4y
L5kIf7WU5IugEprGEVV4pqNTMFEwHQYDVR0OBBYEFG0XtaUAzhcU+c4JItQzhNHg
GmKRMB8GA1UdIwQYMBaAFG0XtaUAzhcU+c4JItQzhNHgGmKRMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgf/kYtgnp6THbxUxhTeaNVFE7JS5MTLlv
nu3ZfFBzPIACIGldGD6SZxJJj4CiMYAe6U3ou91YVnIVmcgnZVyh7Mw2
-----END CERTIFICATE-----
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Flags that are spans take days as the file of configuration does, and show what
// they are by default.
func TestSpansOfFlagsMayBeDays(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "1.5d": 36 * time.Hour, "90m": 90 * time.Minute, "0": 0} {
		var got time.Duration
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		spanVar(flags, &got, "for", 48*time.Hour, "how long")
		if usage := flags.FlagUsages(); !strings.Contains(usage, "--for duration") || !strings.Contains(usage, "(default 48h)") {
			t.Errorf("its help is %s", usage)
		}
		if err := flags.Parse([]string{"--for", text}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for _, text := range []string{"-1h", "1", "d", ""} {
		var got time.Duration
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		spanVar(flags, &got, "for", 0, "how long")
		if err := flags.Parse([]string{"--for=" + text}); err == nil || !strings.Contains(err.Error(), "want a span") {
			t.Errorf("%q: %s, %v; want it refused", text, got, err)
		}
	}
}
