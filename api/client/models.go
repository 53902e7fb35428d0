package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/segue-project/segue/api"
)

// Models returns the trained models that the server knows.
func (c *Client) Models(ctx context.Context) ([]api.Model, error) {
	var answer struct {
		Models []api.Model `json:"models"`
	}
	err := c.do(ctx, http.MethodGet, "/v1/models", "", nil, &answer)
	return answer.Models, err
}

// PromoteModel makes a model the champion, for a reason that is one line of at most 500
// characters. The error is of kind NotFound where there is no such model, and Conflict
// where it is damaged or the champion already. With a key it is done once, however often
// it is asked for within a day.
func (c *Client) PromoteModel(ctx context.Context, id, reason, key string) (answer api.Promotion, err error) {
	err = c.do(ctx, http.MethodPost, "/v1/models/"+url.PathEscape(id)+"/promote", key, api.PromoteRequest{Reason: reason}, &answer)
	return answer, err
}

// RollBackModel makes the champion before the expected one the champion again. The error
// is of kind Conflict where the champion is another one by now, and NotFound where there
// is none before it. With a key it is done once, however often it is asked for within a
// day; without one, too, since then the champion is another one.
func (c *Client) RollBackModel(ctx context.Context, expected, reason, key string) (answer api.Promotion, err error) {
	err = c.do(ctx, http.MethodPost, api.RollbackPath, key, api.RollbackRequest{Expected: expected, Reason: reason}, &answer)
	return answer, err
}
