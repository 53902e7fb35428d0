//go:build native

package libtorch

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/policy/networks"
	"github.com/segue-project/segue/policy/safetensors"
	"github.com/segue-project/segue/trainer/environment"
	"github.com/segue-project/segue/trainer/internal/summed"
)

// checkpoint is what is in the metadata of a checkpoint; the rows of numbers are
// its tensors.
type checkpoint struct {
	Fingerprint string
	Adam        int // steps
	Random      []byte
	State       state
}

const checkpointKey = "segue-training"

// save writes the training as it stands, atomically.
func (l *learner) save(extra map[string][]float32) error {
	if l.Checkpoint == "" {
		return nil
	}
	random, err := l.source.MarshalBinary()
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	text, err := json.Marshal(checkpoint{l.fingerprint, l.adam.steps, random, l.state})
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	tensors := make(map[string]safetensors.Tensor)
	for name, data := range l.arrays(extra) {
		tensors[name] = safetensors.Tensor{Shape: []int{len(data)}, Data: data}
	}
	err = summed.Write(l.Checkpoint, func(w io.Writer) error {
		_, err := w.Write(safetensors.Encode(tensors, map[string]string{checkpointKey: string(text)}))
		return err
	})
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// arrays are the rows of numbers that a training consists of.
func (l *learner) arrays(extra map[string][]float32) map[string][]float32 {
	all := map[string][]float32{
		"weights": l.model.weights, "best": l.best, "moment1": l.adam.mean, "moment2": l.adam.square,
	}
	maps.Copy(all, extra)
	return all
}

// restore makes the training what the checkpoint holds. Without a file it does
// nothing.
func (l *learner) restore(extra map[string][]float32) error {
	if l.Checkpoint == "" {
		return nil
	}
	file, err := os.Open(l.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	defer file.Close()
	content, err := summed.Content(file)
	var b []byte
	if err == nil {
		b, err = io.ReadAll(content)
	}
	if err != nil {
		return segue.Errorf(segue.Corrupt, "read checkpoint %s: %w: remove it to begin anew", l.Checkpoint, err)
	}
	f, err := safetensors.Decode(b)
	if err != nil {
		return fmt.Errorf("read checkpoint %s: %w", l.Checkpoint, err)
	}
	var c checkpoint
	if err := json.Unmarshal([]byte(f.Metadata[checkpointKey]), &c); err != nil {
		return segue.Errorf(segue.Corrupt, "read checkpoint %s: %w", l.Checkpoint, err)
	}
	if c.Fingerprint != l.fingerprint {
		return segue.Errorf(segue.Conflict, "checkpoint %s is of another training: other data, network or configuration", l.Checkpoint)
	}
	for name, into := range l.arrays(extra) {
		from := f.Tensors[name].Data
		if len(from) != len(into) {
			return segue.Errorf(segue.Corrupt, "checkpoint %s: %q has %d numbers, want %d", l.Checkpoint, name, len(from), len(into))
		}
		copy(into, from)
	}
	if err := l.source.UnmarshalBinary(c.Random); err != nil {
		return segue.Errorf(segue.Corrupt, "checkpoint %s: %w", l.Checkpoint, err)
	}
	if len(c.State.GateSums) != len(l.GateSums) {
		return segue.Errorf(segue.Corrupt, "checkpoint %s: %d experts, want %d", l.Checkpoint, len(c.State.GateSums), len(l.GateSums))
	}
	l.adam.steps, l.state = c.Adam, c.State
	return nil
}

// fingerprint tells trainings apart that must not go on from each other's
// checkpoints.
func fingerprint(algorithm string, spec networks.Spec, config any, tables ...*environment.Table) string {
	h := sha256.New()
	text, err := json.Marshal([]any{algorithm, spec, config})
	if err != nil {
		panic(fmt.Sprintf("libtorch: fingerprint: %v", err)) // numbers and strings always encode
	}
	h.Write(text)
	var buffer []byte
	for _, t := range tables {
		for i := range t.Episodes {
			e := &t.Episodes[i]
			buffer = buffer[:0]
			for _, row := range [][]float32{e.States, e.Histories, e.Leads, e.Outcomes, {e.Weight}} {
				buffer = binary.LittleEndian.AppendUint64(buffer, uint64(len(row)))
				for _, v := range row {
					buffer = binary.LittleEndian.AppendUint32(buffer, math.Float32bits(v))
				}
			}
			h.Write(buffer)
		}
		h.Write([]byte{0xff})
	}
	return hex.EncodeToString(h.Sum(nil))
}
