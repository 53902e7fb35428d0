package main

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue/config"
)

// span is the value of a flag that is a span, with the units that the file of a
// server's configuration knows: 30d too. 0 needs none.
type span time.Duration

// spanVar adds such a flag.
func spanVar(flags *pflag.FlagSet, into *time.Duration, name string, value time.Duration, about string) {
	*into = value
	flags.Var((*span)(into), name, about)
}

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	if text == "0" || text == "0s" {
		*s = 0
		return nil
	}
	d, err := config.ParseDuration(text)
	if err != nil {
		return err
	}
	*s = span(d)
	return nil
}

// String implements pflag.Value.
func (s *span) String() string {
	if *s == 0 {
		return "0"
	}
	return config.Duration(*s).String()
}

// Type implements pflag.Value.
func (*span) Type() string { return "duration" }
