package spans

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// mostWaiting bounds how many spans wait to be told.
const mostWaiting = 4096

// courier is the library's batch processor, which drops what is too much for it, with
// a count of what never arrives. It stands on both sides of the processor: before it
// as one itself, and behind it as its exporter.
type courier struct {
	sdk.SpanProcessor // the library's
	exporter          sdk.SpanExporter
	log               *slog.Logger
	waiting, lost     atomic.Int64
	failing           bool // only ExportSpans has it, which the library never calls twice at once
}

func newCourier(exporter sdk.SpanExporter, log *slog.Logger) *courier {
	c := &courier{exporter: exporter, log: log}
	c.SpanProcessor = sdk.NewBatchSpanProcessor((*outgoing)(c), sdk.WithMaxQueueSize(mostWaiting))
	return c
}

// OnEnd implements sdk.SpanProcessor.
func (c *courier) OnEnd(s sdk.ReadOnlySpan) {
	if c.waiting.Add(1) > mostWaiting { // the processor would drop it, and tell nobody
		c.waiting.Add(-1)
		c.lost.Add(1)
		return
	}
	c.SpanProcessor.OnEnd(s)
}

// outgoing is the courier as the exporter of its processor.
type outgoing courier

// ExportSpans implements sdk.SpanExporter. Its error would go to a handler that is the
// whole process's, for each batch; here the log has a line when an outage begins, and
// one when it ends.
func (o *outgoing) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := o.exporter.ExportSpans(ctx, spans)
	n := int64(len(spans))
	o.waiting.Add(-n)
	if err != nil {
		o.lost.Add(n)
	}
	switch {
	case err != nil && !o.failing:
		o.log.Warn("spans are lost until the collector takes them again", "error", err)
	case err == nil && o.failing:
		o.log.Info("the collector takes spans again", "lost", o.lost.Load())
	}
	o.failing = err != nil
	return nil
}

// Shutdown implements sdk.SpanExporter.
func (o *outgoing) Shutdown(ctx context.Context) error { return o.exporter.Shutdown(ctx) }
