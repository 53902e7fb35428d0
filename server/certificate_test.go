package server

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/segue-project/segue"
)

// A certificate that is renewed at its place counts for new connections once it is
// read again, and one that is no use leaves the one before.
func TestACertificateIsRenewedAtItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := ReadCertificate(file, key); segue.KindOf(err) != segue.Invalid {
		t.Errorf("without files: error %v, want one of kind invalid", err)
	}
	issue(t, file, key, "first")
	c, err := ReadCertificate(file, key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenTCP(t.Context(), "127.0.0.1:0", c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // which ends greet
	go greet(t.Context(), l)
	if got := shown(t, l.Addr()); got != "first" {
		t.Errorf("at first it shows %q", got)
	}
	issue(t, file, key, "second")
	if err := c.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, l.Addr()); got != "second" {
		t.Errorf("once it is read again it shows %q, want the second", got)
	}
	issue(t, file, filepath.Join(dir, "another.pem"), "third")
	if err := c.Reload(); segue.KindOf(err) != segue.Invalid {
		t.Errorf("with the key of another: error %v, want one of kind invalid", err)
	}
	if got := shown(t, l.Addr()); got != "second" {
		t.Errorf("after that it shows %q, want the second", got)
	}
}

// issue writes a certificate for a name, and its key.
func issue(t *testing.T, file, key, name string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
}

// greet shakes hands with whoever comes, until the listener is closed.
func greet(ctx context.Context, l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_ = c.(*tls.Conn).HandshakeContext(ctx) // who comes sees what it shows
		_ = c.Close()
	}
}

// shown returns the name in the certificate that is shown at an address.
func shown(t *testing.T, address net.Addr) string {
	t.Helper()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // what is shown is looked at
	c, err := d.DialContext(t.Context(), "tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	return c.(*tls.Conn).ConnectionState().PeerCertificates[0].Subject.CommonName
}
