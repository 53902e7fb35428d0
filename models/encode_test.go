package models

import (
	"bytes"
	"testing"

	"github.com/segue-project/segue"
)

// FuzzManifest wants any text to be refused as corrupt, or to be a manifest that
// is written again as the same text.
func FuzzManifest(f *testing.F) {
	m, files := small("seed")
	m.Pairs = []Pair{{Nodes: 8, LimitSeconds: 172800}}
	m.Policies = []Policy{{Name: "p", Kind: "mlp", File: "one", Settings: []Setting{{
		Pair: m.Pairs[0], Prefer: 4, Parameter: -0.5, Cost: &Estimate{Mean: 1, Lo: 0, Hi: 2},
	}}}}
	m.Metrics = map[string]float64{"coverage": 0.9}
	text, err := m.seal(files)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decode(text)
		if err != nil {
			if segue.KindOf(err) != segue.Corrupt {
				t.Fatalf("%v is %s, want corrupt", err, segue.KindOf(err))
			}
			return
		}
		if again, err := m.encode(); err != nil || !bytes.Equal(again, text) {
			t.Fatalf("%v; read\n%s\nand wrote\n%s", err, text, again)
		}
	})
}

// FuzzLog wants any line to be refused as corrupt, or to be a valid event.
func FuzzLog(f *testing.F) {
	f.Add([]byte(`{"at":"2023-03-01T12:00:00Z","action":"keep","model":"b","champion_before":"a","reason":"no better"}` + "\n"))
	f.Add([]byte("null\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := decodeEvent(line)
		switch {
		case err != nil && segue.KindOf(err) != segue.Corrupt:
			t.Fatalf("%v is %s, want corrupt", err, segue.KindOf(err))
		case err == nil && e.validate() != nil:
			t.Fatalf("read %v, which is not valid", e)
		}
	})
}
