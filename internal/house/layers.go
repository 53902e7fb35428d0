package house

import (
	"fmt"
	"slices"
	"strings"
)

// layer is a storey of the house. A package may import packages of lower
// layers; what it may import of its own layer is said by mayImport.
type layer int

const (
	unplaced layer = iota
	root           // the vocabulary
	brain          // values in, values out: no I/O, no clock, no goroutine
	hand           // the root plus one outside technology
	wire           // builds and runs the rest
	desk           // what commands share
	command        // flags, files, exit codes
	testOnly       // never shipped
)

var layerNames = [...]string{"unplaced package", "root", "brain", "hand", "wire", "desk", "command", "test-only package"}

func (l layer) String() string { return layerNames[l] }

// brains in the order in which they may import each other: each only those
// before it. See docs/adr/0001-brains-may-import-brains.md.
var brains = []string{"budgets", "simulator", "outcomes", "predictor", "policy", "evaluation", "reports"}

// wires in the order in which they may import each other: a server runs the loops.
// One that is not here imports none. See docs/adr/0005-a-server-above-the-loops.md.
var wires = []string{"provisioner", "server"}

// rooms is the map of the house: the layer of every folder below the root,
// for the packages in it and under it. Some of them are not built yet.
var rooms = map[string]layer{
	"budgets":    brain,
	"simulator":  brain,
	"outcomes":   brain,
	"predictor":  brain,
	"policy":     brain,
	"evaluation": brain,
	"reports":    brain,

	"traces":     hand,
	"schedulers": hand,
	"store":      hand,
	"models":     hand,
	"gpus":       hand,
	"api":        hand,
	"web":        hand,
	"config":     hand,

	"provisioner": wire,
	"trainer":     wire,
	"server":      wire,

	"cmd/internal": desk,

	"cmd/segue":         command,
	"cmd/segue-trainer": command,
	"cmd/segue-gpu":     command,

	"internal/house":     testOnly,
	"internal/pgtest":    testOnly,
	"internal/shared":    testOnly,
	"internal/slurmtest": testOnly,
	"internal/toymodel":  testOnly,
}

// roomOf returns the folder of rooms that holds the package in dir, and its
// layer.
func roomOf(dir string) (string, layer) {
	if dir == "" {
		return "", root
	}
	parts := strings.Split(dir, "/")
	name := parts[0]
	if (name == "cmd" || name == "internal") && len(parts) > 1 {
		name += "/" + parts[1]
	}
	return name, rooms[name]
}

// placedPackages wants every package in the map of the house.
func placedPackages(t *Tree) []Problem {
	var problems []Problem
	for _, dir := range t.packages() {
		if _, l := roomOf(dir); l == unplaced {
			problems = append(problems, Problem{Path: dir, Text: "this package is not on the map of the house: " +
				"give it a layer in internal/house/layers.go and a place in ARCHITECTURE.md"})
		}
	}
	return problems
}

// arrowsPointOneWay wants imports to point from command to wire to hand to
// brain to root. Tests are free: what they import is not shipped, and a brain
// is well tested on a history that a hand reads.
func arrowsPointOneWay(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			dir, own := t.own(imp.path)
			if !own {
				continue
			}
			if why := mayImport(f.dir, dir); why != "" {
				problems = append(problems, inFile(f, imp.line, "%s imports %s: %s", named(f.dir), named(dir), why))
			}
		}
	}
	return problems
}

// mayImport returns why the package in the folder from may not import the one
// in the folder to; nothing when it may.
func mayImport(from, to string) string {
	fromRoom, fromLayer := roomOf(from)
	toRoom, toLayer := roomOf(to)
	switch {
	case fromLayer == unplaced || toLayer == unplaced || fromRoom == toRoom || fromLayer > toLayer:
		return ""
	case toLayer == testOnly:
		return "only tests may"
	case fromLayer < toLayer:
		return fmt.Sprintf("a %s never imports a %s", fromLayer, toLayer)
	case fromLayer == brain && slices.Index(brains, fromRoom) > slices.Index(brains, toRoom):
		return ""
	case fromLayer == brain:
		return "brains import only those before them in " + strings.Join(brains, ", ")
	case fromLayer == wire && slices.Index(wires, toRoom) >= 0 && slices.Index(wires, fromRoom) > slices.Index(wires, toRoom):
		return ""
	}
	return fmt.Sprintf("a %s never imports another %s", fromLayer, toLayer)
}

// standardLibraryRoot wants the vocabulary free of other modules.
func standardLibraryRoot(t *Tree) []Problem {
	var problems []Problem
	for _, f := range t.files {
		if f.dir != "" || f.test {
			continue
		}
		for _, imp := range f.imports {
			if _, own := t.own(imp.path); !own && !standard(imp.path) {
				problems = append(problems, inFile(f, imp.line, "the root imports %s: it imports the standard library only", imp.path))
			}
		}
	}
	return problems
}

// packages returns the folders that hold Go files, in order.
func (t *Tree) packages() []string {
	var dirs []string
	for _, f := range t.files {
		dirs = append(dirs, f.dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func named(dir string) string {
	if dir == "" {
		return "the root"
	}
	return dir
}
