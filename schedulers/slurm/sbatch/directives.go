package sbatch

import (
	"bytes"
	"fmt"

	"github.com/segue-project/segue/schedulers/slurm/sbatch/options"
)

// Word is one word of a directive line.
type Word struct {
	Text string
	Line int // of the script, from 1
}

// Directives are the words of all lines of a script that begin with one prefix,
// such as "#SBATCH".
type Directives struct {
	Words []Word
	// Het is true when a line separates the components of a heterogeneous job; the
	// words of the first one are here.
	Het bool
	// Legacy is true when there are lines that begin with "#SLURM".
	Legacy bool
	// Refused says why sbatch refuses the lines; empty when it does not.
	Refused string
	// Doubtful says where versions of Slurm read a line differently.
	Doubtful string
}

// ReadDirectives collects the directives of a script: those before the first
// line that is neither blank nor a comment. Each begins with the prefix in the
// first column. A space after the prefix is not needed.
func ReadDirectives(script []byte, prefix string) Directives {
	var d Directives
	number := 0
	for line := range bytes.Lines(script) {
		number++
		line = bytes.TrimSuffix(line, []byte("\n"))
		rest, ours := bytes.CutPrefix(line, []byte(prefix))
		if !ours && prefix == sbatchPrefix {
			rest, ours = bytes.CutPrefix(line, []byte("#SLURM"))
			d.Legacy = d.Legacy || ours
		}
		if !ours {
			if text := bytes.TrimLeft(line, spaces); len(text) > 0 && text[0] != '#' {
				break
			}
			continue
		}
		if d.split(rest, number, prefix); d.Refused != "" || d.Het {
			break
		}
	}
	return d
}

const (
	sbatchPrefix = "#SBATCH"
	seguePrefix  = "#SEGUE"
	spaces       = " \t\v\f\r"
)

// split splits a line into words as sbatch does, which is not as a shell does:
// white space separates; quotation marks of both kinds group; a backslash makes
// the next character an ordinary one, within quotation marks too; an ordinary
// "#" begins a comment even within a word. A word of which nothing is left
// ("") ends the line.
func (d *Directives) split(line []byte, number int, prefix string) {
	for {
		line = bytes.TrimLeft(line, spaces)
		if len(line) == 0 {
			return
		}
		if line[0] == ':' {
			d.Refused = fmt.Sprintf("line %d: a word of a directive begins with a colon", number)
			return
		}
		word, rest, closed := d.word(line, number)
		switch {
		case !closed:
			d.Refused = fmt.Sprintf("line %d: a quotation mark is not closed", number)
			return
		case len(word) == 0:
			return
		case prefix == sbatchPrefix && (string(word) == "hetjob" || string(word) == "packjob"):
			d.Het = true
			return
		}
		d.Words = append(d.Words, Word{string(word), number})
		line = rest
	}
}

// word returns the first word of a line that begins with one, and what follows.
func (d *Directives) word(line []byte, number int) (word, rest []byte, closed bool) {
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line):
			i++
			if quote == 0 && bytes.IndexByte([]byte(spaces), line[i]) >= 0 {
				d.Doubtful = fmt.Sprintf("line %d: older versions of sbatch end a word at a space after a backslash", number)
			}
			word = append(word, line[i])
		case c == '\\':
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && c == '#':
			return word, nil, true
		case quote == 0 && bytes.IndexByte([]byte(spaces), c) >= 0:
			return word, line[i:], true
		default:
			word = append(word, c)
		}
	}
	return word, nil, quote == 0
}

// read reads the words as one command line: an option and its value may be on
// two lines.
func (d *Directives) read(table options.Table) options.Line {
	args := make([]string, len(d.Words))
	for i, w := range d.Words {
		args[i] = w.Text
	}
	return table.Read(args)
}

// translated reports whether sbatch looks for options of another batch system
// in the script and finds some: "#PBS" or "#BSUB" lines, until 100 lines are
// neither blank nor comments.
func translated(script []byte) bool {
	commands := 0
	for line := range bytes.Lines(script) {
		if bytes.HasPrefix(line, []byte("#PBS")) || bytes.HasPrefix(line, []byte("#BSUB")) {
			return true
		}
		if text := bytes.TrimLeft(line, spaces+"\n"); len(text) > 0 && text[0] != '#' {
			commands++
		}
		if commands >= 100 {
			break
		}
	}
	return false
}
