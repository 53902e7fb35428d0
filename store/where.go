package store

import (
	"fmt"
	"strings"
)

// where is the condition of a query, which grows.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition that ends where its argument belongs: "nodes = ".
func (w *where) and(condition string, arg any) {
	w.args = append(w.args, arg)
	w.conditions = append(w.conditions, fmt.Sprintf("%s$%d", condition, len(w.args)))
}

func (w *where) clause() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}
