package traces

import (
	"bytes"
	"math"
)

// tres are the counts in a list of trackable resources.
type tres struct{ nodes, cpus, gpus int64 }

// parseTRES reads "cpu=8,gres/gpu=4,gres/gpu:a100=4,node=1". GPUs may be
// listed with their type, without, or both: typed counts are added up, and
// where there are both the larger is right, never the sum. gres/gpumem,
// gres/gpuutil and gres/shard are no GPUs.
func parseTRES(b []byte) (tres, bool) {
	var t tres
	var typed int64
	for len(b) > 0 {
		var item []byte
		item, b, _ = bytes.Cut(b, []byte(","))
		key, value, ok := bytes.Cut(item, []byte("="))
		if !ok {
			return tres{}, false
		}
		var count *int64
		switch {
		case string(key) == "node":
			count = &t.nodes
		case string(key) == "cpu":
			count = &t.cpus
		case string(key) == "gres/gpu":
			count = &t.gpus
		case bytes.HasPrefix(key, []byte("gres/gpu:")):
			count = &typed
		default:
			continue
		}
		n, ok := parseCount(value)
		if !ok || n > math.MaxInt32 {
			return tres{}, false
		}
		*count += n
	}
	t.gpus = max(t.gpus, typed)
	return t, true
}
