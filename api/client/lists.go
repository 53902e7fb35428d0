package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/segue-project/segue"
	"github.com/segue-project/segue/api"
)

// mostAtOnce is how many lines a page of a list may have.
const mostAtOnce = 500

// list returns the first n lines of a list that comes page by page, which have a name in
// its answers.
func list[T any](ctx context.Context, c *Client, path string, q url.Values, name string, n int) (all []T, err error) {
	for {
		q.Set("limit", strconv.Itoa(min(n-len(all), mostAtOnce)))
		var page map[string]json.RawMessage
		if err := c.do(ctx, http.MethodGet, path+"?"+q.Encode(), "", nil, &page); err != nil {
			return nil, err
		}
		var lines []T
		if err := json.Unmarshal(page[name], &lines); err != nil {
			return nil, segue.Errorf(segue.Corrupt, "read the server's list of %s: %w", name, err)
		}
		all = append(all, lines...)
		if page["next"] == nil || len(all) >= n {
			return all, nil
		}
		var next string
		if err := json.Unmarshal(page["next"], &next); err != nil {
			return nil, segue.Errorf(segue.Corrupt, "read the server's list of %s: %w", name, err)
		}
		q.Set("cursor", next)
	}
}

// Forecast asks how long a submission now would wait.
func (c *Client) Forecast(ctx context.Context, r api.ForecastRequest) (answer api.ForecastAnswer, err error) {
	q := url.Values{"nodes": {strconv.Itoa(r.Nodes)}, "time_limit": {r.TimeLimit}}
	if r.GPUsPerNode > 0 {
		q.Set("gpus_per_node", strconv.Itoa(r.GPUsPerNode))
	}
	for name, value := range map[string]string{"partition": r.Partition, "account": r.Account, "cluster": r.Cluster} {
		if value != "" {
			q.Set(name, value)
		}
	}
	err = c.do(ctx, http.MethodGet, "/v1/forecasts?"+q.Encode(), "", nil, &answer)
	return answer, err
}

// Audit returns the latest n lines of the audit log, the latest first.
func (c *Client) Audit(ctx context.Context, n int) ([]api.AuditAnswer, error) {
	return list[api.AuditAnswer](ctx, c, "/v1/audit", url.Values{}, "lines", n)
}
