// Package house keeps the promises of ARCHITECTURE.md: it reads the source of
// this repository and reports every place that breaks a rule of the house. Its
// tests run the rules on the repository, and each rule on a small source that
// breaks it.
//
// It reads files only. It never builds or runs anything (its tests build the
// command once, to look into the binary), and nothing that is shipped imports
// it.
//
// Start reading at layers.go, which holds the map of the house; then at the
// list of rules in rules.go.
package house
