package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/segue-project/segue"
)

// encode returns the one text of manifest.json that says m.
func (m *Manifest) encode() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(m)
	return b.Bytes(), err
}

// decode reads manifest.json. Beyond what encoding/json refuses, it refuses
// unknown keys, keys that are there twice or in another spelling, and whatever
// else [Manifest.encode] would not have written, so that a manifest has one
// meaning in every reader.
func decode(text []byte) (Manifest, error) {
	var m Manifest
	if !utf8.Valid(text) {
		return m, segue.Errorf(segue.Corrupt, "it is not UTF-8")
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return m, segue.Errorf(segue.Corrupt, "%w", err)
	}
	if version.Format != FormatVersion {
		return m, segue.Errorf(segue.Corrupt, "its format is %d, and this program reads %d", version.Format, FormatVersion)
	}
	if err := segue.UnmarshalStrict(text, &m); err != nil {
		return m, segue.Errorf(segue.Corrupt, "%w", err)
	}
	if err := m.validate(); err != nil {
		return m, segue.Errorf(segue.Corrupt, "%w", err)
	}
	canonical, err := m.encode()
	if err != nil {
		return m, segue.Errorf(segue.Corrupt, "%w", err)
	}
	if !bytes.Equal(text, canonical) {
		line := 1 + strings.Count(string(text[:commonPrefix(text, canonical)]), "\n")
		return m, segue.Errorf(segue.Corrupt, "line %d is not as this program writes it (a key twice, another order or spacing)", line)
	}
	return m, nil
}

// commonPrefix returns how many bytes a and b begin with alike.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// sumLine returns the content of manifest.sha256.
func sumLine(manifest []byte) []byte { return []byte(sum(manifest) + "  " + ManifestFile + "\n") }

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
