package networks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/segue-project/segue"
)

func TestSpecSurvivesJSON(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{MLP, Mixture, Transformer} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			want := small(kind, Dueling)
			text, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("specification differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseSpecRefuses(t *testing.T) {
	t.Parallel()
	encoder := `"steps":4,"width":3,"model":8,"heads":2,"layers":1,"feed_forward":4`
	tests := map[string]struct{ text, want string }{
		"no JSON":                  {`mlp`, "read network specification"},
		"an unknown field":         {`{"kind":"mlp","depth":3}`, `unknown field "depth"`},
		"text after the end":       {`{"kind":"mlp","heads":"plain","state":1,"hidden":[4]}{}`, "something follows the JSON value"},
		"an unknown kind":          {`{"kind":"lstm"}`, `kind is "lstm"`},
		"unknown heads":            {`{"kind":"mlp","heads":"two"}`, `heads is "two"`},
		"no state":                 {`{"kind":"mlp","heads":"plain"}`, "state is 0"},
		"no layer":                 {`{"kind":"mlp","heads":"plain","state":1}`, "hidden has 0 layers"},
		"a layer of nothing":       {`{"kind":"mlp","heads":"plain","state":1,"hidden":[0]}`, "hidden is 0"},
		"a layer without end":      {`{"kind":"mlp","heads":"plain","state":1,"hidden":[1000000000]}`, "hidden is 1000000000"},
		"experts of no mixture":    {`{"kind":"mlp","heads":"plain","state":1,"hidden":[4],"experts":2}`, "are for moe"},
		"one expert":               {`{"kind":"moe","heads":"plain","state":1,"hidden":[4],"experts":1}`, "experts is 1"},
		"a gate that sees nothing": {`{"kind":"moe","heads":"plain","state":1,"hidden":[4],"experts":2}`, "gate is empty"},
		"a gate beyond the inputs": {`{"kind":"moe","heads":"plain","state":1,"hidden":[4],"experts":2,"gate":[5]}`, "gate names input 5, want 0 to 4"},
		"no history":               {`{"kind":"transformer","heads":"plain","state":1,"hidden":[4]}`, "history is missing"},
		"a history of no use":      {`{"kind":"mlp","heads":"plain","state":1,"hidden":[4],"history":{}}`, "history is for transformer"},
		"an empty history":         {`{"kind":"transformer","heads":"plain","state":1,"hidden":[4],"history":{}}`, "history.steps is 0"},
		"heads that do not divide": {`{"kind":"transformer","heads":"plain","state":1,"hidden":[4],"history":{` + strings.Replace(encoder, `"heads":2`, `"heads":3`, 1) + `}}`, "multiple of the 3 heads"},
		"no positions":             {`{"kind":"transformer","heads":"plain","state":1,"hidden":[4],"history":{` + encoder + `}}`, `history.positions is ""`},
		"no pool":                  {`{"kind":"transformer","heads":"plain","state":1,"hidden":[4],"history":{` + encoder + `,"positions":"learned"}}`, `history.pool is ""`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ParseSpec([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || segue.KindOf(err) != segue.Invalid {
				t.Errorf("error is %v, want an invalid specification with %q", err, tt.want)
			}
		})
	}
}

func TestInitialFillsTheParameters(t *testing.T) {
	t.Parallel()
	for _, kind := range []Kind{MLP, Mixture, Transformer} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			spec := small(kind, Actor)
			if _, err := New(spec, drawn(spec)); err != nil {
				t.Errorf("what is drawn at the start is no network: %v", err)
			}
			if diff := cmp.Diff(drawn(spec), drawn(spec)); diff != "" {
				t.Errorf("the same seed draws otherwise:\n%s", diff)
			}
		})
	}
}
