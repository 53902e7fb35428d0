package client

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"github.com/segue-project/segue/api"
)

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

// HistoryFile is a job history as its file is. Content is required.
type HistoryFile struct {
	// Content is sent as it is read: sacct -P, SWF, the Lonestar6 log or Parquet, gzip or not.
	Content io.Reader
	// Format is ls6, swf, sacct or parquet; default auto, which recognises it.
	Format string
	// Key makes it be imported once, however often the same history is sent within a day;
	// default none.
	Key string
}

// ImportHistory adds a history to that of a cluster. It takes as long as ctx lets it: the
// limit of Config.HTTP does not count. It may be sent again, whatever became of it, with a
// key or without: what the server knows already it does not write.
func (c *Client) ImportHistory(ctx context.Context, cluster string, f HistoryFile) (answer api.Imported, err error) {
	patient := *c.http
	patient.Timeout = 0
	path := "/v1/histories/" + url.PathEscape(cluster) + "/import"
	if f.Format != "" && f.Format != "auto" {
		path += "?" + url.Values{"format": {f.Format}}.Encode()
	}
	header := http.Header{
		keyHeader: {f.Key}, "Content-Type": {"application/octet-stream"},
		"Expect": {"100-continue"}, // who is refused learns why, and sends no gigabytes
	}
	err = c.send(ctx, &patient, http.MethodPost, path, header, f.Content, &answer)
	return answer, err
}
