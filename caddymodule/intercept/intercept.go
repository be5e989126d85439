// Package intercept is the HTTP handler tls_intercept: it ends the TLS of
// CONNECT requests with a certificate authority of our own and serves the
// requests inside through the routes of the very server that the CONNECT came
// to, so that everything there sees them as https requests of that client.
package intercept

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/judge"
	"github.com/robotsgate/robotsgate/internal/leaf"
	"github.com/robotsgate/robotsgate/internal/origin"
)

func init() {
	caddy.RegisterModule(&Intercept{})
}

// Intercept ends the TLS of CONNECT requests and serves the requests inside
// through the same routes. Clients must trust the root certificate of its
// authority; `robots ca` prints it.
//
// CONNECT, SNI and inner requests must name one host: a TLS handshake for
// another one ends with the alert unrecognized_name, a request for another one
// with 421. Octets that are no TLS reach nothing.
type Intercept struct {
	// The authority of Caddy's pki app that signs. It is made where the
	// configuration does not name it, and it is never installed in a trust
	// store. Default: `robotsgate`; `local`, which signs Caddy's own sites,
	// is refused.
	CA string `json:"ca,omitempty"`

	// Hosts whose tunnels are not intercepted, as names, addresses or
	// `*.suffix`. They fall to the gate's `tunnels`. Default: none.
	Skip []string `json:"skip,omitempty"`

	// How long a certificate for a host is valid; never longer than the
	// authority's own. Default: `12h`.
	LeafLifetime caddy.Duration `json:"leaf_lifetime,omitempty"`

	// How many certificates are kept. Default: `1000`.
	MaxLeaves int `json:"max_leaves,omitempty"`

	app    *app.App
	logger *zap.Logger
	skip   []pattern
	minter *leaf.Minter
	tls    *tls.Config
	inner  *server
	// whoever identifies agents where no gate has done so yet.
	whoever *judge.Compiled
}

// CaddyModule returns the Caddy module information.
func (*Intercept) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.tls_intercept",
		New: func() caddy.Module { return new(Intercept) },
	}
}

// Provision prepares the authority and the server of the requests inside.
func (i *Intercept) Provision(ctx caddy.Context) error {
	i.logger = ctx.Logger()
	if err := i.check(); err != nil {
		return err
	}
	instance, err := ctx.App("robots_gate")
	if err != nil {
		return fmt.Errorf("loading the robots_gate app: %w", err)
	}
	i.app = instance.(*app.App)
	outer, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok {
		return fmt.Errorf("tls_intercept works inside an HTTP server alone")
	}
	authority, err := i.app.Authority(i.CA)
	if err != nil {
		return err
	}
	i.minter, err = leaf.New(leaf.Config{
		Issuer: authority.Issuer, Lifetime: time.Duration(i.LeafLifetime), Max: i.MaxLeaves,
		OnMinted: i.app.LeafMinted,
	})
	if err != nil {
		return err
	}
	if i.whoever, err = judge.Default().Compile(); err != nil {
		return err
	}
	i.tls = i.tlsConfig()
	i.inner = newServer(outer, i.logger)
	return nil
}

// check fills in the defaults and refuses what cannot be.
func (i *Intercept) check() error {
	if i.CA == "" {
		i.CA = app.DefaultAuthority
	}
	switch {
	case i.CA == "local":
		return fmt.Errorf("ca: local signs the certificates of Caddy's own sites; use another authority, or none for %q", app.DefaultAuthority)
	case i.LeafLifetime < 0:
		return fmt.Errorf("leaf_lifetime: %s is negative", time.Duration(i.LeafLifetime))
	case i.MaxLeaves < 0:
		return fmt.Errorf("max_leaves: %d is negative", i.MaxLeaves)
	}
	skip, err := parsePatterns(i.Skip)
	if err != nil {
		return fmt.Errorf("skip: %w", err)
	}
	i.skip = skip
	return nil
}

// Cleanup does nothing while requests are inside: the server of the CONNECTs
// ends them as it ends.
func (i *Intercept) Cleanup() error { return nil }

// ServeHTTP intercepts a CONNECT and passes everything else on.
func (i *Intercept) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	switch {
	case exchange.Misdirected(r):
		i.refuse(w, r, func(x *exchange.Exchange) { x.Misdirect(r) })
		return nil
	case !exchange.IsConnect(r):
		return next.ServeHTTP(w, r)
	}
	o, err := exchange.ConnectTarget(r)
	if err != nil {
		// Content of a CONNECT would be waited for before the answer.
		w.Header().Set("Connection", "close")
		i.refuse(w, r, func(x *exchange.Exchange) { x.BadTarget(err) })
		return nil //nolint:nilerr // the refusal is the answer, and its record holds the error
	}
	if i.skips(o.Host) {
		return next.ServeHTTP(w, r)
	}
	// Nothing is minted for what may not be reached.
	if err := i.checkAddress(o); err != nil {
		i.refuse(w, r, func(x *exchange.Exchange) {
			x.Record.Aim(origin.Target{Origin: o, Path: "/"})
			judge.DenyDial(&x.Record, err)
		})
		return nil //nolint:nilerr // the refusal is the answer, and its record holds the error
	}
	// Each request inside has its line in the access log and its record.
	caddyhttp.SetVar(r.Context(), caddyhttp.LogSkipVar, true)
	return i.open(w, o.Clone())
}

// checkAddress judges port and literal address of a tunnel's target, our own
// listeners included: no dial would do it before the handshake.
func (i *Intercept) checkAddress(o origin.Origin) error {
	if err := i.app.Guard().CheckOrigin(o); err != nil {
		return err
	}
	if addr, literal := o.IsIP(); literal {
		return i.app.Guard().CheckAddr(netip.AddrPortFrom(addr, o.Port))
	}
	return nil
}

// refuse answers a request whose refusal needs no gate.
func (i *Intercept) refuse(w http.ResponseWriter, r *http.Request, decide func(*exchange.Exchange)) {
	x := exchange.Begin(r, i.app, i.logger)
	defer x.Finish()
	x.Subject.UserAgent = r.UserAgent()
	i.whoever.Identify(&x.Subject, &x.Record)
	decide(x)
	x.Decided()
	x.Refuse(w, r)
}

func (i *Intercept) skips(host string) bool {
	return slices.ContainsFunc(i.skip, func(p pattern) bool { return p.matches(host) })
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Intercept)(nil)
	_ caddyhttp.MiddlewareHandler = (*Intercept)(nil)
)
