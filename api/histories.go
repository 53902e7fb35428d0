package api

import (
	"context"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"github.com/segue-project/segue"
)

// History is what is held of a cluster. Instants are NoTime where there is none.
type History struct {
	Cluster string
	Jobs    int64
	// First and Last are the earliest and the latest submission; Seen is the latest
	// snapshot of the queue, and up to Accounted the accounting was asked.
	First, Last, Seen, Accounted segue.Time
}

// Imported is what came of an import.
type Imported struct {
	Read     int64    `json:"read" doc:"Jobs that were read."`
	Changed  int64    `json:"changed" doc:"Jobs of them that were new, or known with less."`
	Rejected int64    `json:"rejected" doc:"Records that could not be read."`
	Skipped  int64    `json:"skipped" doc:"Records that are no jobs, such as steps."`
	Problems []string `json:"problems" doc:"Some of what could not be read or kept, with the place."`
	Format   string   `json:"format" doc:"How the history was written."`
}

// Statistics describe a history. Spans are in seconds.
type Statistics struct {
	Cluster      string       `json:"cluster"`
	Jobs         int64        `json:"jobs"`
	Started      int64        `json:"started"`
	NeverStarted int64        `json:"never_started"`
	NotEnded     int64        `json:"not_ended"`
	FirstSubmit  *string      `json:"first_submit" format:"date-time"`
	LastSubmit   *string      `json:"last_submit" format:"date-time"`
	NodeHours    float64      `json:"node_hours"`
	GPUHours     float64      `json:"gpu_hours"`
	Users        int          `json:"users"`
	Wait         *Spread      `json:"wait_seconds"`
	Run          *Spread      `json:"run_seconds"`
	Nodes        int64        `json:"nodes" doc:"The size of the cluster that the history shows."`
	Shapes       []ShapeCount `json:"shapes" doc:"The most frequent ones."`
	Months       []Month      `json:"months"`
}

// Spread are the mean and quantiles of spans, in seconds.
type Spread struct {
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// ShapeCount is a shape with its jobs.
type ShapeCount struct {
	Shape string `json:"shape" example:"4 nodes x 48h0m0s"`
	Jobs  int64  `json:"jobs"`
}

// Month is one calendar month, by submission.
type Month struct {
	Name     string  `json:"month" example:"2026-11"`
	Jobs     int64   `json:"jobs"`
	MeanWait float64 `json:"mean_wait_seconds"`
}

type (
	noInput         struct{}
	historiesOutput struct {
		Body struct {
			Histories []HistoryAnswer `json:"histories"`
		}
	}
	// ClusterInput names a cluster.
	ClusterInput struct {
		Cluster string `path:"cluster" maxLength:"200" example:"lonestar6"`
	}
	statisticsOutput struct{ Body Statistics }
	importInput      struct {
		ClusterInput
		Format string `query:"format" enum:"auto,ls6,swf,sacct,parquet" default:"auto" doc:"How it is written, when that is not to be recognised."`

		body *incoming
	}
	importOutput struct{ Body Imported }
)

// HistoryAnswer is what is held of a cluster.
type HistoryAnswer struct {
	Cluster   string  `json:"cluster"`
	Jobs      int64   `json:"jobs"`
	First     *string `json:"first_submit" format:"date-time"`
	Last      *string `json:"last_submit" format:"date-time"`
	Seen      *string `json:"latest_snapshot" format:"date-time"`
	Accounted *string `json:"accounting_until" format:"date-time"`
}

func (a *API) listHistories(ctx context.Context, _ *noInput) (*historiesOutput, error) {
	all, err := a.services.Histories.Histories(ctx)
	if err != nil {
		return nil, err
	}
	out := &historiesOutput{}
	out.Body.Histories = []HistoryAnswer{}
	for _, h := range all {
		out.Body.Histories = append(out.Body.Histories,
			HistoryAnswer{h.Cluster, h.Jobs, instant(h.First), instant(h.Last), instant(h.Seen), instant(h.Accounted)})
	}
	return out, nil
}

func (a *API) describeHistory(ctx context.Context, in *ClusterInput) (*statisticsOutput, error) {
	s, err := a.services.Histories.Statistics(ctx, in.Cluster)
	if err != nil {
		return nil, err
	}
	return &statisticsOutput{s}, nil
}

// importPath is where histories come in: what lasts has places of its own.
const importPath = "/v1/histories/{cluster}/import"

func importOperation() huma.Operation {
	op := operation("import-history", "POST", importPath, "histories", "Add a job history to that of a cluster")
	op.Description = "The body is the history as a file: sacct -P, SWF, the Lonestar6 log or Parquet, gzip or not. It may be imported " +
		"again, in part or in whole: what is known already is not written."
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/octet-stream": {Schema: &huma.Schema{Type: "string", Format: "binary"}},
	}}
	return op
}

// Resolve implements huma.Resolver: the body is read as it comes.
func (in *importInput) Resolve(ctx huma.Context) []error {
	in.body = &incoming{Reader: ctx.BodyReader()}
	return nil
}

// incoming is a body that remembers what broke it off.
type incoming struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (in *incoming) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

func (a *API) importHistory(ctx context.Context, in *importInput) (*importOutput, error) {
	done, err := a.services.Histories.Import(ctx, in.Cluster, in.Format, in.body)
	if err != nil && in.body.err != nil {
		return nil, unread(in.body.err)
	}
	if err != nil {
		return nil, err
	}
	return &importOutput{done}, nil
}
