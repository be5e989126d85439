// Package egress is the HTTP handler egress_proxy: the terminal forwarder that
// sends a request to whatever origin it names. It forwards through the engine
// of Caddy's own reverse_proxy with a transport of its own, which dials through
// the address guard and sends the target exactly as it was judged.
package egress

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/caddymodule/drain"
	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/dialguard"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/proxystatus"
)

func init() {
	caddy.RegisterModule(&Egress{})
}

// Egress forwards requests to the origins that they name. It ends the chain:
// no handler behind it is called.
type Egress struct {
	// A parent proxy for pages instead of the app's, as an http, https or
	// socks5 URL. Placeholders are allowed. Default: the app's `upstream`.
	Upstream string `json:"upstream,omitempty"`

	// How long a connection to an origin may take to establish, DNS
	// included. Default: `10s`.
	DialTimeout caddy.Duration `json:"dial_timeout,omitempty"`

	// How long an origin may take from the end of the request to the
	// headers of its response. Default: `5m`.
	ResponseHeaderTimeout caddy.Duration `json:"response_header_timeout,omitempty"`

	// How long an unused connection to an origin is kept. Default: `90s`.
	IdleTimeout caddy.Duration `json:"idle_timeout,omitempty"`

	// Unused connections kept over all origins. Default: `1024`.
	MaxIdleConns int `json:"max_idle_conns,omitempty"`

	app       *app.App
	logger    *zap.Logger
	engine    *reverseproxy.Handler
	transport *transport
	parent    parent
	tunnels   tunnels
}

const (
	defaultDialTimeout           = 10 * time.Second
	defaultResponseHeaderTimeout = 5 * time.Minute
	defaultIdleTimeout           = 90 * time.Second
	defaultMaxIdleConns          = 1024
)

// CaddyModule returns the Caddy module information.
func (*Egress) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.egress_proxy",
		New: func() caddy.Module { return new(Egress) },
	}
}

// Provision sets the forwarder up.
func (e *Egress) Provision(ctx caddy.Context) error {
	e.logger = ctx.Logger()
	instance, err := ctx.App("robots_gate")
	if err != nil {
		return fmt.Errorf("loading the robots_gate app: %w", err)
	}
	e.app = instance.(*app.App)
	if err := e.check(); err != nil {
		return err
	}
	if e.parent, err = newParent(e.Upstream, e.app.ParentProxy()); err != nil {
		return err
	}
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		drain.Register(server, e.tunnels.drain)
	}
	e.transport = newTransport(e)
	e.engine = &reverseproxy.Handler{
		Transport: e.transport,
		// The transport knows where to go; the engine wants an upstream,
		// and one fixed one costs neither memory nor a lookup per host.
		Upstreams: reverseproxy.UpstreamPool{{Dial: "origin.invalid:80"}},
		// A reload lets WebSockets go on for as long as tunnels.
		StreamCloseDelay: caddy.Duration(drainTunnels),
	}
	if err := e.engine.Provision(ctx); err != nil {
		return fmt.Errorf("setting up the forwarding engine: %w", err)
	}
	return nil
}

// check fills in the defaults and refuses what cannot be.
func (e *Egress) check() error {
	for _, d := range []struct {
		name      string
		value     *caddy.Duration
		otherwise time.Duration
	}{
		{"dial_timeout", &e.DialTimeout, defaultDialTimeout},
		{"response_header_timeout", &e.ResponseHeaderTimeout, defaultResponseHeaderTimeout},
		{"idle_timeout", &e.IdleTimeout, defaultIdleTimeout},
	} {
		if *d.value < 0 {
			return fmt.Errorf("%s: %s is negative", d.name, time.Duration(*d.value))
		}
		if *d.value == 0 {
			*d.value = caddy.Duration(d.otherwise)
		}
	}
	if e.Upstream != "" && !strings.Contains(e.Upstream, "{") {
		if _, err := newParent(e.Upstream, nil); err != nil {
			return err
		}
	}
	if e.MaxIdleConns < 0 {
		return fmt.Errorf("max_idle_conns: %d is negative", e.MaxIdleConns)
	}
	if e.MaxIdleConns == 0 {
		e.MaxIdleConns = defaultMaxIdleConns
	}
	return nil
}

// Cleanup closes the connections that nobody uses.
func (e *Egress) Cleanup() error {
	if e.transport != nil {
		e.transport.base.CloseIdleConnections()
	}
	if e.engine != nil {
		return e.engine.Cleanup()
	}
	return nil
}

// ServeHTTP forwards the request.
func (e *Egress) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	x := exchange.From(r)
	if x == nil {
		// No gate stands before this forwarder: nothing is judged, but the
		// address policy holds and its refusals leave a record.
		x = exchange.Unjudged(r, e.app, e.logger)
		defer x.Finish()
		w = x.Marked(w)
	}
	if exchange.Misdirected(r) {
		x.Misdirect(r)
		x.Refuse(w, r)
		return nil
	}
	if exchange.IsConnect(r) {
		e.serveConnect(x, w, r)
		return nil
	}
	target, err := origin.FromRequest(r)
	if err != nil {
		x.BadTarget(err)
		x.Refuse(w, r)
		return nil
	}
	if e.loops(r) {
		deny(x, target, decision.Loop)
		x.Refuse(w, r)
		return nil
	}
	parent, err := e.parent.of(r)
	if err != nil {
		e.answer(x, w, r, err)
		return nil
	}
	dropUpgrades(r.Header)
	f := &forward{
		exchange: x, target: target, parent: parent,
		userAgent: r.UserAgent(), forwarded: forwardedHeaders(r.Header),
	}
	r = r.WithContext(context.WithValue(r.Context(), forwardKey{}, f))
	if r.ProtoMajor == 1 && r.Body != http.NoBody {
		// An origin may answer while the client still sends. Go's server
		// would then throw away what has not been read, without a word.
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	if err := e.engine.ServeHTTP(w, r, next); err != nil {
		e.answer(x, w, r, err)
	}
	return nil
}

func deny(x *exchange.Exchange, target origin.Target, reason decision.Reason) {
	x.Record.Aim(target)
	x.Record.Enforced = true
	x.Record.Denied(reason)
}

// answer tells the client why its request was not forwarded.
func (e *Egress) answer(x *exchange.Exchange, w http.ResponseWriter, r *http.Request, err error) {
	if handlerErr, ok := errors.AsType[caddyhttp.HandlerError](err); ok && handlerErr.Err != nil {
		err = handlerErr.Err
	}
	if errors.Is(err, errDenied) {
		x.Refuse(w, r)
		return
	}
	if _, ok := errors.AsType[*dialguard.DeniedError](err); ok {
		judge.DenyDial(&x.Record, err)
		x.Refuse(w, r)
		return
	}
	x.Fail(w, r, proxystatus.Status(err), proxystatus.ErrorType(err), err)
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Egress)(nil)
	_ caddy.CleanerUpper          = (*Egress)(nil)
	_ caddyhttp.MiddlewareHandler = (*Egress)(nil)
)
