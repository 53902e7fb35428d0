package store

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The queries of a forecast are answered by an index, without sorting.
func TestForecastQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	shape := JobQuery{Cluster: "c", Until: t0, Nodes: 8, Limit: 48 * time.Hour}
	cases := map[string]struct {
		query JobQuery
		index string
	}{
		"last started":              {JobQuery{Cluster: "c", Until: t0}, "jobs_by_start"},
		"last started of a shape":   {shape, "jobs_by_shape"},
		"last started of a user":    {JobQuery{Cluster: "c", User: "ada"}, "jobs_by_user"},
		"a week of a user's starts": {JobQuery{Cluster: "c", User: "ada", From: t0, Until: t0.Add(7 * 24 * time.Hour)}, "jobs_by_user"},
	}
	for name, fresh := range engines(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, fresh(t))
			if _, err := s.ImportJobs(t.Context(), "c", madeUp(20_000)); err != nil {
				t.Fatal(err)
			}
			for name, c := range cases {
				query, args := startedQuery(c.query, 100)
				if plan := planOf(t, s, query, args); !strings.Contains(plan, c.index) || strings.Contains(strings.ToLower(plan), "sort") || strings.Contains(plan, "TEMP B-TREE") {
					t.Errorf("%s: want the index %s and no sorting, the plan is\n%s", name, c.index, plan)
				}
			}
		})
	}
}

// What a loop looks at every minute does not grow with the links that ever were.
func TestLiveLinksAreFoundByIndexes(t *testing.T) {
	t.Parallel()
	s := open(t, freshSQLite(t))
	plan := planOf(t, s, liveLinks, nil)
	if !strings.Contains(plan, "open_links") || strings.Contains(plan, "SCAN l ") || strings.Contains(plan, "SCAN links USING INDEX sqlite_autoindex") {
		t.Errorf("want the open links by their index, and no look at all links; the plan is\n%s", plan)
	}
}

// planOf returns how the engine would answer a query.
func planOf(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	explain := "EXPLAIN "
	if s.engine.name() == "sqlite" {
		explain = "EXPLAIN QUERY PLAN "
	}
	rows, err := s.read.QueryContext(t.Context(), explain+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says it
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		line := make([]any, len(columns))
		for i := range line {
			line[i] = new(string)
		}
		if err := rows.Scan(line...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, *line[len(line)-1].(*string))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
