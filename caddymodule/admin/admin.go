// Package admin is the part of Caddy's admin API that inspects the gate: what
// is cached of an origin, and how the running gates would decide about a URL.
package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/internal/origin"
)

func init() {
	caddy.RegisterModule(API{})
}

// API serves these endpoints of the admin listener:
//
// Endpoint | Answer
// ---------|-------
// `GET /robots_gate/origins?after=&limit=` | What is cached, a page at a time
// `GET /robots_gate/origin?url=` | What is cached of one origin
// `DELETE /robots_gate/origin?url=` | Forgets it, so that the next request fetches it
// `POST /robots_gate/check` | How a gate would decide, without forwarding
// `GET /robots_gate/ca` | The root certificates that intercepted clients must trust, as PEM
//
// Errors are problem documents (RFC 9457).
type API struct{}

// CaddyModule returns the Caddy module information.
func (API) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "admin.api.robots_gate",
		New: func() caddy.Module { return new(API) },
	}
}

// Routes returns the endpoints.
func (API) Routes() []caddy.AdminRoute {
	return []caddy.AdminRoute{
		{Pattern: "/robots_gate/origins", Handler: endpoint(listOrigins, http.MethodGet)},
		{Pattern: "/robots_gate/origin", Handler: endpoint(oneOrigin, http.MethodGet, http.MethodDelete)},
		{Pattern: "/robots_gate/check", Handler: endpoint(check, http.MethodPost)},
		{Pattern: "/robots_gate/ca", Handler: endpoint(roots, http.MethodGet)},
	}
}

// problem is an error with its status and, for 409, the choice there is.
type problem struct {
	status   int
	detail   string
	policies []policyInfo
}

func (p *problem) Error() string { return p.detail }

func refuse(status int, format string, args ...any) *problem {
	return &problem{status: status, detail: fmt.Sprintf(format, args...)}
}

// endpoint finds the running app, checks the method, and writes what serve
// returns as JSON. The app is found anew for each request: this router may be
// older or newer than the configuration that runs.
func endpoint(serve func(*app.App, *http.Request) (any, error), methods ...string) caddy.AdminHandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		answer, err := answer(serve, r, methods)
		status, contentType := http.StatusOK, "application/json"
		if err != nil {
			status, contentType = http.StatusInternalServerError, "application/problem+json"
			detail := problemDocument{Type: "about:blank", Detail: err.Error()}
			if p, ok := errors.AsType[*problem](err); ok {
				status, detail.Policies = p.status, p.policies
			}
			if status == http.StatusMethodNotAllowed {
				w.Header().Set("Allow", strings.Join(methods, ", "))
			}
			detail.Status, detail.Title = status, http.StatusText(status)
			answer = detail
		}
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		if certificates, ok := answer.(pemFile); ok {
			w.Header().Set("Content-Type", "application/pem-certificate-chain")
			_, err := w.Write(certificates)
			return err
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(answer)
	}
}

type problemDocument struct {
	Type     string       `json:"type"`
	Title    string       `json:"title"`
	Status   int          `json:"status"`
	Detail   string       `json:"detail"`
	Policies []policyInfo `json:"policies,omitempty"`
}

func answer(serve func(*app.App, *http.Request) (any, error), r *http.Request, methods []string) (any, error) {
	for _, method := range methods {
		if r.Method == method {
			instance, err := caddy.ActiveContext().AppIfConfigured("robots_gate")
			if err != nil {
				return nil, refuse(http.StatusServiceUnavailable, "no robots_gate runs in the current configuration")
			}
			return serve(instance.(*app.App), r)
		}
	}
	return nil, refuse(http.StatusMethodNotAllowed, "%s is not served here; use %s", r.Method, strings.Join(methods, " or "))
}

// pemFile is an answer that is no JSON.
type pemFile []byte

func roots(a *app.App, _ *http.Request) (any, error) {
	certificates := a.Roots()
	if len(certificates) == 0 {
		return nil, refuse(http.StatusNotFound, "nothing is intercepted in the current configuration")
	}
	return pemFile(certificates), nil
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// page is one page of origins.
type page struct {
	Origins []entry `json:"origins"`
	// Next is the `after` of the next page; absent on the last one.
	Next string `json:"next,omitempty"`
}

func listOrigins(a *app.App, r *http.Request) (any, error) {
	query := r.URL.Query()
	limit := defaultLimit
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return nil, refuse(http.StatusBadRequest, "limit: %q is no number from 1 to %d", text, maxLimit)
		}
		limit = n
	}
	var after origin.Origin
	if text := query.Get("after"); text != "" {
		o, err := origin.Parse(text)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "after: %v", err)
		}
		after = o
	}
	answer := page{Origins: []entry{}}
	origins := 0
	for _, snapshot := range a.Copies().List(after, limit) {
		e := newEntry(&snapshot)
		if n := len(answer.Origins); n == 0 || answer.Origins[n-1].Origin != e.Origin {
			origins++
		}
		answer.Origins = append(answer.Origins, e)
	}
	if origins == limit {
		answer.Next = answer.Origins[len(answer.Origins)-1].Origin
	}
	return answer, nil
}

func oneOrigin(a *app.App, r *http.Request) (any, error) {
	target, err := origin.ParseTarget(r.URL.Query().Get("url"))
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "url: %v", err)
	}
	if r.Method == http.MethodDelete {
		if !a.Copies().Purge(target.Origin) {
			return nil, refuse(http.StatusNotFound, "nothing is cached of %s", target.Origin)
		}
		return nil, nil
	}
	snapshots := a.Copies().Entry(target.Origin)
	if len(snapshots) == 0 {
		return nil, refuse(http.StatusNotFound, "nothing is cached of %s", target.Origin)
	}
	entries := make([]entry, len(snapshots))
	for i := range snapshots {
		entries[i] = newEntry(&snapshots[i])
	}
	return page{Origins: entries}, nil
}

// Interface guard.
var _ caddy.AdminRouter = API{}
