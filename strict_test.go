package segue_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/segue-project/segue"
)

func TestStrictJSONIsOneValueOfKnownKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"as it should be":    {`{"nodes":3}`, ""},
		"with space after":   {"{\"nodes\":3}\n\t ", ""},
		"a key too many":     {`{"nodes":3,"gpus":1}`, `unknown field "gpus"`},
		"a second value":     {`{"nodes":3}{}`, "something follows the JSON value"},
		"a bracket too many": {`{"nodes":3}}`, "something follows the JSON value"},
		"half of it":         {`{"nodes":`, "unexpected EOF"},
		"nothing":            {"", "EOF"},
		"another type":       {`{"nodes":"three"}`, "cannot unmarshal string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got struct {
				Nodes int `json:"nodes"`
			}
			err := segue.UnmarshalStrict([]byte(tt.text), &got)
			if tt.want == "" && (err != nil || got.Nodes != 3) {
				t.Errorf("got %d nodes, %v; want 3", got.Nodes, err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// What is strictly read is what json.Unmarshal reads.
func TestStrictJSONReadsWhatJSONReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[ ]?(\{("a":[0-9]{1,3})?\}|[0-9]{1,4}|"x"|\[\])[ ,]?(\}|1)?`).Draw(t, "text"))
		var strict, plain struct {
			A int `json:"a"`
		}
		strictly, plainly := segue.UnmarshalStrict(text, &strict), json.Unmarshal(text, &plain)
		if (strictly == nil) != (plainly == nil) || (plainly == nil && strict != plain) {
			t.Fatalf("%q: strictly %v, %v; plainly %v, %v", text, strict, strictly, plain, plainly)
		}
	})
}
