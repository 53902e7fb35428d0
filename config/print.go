package config

import (
	"fmt"
	"maps"
	"net/url"

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
