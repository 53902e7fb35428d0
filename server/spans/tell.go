package spans

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/segue-project/segue"
)

// atOnce is how many spans are told in one request.
const atOnce = 512

// ending is how long the last spans may take once a server is told to end.
const ending = 3 * time.Second

// Run tells spans until ctx ends, and then those that are left.
func (r *Recorder) Run(ctx context.Context) {
	every := time.NewTicker(r.cfg.Every)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), ending)
			defer cancel()
			r.tellAll(last)
			return
		case <-every.C:
			r.tellAll(ctx)
		}
	}
}

// tellAll tells the spans that wait. What the collector does not take is lost.
func (r *Recorder) tellAll(ctx context.Context) {
	r.mu.Lock()
	all := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	for len(all) > 0 {
		n := min(len(all), atOnce)
		if err := r.tell(ctx, all[:n]); err != nil {
			r.mu.Lock()
			r.lost += int64(len(all)) // the next ones would fare no better
			r.mu.Unlock()
			r.cfg.Log.Warn("spans are lost", "spans", len(all), "error", err)
			return
		}
		all = all[n:]
	}
}

func (r *Recorder) tell(ctx context.Context, spans []*Span) error {
	text, err := json.Marshal(r.exported(spans))
	if err != nil {
		return fmt.Errorf("write spans: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.cfg.Endpoint, "/")+"/v1/traces", bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("tell spans: %w", err)
	}
	for name, value := range r.cfg.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := r.cfg.HTTP.Do(req)
	if err != nil {
		return segue.Errorf(segue.Unavailable, "tell spans: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	const most = 4 << 10
	said, _ := io.ReadAll(io.LimitReader(answer.Body, most))
	if answer.StatusCode/100 != 2 {
		return segue.Errorf(segue.Unavailable, "tell spans: the collector answers %s: %s", answer.Status, strings.Join(strings.Fields(string(said)), " "))
	}
	return nil
}

// These are the messages of OTLP (opentelemetry-proto, trace/v1/trace.proto), in its
// JSON: 64-bit numbers as texts, identifiers in hexadecimal.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope      `json:"scope"`
		Spans []exported `json:"spans"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	exported struct {
		Trace      string     `json:"traceId"`
		ID         string     `json:"spanId"`
		Parent     string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       Kind       `json:"kind"`
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
		Status     *status    `json:"status,omitempty"`
	}
	keyValue struct {
		Key   string `json:"key"`
		Value any    `json:"value"`
	}
	status struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
)

// failed is OTLP's STATUS_CODE_ERROR.
const failed = 2

func (r *Recorder) exported(spans []*Span) request {
	out := make([]exported, len(spans))
	for i, s := range spans {
		out[i] = exported{
			Trace: hex.EncodeToString(s.trace[:]), ID: hex.EncodeToString(s.id[:]), Name: s.name, Kind: s.kind,
			Start: nanoseconds(s.start), End: nanoseconds(s.end), Attributes: keyValues(s.attributes),
		}
		if s.parent != [8]byte{} {
			out[i].Parent = hex.EncodeToString(s.parent[:])
		}
		if s.failed != "" {
			out[i].Status = &status{failed, s.failed}
		}
	}
	about := keyValues([]attribute{{"service.name", r.cfg.Service}, {"service.version", r.cfg.Version}})
	return request{[]resourceSpans{{resource{about}, []scopeSpans{{scope{"github.com/segue-project/segue", r.cfg.Version}, out}}}}}
}

func nanoseconds(t segue.Time) string { return strconv.FormatInt(int64(t)*int64(time.Microsecond), 10) }

func keyValues(attributes []attribute) []keyValue {
	var all []keyValue
	for _, a := range attributes {
		var value any
		switch v := a.value.(type) {
		case int:
			value = map[string]string{"intValue": strconv.Itoa(v)}
		case bool:
			value = map[string]bool{"boolValue": v}
		default:
			value = map[string]string{"stringValue": fmt.Sprint(v)}
		}
		all = append(all, keyValue{a.key, value})
	}
	return all
}
