//go:build native

package main

import (
	"fmt"
	"io"
	"maps"

	"github.com/spf13/pflag"

	"github.com/segue-project/segue/models"
	"github.com/segue-project/segue/policy/published"
	"github.com/segue-project/segue/trainer/learning"
)

// addPublished declares the flags of the size of the published method.
func (f *trainFlags) addPublished(flags *pflag.FlagSet) {
	flags.IntVar(&f.published.Trees, "published-trees", published.ForestTrees, "trees of the published method's forest: fewer are not the published method any more, and the rows say so")
	flags.IntVar(&f.published.Width, "published-width", published.Width, "width of its networks, likewise")
	flags.IntVar(&f.published.Epochs, "published-epochs", published.Epochs, "epochs that they are trained, likewise")
}

// addMethod adds the published method to the files of a model, and what its
// readers have to know to the manifest.
func addMethod(m *models.Manifest, files map[string][]byte, result *learning.Learned) error {
	if result.Published == nil {
		return nil
	}
	own, err := published.Encode(result.Published)
	if err != nil {
		return err
	}
	maps.Copy(files, own)
	m.Notes = append(m.Notes, result.Published.Notes()...)
	for _, fit := range result.PublishedFits {
		m.Metrics[fmt.Sprintf("published_samples/%s/%s", fit.Policy, fit.Pair)] = float64(fit.Samples)
		if fit.Error > 0 {
			m.Metrics[fmt.Sprintf("published_error_hours/%s/%s", fit.Policy, fit.Pair)] = fit.Error
		}
	}
	return nil
}

// printMethod says what came of the published method.
func printMethod(w io.Writer, result *learning.Learned) {
	for _, fit := range result.PublishedFits {
		fmt.Fprintf(w, "  %s for %s: fitted to %d samples", fit.Policy, fit.Pair, fit.Samples)
		if fit.Error > 0 {
			fmt.Fprintf(w, ", mean absolute error %.2f h on others", fit.Error)
		}
		fmt.Fprintln(w)
	}
	if result.Published != nil {
		for _, note := range result.Published.Notes() {
			fmt.Fprintf(w, "  Note: %s\n", note)
		}
	}
}
