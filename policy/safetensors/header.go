package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// header is what the JSON of a file says.
type header struct {
	entries  map[string]entry
	metadata map[string]string
}

// readHeader reads the JSON by tokens, since the usual way would let a name
// twice pass and would fill in for what is missing.
func readHeader(text []byte) (header, error) {
	h := header{entries: make(map[string]entry)}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := object(d, func(name string) error {
		if name == metadataKey {
			h.metadata = make(map[string]string)
			return object(d, func(key string) error {
				value, err := token[string](d)
				h.metadata[key] = value
				return err
			})
		}
		e, err := readEntry(d)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		h.entries[name] = e
		return nil
	})
	if err != nil {
		return header{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return header{}, errors.New("text after the end of the object")
	}
	return h, nil
}

func readEntry(d *json.Decoder) (entry, error) {
	var e entry
	fields := 0
	err := object(d, func(field string) error {
		fields++
		switch field {
		case "dtype":
			var err error
			e.DType, err = token[string](d)
			return err
		case "shape":
			e.Shape = []int{}
			return list(d, &e.Shape)
		case "data_offsets":
			var offsets []int
			if err := list(d, &offsets); err != nil {
				return err
			}
			if len(offsets) != len(e.Offsets) {
				return fmt.Errorf("%d offsets, want 2", len(offsets))
			}
			e.Offsets = [2]int(offsets)
			return nil
		}
		return fmt.Errorf("unknown field %q", field)
	})
	if err == nil && fields != 3 {
		err = errors.New("want dtype, shape and data_offsets")
	}
	return e, err
}

// object reads an object and calls read at each of its values, whose names it
// wants to be different.
func object(d *json.Decoder, read func(name string) error) error {
	if err := delimiter(d, '{'); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.More() {
		name, err := token[string](d)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("the name %q twice", name)
		}
		seen[name] = true
		if err := read(name); err != nil {
			return err
		}
	}
	return delimiter(d, '}')
}

// list reads an array of lengths: whole numbers that are not negative.
func list(d *json.Decoder, into *[]int) error {
	if err := delimiter(d, '['); err != nil {
		return err
	}
	for d.More() {
		number, err := token[json.Number](d)
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(number), 10, strconv.IntSize-1)
		if err != nil {
			return fmt.Errorf("the number %s is no length", number)
		}
		*into = append(*into, int(n))
	}
	return delimiter(d, ']')
}

func delimiter(d *json.Decoder, want json.Delim) error {
	got, err := token[json.Delim](d)
	if err == nil && got != want {
		err = fmt.Errorf("%q, want %q", got, want)
	}
	return err
}

func token[T any](d *json.Decoder) (T, error) {
	var none T
	t, err := d.Token()
	if err != nil {
		return none, err
	}
	v, ok := t.(T)
	if !ok {
		return none, fmt.Errorf("%v at byte %d, want a %T", t, d.InputOffset(), none)
	}
	return v, nil
}
