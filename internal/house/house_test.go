package house

import (
	"os"
	"testing"
)

// repository is the root of this repository, from where this package's tests
// run.
const repository = "../.."

func TestRepositoryKeepsTheRules(t *testing.T) {
	t.Parallel()
	tree, err := Read(os.DirFS(repository))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Problems(tree) {
		t.Error(p)
	}
}

func TestMapOfTheHouse(t *testing.T) {
	t.Parallel()
	var onMap int
	for _, l := range rooms {
		if l == brain {
			onMap++
		}
	}
	if onMap != len(brains) {
		t.Errorf("the map has %d brains, the order of brains %d", onMap, len(brains))
	}
	for _, name := range brains {
		if rooms[name] != brain {
			t.Errorf("%s is in the order of brains, and a %s on the map", name, rooms[name])
		}
	}
}
