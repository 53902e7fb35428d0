package server

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/segue-project/segue/schedulers"
)

// Notifier tells systemd how a service is (sd_notify(3)). Without an address it
// tells nobody.
type Notifier struct {
	Address string // NOTIFY_SOCKET; it begins with @ for one without a file
}

// Tell sends a message such as "READY=1".
func (n Notifier) Tell(ctx context.Context, message string) error {
	if n.Address == "" {
		return nil
	}
	c, err := new(net.Dialer).DialContext(ctx, "unixgram", n.Address)
	if err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write([]byte(message)); err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	return nil
}

// Watchdog says that the service lives, twice in each span (WATCHDOG_USEC) after
// which systemd would start it again, while alive says so, until ctx ends.
func (n Notifier) Watchdog(ctx context.Context, span time.Duration, alive func(context.Context) bool) {
	for n.Address != "" && span > 0 {
		if alive(ctx) {
			_ = n.Tell(ctx, "WATCHDOG=1") // systemd notices
		}
		if schedulers.Sleep(ctx, span/2) != nil {
			return
		}
	}
}
