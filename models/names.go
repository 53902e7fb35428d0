package models

import (
	"regexp"

	"github.com/segue-project/segue"
)

// The files that every model has.
const (
	ManifestFile    = "manifest.json"
	ManifestSumFile = "manifest.sha256" // one line, as sha256sum prints and checks it
)

// The files that models usually have, and what they are for. A model may have
// others: the manifest lists them all.
const (
	IndexFile       = "learned.json"     // what the other files are, for package learned
	CalibrationFile = "calibration.json" // conformal corrections of the forecast
	DriftFile       = "drift.json"       // what inputs training saw
	ReportFile      = "report.html"      // the training report, for people
)

// TreesFile returns the name of the file of trees that forecast the target,
// in the binary format that package leaves reads: "trees-wait.bin".
func TreesFile(target string) string { return "trees-" + target + ".bin" }

// WeightsFile returns the name of the file of a policy's network weights:
// "moe-dqn.safetensors".
func WeightsFile(policy string) string { return policy + ".safetensors" }

// What lies in a registry beside the models.
const (
	championFile = "champion"         // the champion's ID
	logFile      = "promotions.jsonl" // every promotion, rollback and refusal
)

// plainName is what models and their files may be called: no separator of any
// system, no hidden file, nothing that differs only by case.
var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,99}$`)

const plainNameInWords = "want at most 100 lower-case letters, digits, '.', '_' and '-', beginning with a letter or a digit"

// CheckID refuses what cannot be the ID of a model, with an error of kind Invalid:
// for those who must know before the model is made.
func CheckID(id string) error {
	if !plainName.MatchString(id) || id == championFile || id == logFile {
		return segue.Errorf(segue.Invalid, "model ID %q: %s; not %q or %q", id, plainNameInWords, championFile, logFile)
	}
	return nil
}

// checkFileName refuses what cannot be the name of a model's file.
func checkFileName(name string) error {
	if !plainName.MatchString(name) || name == ManifestFile || name == ManifestSumFile {
		return segue.Errorf(segue.Invalid, "file name %q: %s; not %q or %q", name, plainNameInWords, ManifestFile, ManifestSumFile)
	}
	return nil
}
