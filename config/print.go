package config

import (
	"fmt"
	"maps"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v4"
)

// hidden stands for a secret that is printed.
const hidden = "xxxxx"

// Print returns the configuration as a file that Parse reads, without secrets.
func Print(c Config) ([]byte, error) {
	c.DatabaseURL, c.Training.Webhook = withoutPassword(c.DatabaseURL), withoutPath(c.Training.Webhook)
	c.Tracing.Endpoint = withoutUser(c.Tracing.Endpoint)
	c.Cluster.Environment = withoutValues(c.Cluster.Environment)
	text, err := yaml.Dump(&c)
	if err != nil {
		return nil, fmt.Errorf("print the configuration: %w", err)
	}
	return text, nil
}

// withoutValues hides what variables hold, such as SLURM_JWT, but for the one that
// says where Slurm's configuration is.
func withoutValues(variables map[string]string) map[string]string {
	shown := maps.Clone(variables)
	for name := range shown {
		if name != "SLURM_CONF" {
			shown[name] = hidden
		}
	}
	return shown
}

// withoutUser hides who is named in a URL, with the password, and what is asked for:
// either may be what lets in.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return ""
	case err != nil:
		return hidden
	}
	if u.User != nil {
		u.User = url.User(hidden)
	}
	if u.RawQuery != "" {
		u.RawQuery = hidden
	}
	return u.String()
}

func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	q := u.Query()
	for _, name := range []string{"password", "sslpassword"} {
		if q.Has(name) {
			q.Set(name, hidden)
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}

// withoutPath hides what of the URL of a webhook is mostly its secret.
func withoutPath(text string) string {
	u, err := url.Parse(text)
	switch {
	case text == "":
		return ""
	case err != nil:
		return hidden
	}
	return u.Scheme + "://" + u.Host + "/" + hidden
}

// PrintAll returns what Print does, and after it every other setting as a comment: its
// default, where that is a fixed value, and what it is. Without the first letter of
// such a line it counts.
func PrintAll(c Config) ([]byte, error) {
	text, err := Print(c)
	if err != nil {
		return nil, err
	}
	set, err := settingsIn(text)
	if err != nil {
		return nil, err
	}
	if len(set) == 0 {
		text = nil // "{}"
	}
	group := ""
	for _, s := range Settings() {
		if set[s.Name] {
			continue
		}
		at := strings.LastIndex(s.Name, ".") + 1
		if s.Name[:at] != group {
			text = appendGroups(text, group, s.Name[:at])
			group = s.Name[:at]
		}
		line := strings.TrimRight(indent(group)+s.Name[at:]+": "+s.Default, " ")
		text = fmt.Appendf(text, "#%-36s # %s: %s\n", line, s.Kind, s.About)
	}
	return text, nil
}

// settingsIn returns which settings a file sets, by their names.
func settingsIn(text []byte) (map[string]bool, error) {
	var file map[string]any
	if err := yaml.Load(text, &file); err != nil {
		return nil, fmt.Errorf("read what is printed: %w", err)
	}
	set := map[string]bool{}
	var look func(values map[string]any, group string)
	look = func(values map[string]any, group string) {
		for key, value := range values {
			set[group+key] = true
			if inner, ok := value.(map[string]any); ok {
				look(inner, group+key+".")
			}
		}
	}
	look(file, "")
	return set, nil
}

// appendGroups begins the groups of settings, such as "training.mail.", that the one
// before was not in.
func appendGroups(text []byte, before, group string) []byte {
	if group == "" {
		return text
	}
	for at, letter := range group {
		if outer := group[:at+1]; letter == '.' && !strings.HasPrefix(before, outer) {
			name := group[strings.LastIndex(group[:at], ".")+1 : at]
			text = fmt.Appendf(text, "#%s%s:\n", indent(group[:strings.LastIndex(group[:at], ".")+1]), name)
		}
	}
	return text
}

// indent returns how far the settings of a group stand to the right.
func indent(group string) string { return strings.Repeat("  ", strings.Count(group, ".")) }
