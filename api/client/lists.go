package client

import (
	"context"
	"encoding/json"
	"io"
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

// Histories returns the clusters of which there is a history, with what is held of each.
func (c *Client) Histories(ctx context.Context) ([]api.HistoryAnswer, error) {
	var answer struct {
		Histories []api.HistoryAnswer `json:"histories"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/histories", "", nil, &answer)
	return answer.Histories, err
}

// Statistics describes the history of a cluster.
func (c *Client) Statistics(ctx context.Context, cluster string) (answer api.Statistics, err error) {
	err = c.do(ctx, http.MethodGet, "/v1/histories/"+url.PathEscape(cluster)+"/statistics", "", nil, &answer)
	return answer, err
}

// Import adds a history to that of a cluster, as its file is: sacct -P, SWF, the
// Lonestar6 log or Parquet, gzip or not. It takes as long as ctx lets it: the limit of
// Config.HTTP does not count. With a key it is done once, however often the same history
// is sent within a day.
func (c *Client) Import(ctx context.Context, cluster, key string, history io.Reader) (answer api.Imported, err error) {
	patient := *c.http
	patient.Timeout = 0
	header := http.Header{keyHeader: {key}, "Content-Type": {"application/octet-stream"}}
	err = c.send(ctx, &patient, http.MethodPost, "/v1/histories/"+url.PathEscape(cluster)+"/import", header, history, &answer)
	return answer, err
}

// Models returns the trained models that the server knows.
func (c *Client) Models(ctx context.Context) ([]api.Model, error) {
	var answer struct {
		Models []api.Model `json:"models"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/models", "", nil, &answer)
	return answer.Models, err
}

// Audit returns the latest n lines of the audit log, the latest first.
func (c *Client) Audit(ctx context.Context, n int) ([]api.AuditAnswer, error) {
	return list[api.AuditAnswer](ctx, c, "/v1/audit", url.Values{}, "lines", n)
}
