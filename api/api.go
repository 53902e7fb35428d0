package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/segue-project/segue"
)

// Config says how the interface works. Now is required.
type Config struct {
	Now func() segue.Time
	// NewID returns a name that nobody has, for a line of the audit log: it sorts by
	// time. Required.
	NewID  func() string
	Limits Limits
	// Metrics is where the interface registers its own, and what GET /metrics shows;
	// default a registry of its own.
	Metrics *prometheus.Registry
	Log     *slog.Logger // default slog.Default()
}

func (c Config) withDefaults() Config {
	if c.Metrics == nil {
		c.Metrics = prometheus.NewRegistry()
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

func (c Config) validate() error {
	if c.Now == nil || c.NewID == nil {
		return segue.Errorf(segue.Invalid, "api: Now and NewID are required")
	}
	return c.Limits.Validate()
}

// API answers requests. It is an http.Handler.
type API struct {
	services Services
	cfg      Config
	limits   atomic.Pointer[inForce]
	metrics  *metrics
	late     lateAnswers
	working  workedOn
	handed   *seats // hand-overs that are worked on
	large    *seats // those of them that are large
	huma     huma.API
	handler  http.Handler
}

// New returns the interface on top of services.
func New(services Services, cfg Config) (*API, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	a := &API{services: services, cfg: cfg, metrics: newMetrics(cfg.Metrics), handed: newSeats(mostHanded, mostHandedOf), large: newSeats(mostLarge, mostLargeOf)}
	a.limits.Store(enforce(cfg.Limits))
	mux := http.NewServeMux()
	a.huma = humago.New(mux, describe())
	a.operations()
	mux.HandleFunc("GET /v1/openapi.json", a.openAPI)
	mux.Handle("GET "+metricsPath, only(ScopeRead, promhttp.HandlerFor(cfg.Metrics, promhttp.HandlerOpts{})))
	outer := http.NewServeMux()
	mux.HandleFunc("/", nobody(mux, outer))
	gate := &gate{tokens: services.Tokens, now: cfg.Now}
	guarded := a.bound(gate.authenticate(mux))
	outer.HandleFunc("GET /healthz", a.healthz)
	outer.HandleFunc("GET /readyz", a.readyz)
	outer.Handle("/", guarded)
	a.handler = outer
	return a, nil
}

// methods are those of HTTP by which something may be asked for.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// nobody answers what nothing in the muxes answers: 405 with the methods that are
// answered where the path is known, otherwise 404.
func nobody(muxes ...*http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var allowed []string
		for _, method := range methods {
			for _, mux := range muxes {
				other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
				if _, pattern := mux.Handler(other); pattern != "/" {
					allowed = append(allowed, method)
				}
			}
		}
		if len(allowed) == 0 {
			sorts[segue.NotFound].problem("nothing answers " + r.Method + " " + r.URL.Path).write(w)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		wrongMethod.problem(r.URL.Path + " does not answer " + r.Method + ": want " + strings.Join(allowed, " or ")).write(w)
	}
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.handler.ServeHTTP(w, r) }

// operations registers everything under /v1.
func (a *API) operations() {
	add(a, ScopeRead, operation("advise", "POST", "/v1/advice", "advice", "Say whether to submit the next link of a chain now"), a.advise)
	add(a, ScopeRead, operation("forecast", "GET", "/v1/forecasts", "advice", "Forecast the wait of a submission now"), a.forecast)

	add(a, ScopeRead, operation("list-chains", "GET", "/v1/chains", "chains", "List chains, the latest first"), a.listChains)
	add(a, ScopeRead, operation("get-chain", "GET", "/v1/chains/{id}", "chains", "Show a chain and its links"), a.getChain)
	add(a, ScopeRead, operation("list-decisions", "GET", "/v1/chains/{id}/decisions", "chains", "Show why links of a chain were submitted when they were"), a.listDecisions)
	addWrite(a, ScopeSubmit, a.handOverOperation(), a.handOver)
	for _, c := range stateChanges {
		addWrite(a, ScopeChains, operation(c.verb+"-chain", "POST", "/v1/chains/{id}/"+c.verb, "chains", c.summary), a.changeState(c))
	}

	add(a, ScopeRead, operation("list-histories", "GET", "/v1/histories", "histories", "List the clusters of which there is a history"), a.listHistories)
	add(a, ScopeRead, operation("describe-history", "GET", "/v1/histories/{cluster}/statistics", "histories", "Describe the history of a cluster"), a.describeHistory)
	addWrite(a, ScopeOperator, importOperation(), a.importHistory)

	add(a, ScopeRead, operation("list-models", "GET", "/v1/models", "models", "List trained models"), a.listModels)
	addWrite(a, ScopeOperator, promoteOperation(), a.promoteModel)
	addWrite(a, ScopeOperator, rollbackOperation(), a.rollBackModel)
	add(a, ScopeOperator, operation("list-audit", "GET", "/v1/audit", "audit", "Show who changed what, the latest first"), a.listAudit)
	a.addEvents()
}

func operation(id, method, path, tag, summary string) huma.Operation {
	return huma.Operation{OperationID: id, Method: method, Path: path, Summary: summary, Tags: []string{tag}}
}

// add registers an operation for those who have a scope.
func add[I, O any](a *API, scope Scope, op huma.Operation, do func(context.Context, *I) (*O, error)) {
	op.Errors = append(op.Errors, refusals[I](op)...)
	op = a.guarded(op, scope)
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, a.told(op.OperationID, err)
		}
		return out, nil
	})
}

// guarded is an operation for those who have a scope.
func (a *API) guarded(op huma.Operation, scope Scope) huma.Operation {
	op.Description += "\n\nScope: `" + string(scope) + "`."
	op.Security = []map[string][]string{{"token": {}}}
	op.Errors = append(op.Errors, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusServiceUnavailable)
	op.MaxBodyBytes, op.BodyReadTimeout = -1, -1 // the limits in force are looked after before: see bound
	op.Middlewares = append(huma.Middlewares{a.measure, a.require(scope)}, op.Middlewares...)
	return op
}

// require answers 403 to those who lack a scope.
func (a *API) require(scope Scope) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		if c, _ := callerOf(ctx.Context()); !c.May(scope) {
			_, w := humago.Unwrap(ctx)
			forbidden("this takes the scope " + string(scope)).write(w)
			return
		}
		next(ctx)
	}
}

// only is require for a handler that is no operation.
func only(scope Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, _ := callerOf(r.Context()); !c.May(scope) {
			forbidden("this takes the scope " + string(scope)).write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// told returns an error as the client sees it, and logs what is the server's own
// fault.
func (a *API) told(operation string, err error) *Problem {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		a.cfg.Log.Error("request failed", "operation", operation, "error", err)
	}
	return p
}
