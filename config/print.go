package config

import (
	"fmt"
	"net/url"

	"go.yaml.in/yaml/v4"
)

// hidden stands for a secret that is printed.
const hidden = "xxxxx"

// Print returns the configuration as a file that Parse reads, without secrets.
func Print(c Config) ([]byte, error) {
	c.DatabaseURL, c.Training.Webhook = withoutPassword(c.DatabaseURL), withoutPath(c.Training.Webhook)
	text, err := yaml.Dump(&c)
	if err != nil {
		return nil, fmt.Errorf("print the configuration: %w", err)
	}
	return text, nil
}

func withoutPassword(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", hidden)
		u.RawQuery = q.Encode()
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
