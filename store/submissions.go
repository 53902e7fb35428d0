package store

import (
	"encoding/json"

	"github.com/segue-project/segue"
)

// submission is a segue.Submission as JSON: what a user typed may be any bytes,
// and base64 keeps them.
type submission struct {
	Args     [][]byte              `json:"args"`
	ScriptAt int                   `json:"script_at"`
	Script   []byte                `json:"script"`
	Env      [][]byte              `json:"env"`
	Dir      []byte                `json:"dir"`
	Umask    uint32                `json:"umask"`
	Limits   []segue.ResourceLimit `json:"limits"`
}

func encodeSubmission(s segue.Submission) ([]byte, error) {
	return json.Marshal(submission{bytesOf(s.Args), s.ScriptAt, s.Script, bytesOf(s.Env), []byte(s.Dir), s.Umask, s.Limits})
}

func decodeSubmission(content []byte) (segue.Submission, error) {
	var s submission
	if err := json.Unmarshal(content, &s); err != nil {
		return segue.Submission{}, segue.Errorf(segue.Corrupt, "a submission: %w", err)
	}
	return segue.Submission{
		Args: stringsOf(s.Args), ScriptAt: s.ScriptAt, Script: s.Script, Env: stringsOf(s.Env),
		Dir: string(s.Dir), Umask: s.Umask, Limits: s.Limits,
	}, nil
}

func bytesOf(texts []string) [][]byte {
	if texts == nil {
		return nil
	}
	all := make([][]byte, len(texts))
	for i, t := range texts {
		all[i] = []byte(t)
	}
	return all
}

func stringsOf(all [][]byte) []string {
	if all == nil {
		return nil
	}
	texts := make([]string, len(all))
	for i, b := range all {
		texts[i] = string(b)
	}
	return texts
}
