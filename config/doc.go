// Package config reads the file that configures a server: YAML, in which nothing
// is guessed. A name that is not known, a span without its unit or a value that
// makes no sense is refused with its line and column, what was found and what is
// allowed; all of them at once.
//
// It opens nothing but that file, and knows nothing of what is configured. Start
// reading at config.go, which has every setting.
package config
