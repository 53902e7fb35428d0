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

// Read reads the file at path, with what the environment says instead.
func Read(path string, environment func(name string) string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, segue.Errorf(segue.NotFound, "read the configuration: %w", err)
	}
	c, err := Parse(path, text)
	if err != nil {
		return Config{}, err
	}
	c.override(environment)
	return c, nil
}

// override takes from the environment what may be a secret, or is set there by habit.
func (c *Config) override(environment func(name string) string) {
	for name, into := range map[string]*string{
		"DATABASE_URL": &c.DatabaseURL, "SEGUE_TRAINING_WEBHOOK": &c.Training.Webhook, "OTEL_EXPORTER_OTLP_ENDPOINT": &c.Tracing.Endpoint,
	} {
		if v := environment(name); v != "" {
			*into = v
		}
	}
}

// Environment is the configuration where there is no file.
func Environment(environment func(name string) string) Config {
	var c Config
	c.override(environment)
	return c
}

// Parse reads the text of a file of a name. The error, of kind Invalid, has a line
// for each thing that is wrong: file:line:column, what was found and what is
// allowed.
func Parse(name string, text []byte) (Config, error) {
	var root yaml.Node
	var c Config
	err := firstDocument(text, &root)
	if errors.Is(err, io.EOF) { // nothing, or nothing but comments
		return c, nil
	}
	if err == nil {
		err = yaml.Load(text, &c, yaml.WithKnownFields())
	}
	if err != nil {
		return Config{}, segue.Errorf(segue.Invalid, "%s", strings.Join(explained(name, err), "\n"))
	}
	if wrong := c.check(); len(wrong) > 0 {
		lines := make([]string, len(wrong))
		for i, w := range wrong {
			line, column := whereIs(&root, w.path)
			lines[i] = fmt.Sprintf("%s:%d:%d: %s: %s", name, line, column, strings.Join(w.path, "."), w.text)
		}
		return Config{}, segue.Errorf(segue.Invalid, "%s", strings.Join(lines, "\n"))
	}
	return c, nil
}

func firstDocument(text []byte, root *yaml.Node) error {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return loader.Load(root)
}

// explained returns a line for each thing that the library found wrong.
func explained(name string, err error) []string {
	var lines []string
	all, several := errors.AsType[*yaml.LoadErrors](err)
	one, single := errors.AsType[*yaml.LoadError](err)
	switch {
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
