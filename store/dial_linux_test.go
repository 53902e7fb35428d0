package store

import (
	"net"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A connection to a database server is given up by the kernel when its machine
// vanishes; one by a Unix socket cannot.
func TestConnectionsToAMachineThatVanishesAreGivenUp(t *testing.T) {
	t.Parallel()
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "s")} {
		l, err := new(net.ListenConfig).Listen(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // it was only to connect to
		c, err := dialer().DialContext(t.Context(), network, l.Addr().String())
		if err != nil {
			t.Fatalf("%s: %v", network, err)
		}
		defer func() { _ = c.Close() }() // nothing was said
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			continue
		}
		raw, err := tcp.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		for option, want := range map[int]int{unix.TCP_USER_TIMEOUT: 30_000, unix.TCP_KEEPIDLE: 10, unix.TCP_KEEPINTVL: 5, unix.TCP_KEEPCNT: 4} {
			var got int
			if err := raw.Control(func(fd uintptr) { got, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option) }); err != nil || got != want {
				t.Errorf("option %d is %d, %v; want %d", option, got, err, want)
			}
		}
	}
}
