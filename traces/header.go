package traces

import (
	"bytes"

	"github.com/segue-project/segue"
)

// Header is what the head of a history says of the cluster. Fields that the
// file does not have are zero, and UnixStart is NoTime.
type Header struct {
	Format       Format
	Computer     string
	Installation string
	// UnixStart is the instant from which the times of an SWF file count.
	UnixStart segue.Time
	// Zone is the name of the cluster's time zone. It is information: SWF
	// counts in seconds from UnixStart.
	Zone     string
	MaxNodes int64
	MaxProcs int64
	// MaxRecords is the number of records that the head promises.
	MaxRecords int64
	// Columns are the names of the columns of sacct or of the Lonestar6 log.
	Columns []string
}

// ProcessorsPerNode returns how many processors a node has: MaxProcs/MaxNodes
// where both are known and it divides, else 1, since many logs call a node a
// processor.
func (h *Header) ProcessorsPerNode() int64 {
	if h.MaxNodes > 0 && h.MaxProcs > h.MaxNodes && h.MaxProcs%h.MaxNodes == 0 {
		return h.MaxProcs / h.MaxNodes
	}
	return 1
}

// readComment takes "; Key: value" of an SWF file up, if the key is one that
// matters.
func (h *Header) readComment(line []byte) {
	key, value, ok := bytes.Cut(bytes.TrimLeft(line, "; \t"), []byte(":"))
	if !ok {
		return
	}
	value = bytes.TrimSpace(value)
	switch string(bytes.TrimSpace(key)) {
	case "Computer":
		h.Computer = printable(value, 200)
	case "Installation":
		h.Installation = printable(value, 200)
	case "TimeZoneString":
		h.Zone = printable(value, 60)
	case "UnixStartTime":
		if v, ok := parseInt(value[:leadingDigits(value)]); ok && v <= lastSecond {
			h.UnixStart = segue.Seconds(v)
		}
	case "MaxNodes":
		h.MaxNodes = headerCount(value, h.MaxNodes)
	case "MaxProcs":
		h.MaxProcs = headerCount(value, h.MaxProcs)
	case "MaxRecords":
		h.MaxRecords = headerCount(value, h.MaxRecords)
	}
}

// headerCount reads a number that a remark may follow: "128 (96 in use)".
func headerCount(value []byte, otherwise int64) int64 {
	if v, ok := parseInt(value[:leadingDigits(value)]); ok {
		return v
	}
	return otherwise
}
