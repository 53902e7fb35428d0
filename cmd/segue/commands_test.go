package main

import (
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Whatever a page of the dashboard or a document tells people to type, the program
// knows: the command and each of its flags, those of sbatch's too.
func TestTheProgramKnowsWhatPeopleAreToldToType(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]int{"web/templates/*.gohtml": 8, "docs/*.md": 120, "README.md": 3} {
		names, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, name := range names {
			for _, line := range toldToType(read(t, strings.TrimPrefix(filepath.ToSlash(name), "../../"))) {
				found++
				if err := knows(line); err != nil {
					t.Errorf("%s tells people to type %q: %v", name, line, err)
				}
			}
		}
		if found < want {
			t.Errorf("%s: %d commands, want at least %d", pattern, found, want)
		}
	}
}

// The test above finds what is wrong.
func TestWhatTheProgramDoesNotKnowIsFound(t *testing.T) {
	t.Parallel()
	page := "<pre><code>segue history import FILE --cluster N{{.Flag}}</code></pre>\n`segue train later` and `segue store --backup`.\n" +
		"```sh\nexport A=1 && A=2 segue sbatch --chain train.sh > out\nsegue models list \\\n  --all; segue token create --scope read\n```\nsegue is a word.\n"
	wrong := map[string]bool{
		"history import FILE --cluster N": false, "train later": true, "store --backup": true, "sbatch --chain train.sh": true, "models list --all": true,
		"token create --scope read": false,
	}
	lines := toldToType(page)
	if len(lines) != len(wrong) {
		t.Errorf("%d commands %q, want %d", len(lines), lines, len(wrong))
	}
	for _, line := range lines {
		want, ok := wrong[line]
		if err := knows(line); !ok || (err != nil) != want {
			t.Errorf("%q: %v, want an error: %t, and that it is looked for: %t", line, err, want, ok)
		}
	}
}

var (
	inCode = regexp.MustCompile("(?s)<code>(.*?)</code>|```[a-z]*\n(.*?)\n```|`([^`\n]+)`")
	// inner is what a template or a shell puts there.
	inner     = regexp.MustCompile(`\{\{.*?\}\}|\$\([^)]*\)`)
	continued = regexp.MustCompile(`\\\n\s*`)
	// command is segue where a command may begin, and its arguments up to what ends it.
	command = regexp.MustCompile(`(?m)(?:^|[;&|(]|\b(?:until|while|if|sudo))[ \t]*(?:[A-Z_]+=\S* )*segue ([^|;&>#)\n]+)`)
)

// toldToType returns the arguments of all calls of segue in the code of a page.
func toldToType(page string) []string {
	var all []string
	for _, code := range inCode.FindAllStringSubmatch(page, -1) {
		text := continued.ReplaceAllString(html.UnescapeString(inner.ReplaceAllString(code[1]+code[2]+code[3], "")), "")
		for _, call := range command.FindAllStringSubmatch(text, -1) {
			all = append(all, strings.TrimSpace(call[1]))
		}
	}
	return all
}

// knows returns an error for a command or a flag that there is not. Values are as
// they may be: many are placeholders.
func knows(line string) error {
	words := strings.Fields(line)
	if words[0] == "sbatch" {
		for _, p := range options.Submission.Read(words[1:]).Problems {
			if p.Kind != options.MissingValue {
				return fmt.Errorf("%s", p.Text)
			}
		}
		return nil
	}
	root := newRootCommand()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if len(rest) > 0 && cmd.HasSubCommands() && !strings.HasPrefix(rest[0], "-") {
		return fmt.Errorf("%s has no command %s", cmd.CommandPath(), rest[0])
	}
	cmd.InitDefaultHelpFlag()
	for _, word := range rest {
		if word == "--" {
			break
		}
		if flag := flagOf(word); flag != "" && lookUp(cmd.Flags(), flag) == nil && lookUp(cmd.InheritedFlags(), flag) == nil {
			return fmt.Errorf("%s has no flag %s", cmd.CommandPath(), flag)
		}
	}
	return nil
}

// flagOf returns the name of a flag, with its dashes, that a word of a document is;
// "" for another word.
func flagOf(word string) string {
	word = strings.Trim(word, `[]",.:`)
	name, _, _ := strings.Cut(word, "=")
	if !regexp.MustCompile(`^(-[a-z]|--[a-z][a-z-]*)$`).MatchString(name) {
		return ""
	}
	return name
}

func lookUp(flags *pflag.FlagSet, name string) *pflag.Flag {
	if long, ok := strings.CutPrefix(name, "--"); ok {
		return flags.Lookup(long)
	}
	return flags.ShorthandLookup(name[1:])
}
