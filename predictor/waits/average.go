package waits

import (
	"time"

	"github.com/segue-project/segue"
)

// Average averages forecasts quantile by quantile (Vincent, 1912): where they err in
// different ways, the average errs less than either, and it is no wider than they
// are. It is empty where one of them is. The first forecast gives the instant.
func Average(source string, parts ...segue.Forecast) segue.Forecast {
	said := make([]time.Duration, ranks)
	for _, f := range parts {
		if f.Empty() {
			return segue.Forecast{At: parts[0].At, Source: source}
		}
		for j := range said {
			said[j] += f.Quantile(rank(j)) / time.Duration(len(parts))
		}
	}
	return segue.NewForecast(parts[0].At, source, said)
}
