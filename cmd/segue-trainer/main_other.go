//go:build !native

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "segue-trainer: built without the native libraries that it trains with: build it with 'make trainer'")
	os.Exit(1)
}
