package segue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// UnmarshalStrict reads JSON as json.Unmarshal does, and refuses a key for which
// into has no field: a file that says more than the program understands is of
// another program, or damaged. The error has no kind: the caller knows whether
// the text is a person's or a file's.
func UnmarshalStrict(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the JSON value")
	}
	return nil
}
