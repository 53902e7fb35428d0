package server

import (
	"crypto/tls"
	"sync/atomic"

	"github.com/segue-project/segue"
)

// Certificate is a certificate and its key in two files, which may be renewed at
// their places while the server works.
type Certificate struct {
	file, key string
	pair      atomic.Pointer[tls.Certificate]
}

// ReadCertificate reads the files, in PEM. The error is of kind Invalid where they
// are no pair.
func ReadCertificate(file, key string) (*Certificate, error) {
	c := &Certificate{file: file, key: key}
	if err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Reload reads the files again: connections that come from now on get what they
// hold. Where they are no pair the one before goes on to be used.
func (c *Certificate) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.file, c.key)
	if err != nil {
		return segue.Errorf(segue.Invalid, "certificate and key of TLS: %w", err)
	}
	c.pair.Store(&pair)
	return nil
}

func (c *Certificate) config() *tls.Config {
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
}
