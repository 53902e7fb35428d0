package store

import (
	"net"
	"time"
)

// vanished is how long a server may be silent, while an answer is due, before its
// connection is given up. Without it a change would hang for a quarter of an hour
// where the machine of the database is gone: so long TCP tries again.
const vanished = 30 * time.Second

// dialer connects to servers, and asks on connections that are idle, or on which an
// answer is due, whether the other machine is there.
func dialer() *net.Dialer {
	return &net.Dialer{
		Control:         forsake,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: vanished / 3, Interval: vanished / 6, Count: 4},
	}
}
