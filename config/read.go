package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/segue-project/segue"
)

// Given is a setting that counts before the file's: of the environment, or a flag.
type Given struct {
	Setting string // its name in the file, such as tls.elsewhere
	By      string // what gives it, for messages: DATABASE_URL, or --listen
	Set     func(*Config)
}

// Read reads the file at path, "" for none, with what the environment says instead,
// and then what is given besides. All of it is checked together. The error, of kind
// Invalid, has a line for each thing that is wrong: where it stands (file:line:column,
// or the name of the variable or flag), what was found and what is allowed.
func Read(path string, environment func(name string) string, besides ...Given) (Config, error) {
	var text []byte
	if path != "" {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return Config{}, segue.Errorf(segue.NotFound, "read the configuration: %w", err)
		}
	}
	return parse(path, text, append(variables(environment), besides...))
}

// variables are what the environment gives: what may be a secret, or is set there by
// habit.
func variables(environment func(name string) string) (all []Given) {
	for _, v := range []struct {
		name, setting string
		set           func(c *Config, value string)
	}{
		{"DATABASE_URL", "database_url", func(c *Config, value string) { c.DatabaseURL = value }},
		{"SEGUE_TRAINING_WEBHOOK", "training.webhook", func(c *Config, value string) { c.Training.Webhook = value }},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "tracing.endpoint", func(c *Config, value string) { c.Tracing.Endpoint = value }},
	} {
		if value := environment(v.name); value != "" {
			all = append(all, Given{v.setting, v.name, func(c *Config) { v.set(c, value) }})
		}
	}
	return all
}

// Parse reads the text of a file of a name, as Read does.
func Parse(name string, text []byte) (Config, error) { return parse(name, text, nil) }

func parse(name string, text []byte, given []Given) (Config, error) {
	var root yaml.Node
	var c Config
	err := onlyDocument(text, &root)
	if err == nil && !root.IsZero() {
		err = yaml.Load(text, &c, yaml.WithKnownFields())
	}
	if err != nil {
		return Config{}, segue.Errorf(segue.Invalid, "%s", strings.Join(explained(name, err), "\n"))
	}
	by := map[string]string{}
	for _, g := range given {
		g.Set(&c)
		by[g.Setting] = g.By
	}
	if wrong := c.check(); len(wrong) > 0 {
		lines := make([]string, len(wrong))
		for i, w := range wrong {
			setting := strings.Join(w.path, ".")
			lines[i] = fmt.Sprintf("%s: %s", setting, w.text)
			if giver, ok := by[setting]; ok {
				lines[i] = fmt.Sprintf("%s (%s): %s", giver, setting, w.text)
			} else if !root.IsZero() {
				line, column := whereIs(&root, w.path)
				lines[i] = fmt.Sprintf("%s:%d:%d: %s", name, line, column, lines[i])
			}
		}
		return Config{}, segue.Errorf(segue.Invalid, "%s", strings.Join(lines, "\n"))
	}
	return c, nil
}

// severalError is that of a file with more than one document.
type severalError struct{ line, column int }

func (severalError) Error() string { return "a second document begins: want one" }

// onlyDocument reads the one document of a file: none where there is nothing, or
// nothing but comments.
func onlyDocument(text []byte, root *yaml.Node) error {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	if err := loader.Load(root); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	var second yaml.Node
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return severalError{second.Line, second.Column}
}

// explained returns a line for each thing that the library found wrong.
func explained(name string, err error) []string {
	var lines []string
	all, several := errors.AsType[*yaml.LoadErrors](err)
	one, single := errors.AsType[*yaml.LoadError](err)
	second, more := errors.AsType[severalError](err)
	switch {
	case more:
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", name, second.line, second.column, second))
	case several:
		for _, e := range all.Errors {
			lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", name, e.Mark.Line, e.Mark.Column, inWords(e.Message)))
		}
	case single:
		lines = append(lines, fmt.Sprintf("%s:%d:%d: %s", name, one.Mark.Line, one.Mark.Column, one.Message))
	default:
		lines = append(lines, name+": "+err.Error())
	}
	return lines
}

var (
	unknownField = regexp.MustCompile(`^field (.*) not found in type (\S+)$`)
	wrongType    = regexp.MustCompile("^cannot construct !!(\\w+)(?: `(.*)`)? into (\\S+)$")
)

// inWords returns what the library says of a type of Go as a person would.
func inWords(message string) string {
	if m := unknownField.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("%s is not known here: want %s", m[1], strings.Join(namesOf(m[2]), ", "))
	}
	m := wrongType.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	what := m[2]
	switch m[1] {
	case "map":
		what = "a group of settings"
	case "seq":
		what = "a list"
	}
	want, ok := map[string]string{
		"int": "a whole number", "float64": "a number", "string": "a text", "[]string": "a list", "map[string]string": "names, each with a text",
	}[m[3]]
	if !ok {
		want = "a group of settings: " + strings.Join(namesOf(m[3]), ", ")
	}
	return fmt.Sprintf("found %s: want %s", what, want)
}

// namesOf returns the names that a group of settings knows, by its type.
func namesOf(typeName string) []string {
	var names []string
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		for f := range t.Fields() {
			if t.String() == typeName {
				name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
				names = append(names, name)
			}
			if f.Type.Kind() == reflect.Struct {
				look(f.Type)
			}
		}
	}
	look(reflect.TypeFor[Config]())
	return names
}

// whereIs returns the line and column of the value at a path.
func whereIs(n *yaml.Node, path []string) (line, column int) {
	if n.Kind == yaml.DocumentNode {
		return whereIs(n.Content[0], path)
	}
	for i := 0; len(path) > 0 && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			return whereIs(n.Content[i+1], path[1:])
		}
	}
	return n.Line, n.Column
}
