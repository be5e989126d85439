package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/upstream"
)

// parent is the proxy that this forwarder goes through: the same one for all
// requests, or one for each that its placeholders name.
type parent struct {
	fixed    *url.URL // nil where there is none
	template string   // with placeholders, "" where there are none
}

func newParent(text string, global *url.URL) (parent, error) {
	if text == "" {
		return parent{fixed: global}, nil
	}
	// What can be known at load is known at load.
	known := caddy.NewReplacer().ReplaceKnown(text, "")
	if strings.Contains(known, "{") {
		return parent{template: known}, nil
	}
	u, err := upstream.Parse(known)
	if err != nil {
		return parent{}, fmt.Errorf("upstream: %w", err)
	}
	return parent{fixed: u}, nil
}

// of is the parent of one request, nil where there is none. A template that
// does not come out as a proxy is an error: nothing goes past a parent.
func (p parent) of(r *http.Request) (*url.URL, error) {
	if p.template == "" {
		return p.fixed, nil
	}
	repl, _ := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	u, err := upstream.Parse(expand(repl, p.template))
	if err != nil {
		return nil, fmt.Errorf("the upstream proxy of this request: %w", err)
	}
	return u, nil
}

// expand fills in the placeholders, those of the credentials escaped: a user
// name with an @ must not become a host.
func expand(repl *caddy.Replacer, template string) string {
	scheme, rest, found := strings.Cut(template, "://")
	at := strings.LastIndexByte(rest, '@')
	if !found || at < 0 {
		return repl.ReplaceAll(template, "")
	}
	escaped, err := repl.ReplaceFunc(rest[:at], func(_ string, value any) (any, error) {
		return url.PathEscape(caddy.ToString(value)), nil
	})
	if err != nil {
		return ""
	}
	return repl.ReplaceAll(scheme, "") + "://" + escaped + repl.ReplaceAll(rest[at:], "")
}

// proxyOf tells http.Transport which parent a request takes.
func proxyOf(req *http.Request) (*url.URL, error) {
	if f, ok := req.Context().Value(forwardKey{}).(*forward); ok {
		return f.parent, nil
	}
	return nil, errors.New("request did not pass egress_proxy")
}

// dial opens a connection for http.Transport: to an origin under the address
// policy, or to the parent, which is exempt.
func (e *Egress) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(e.DialTimeout))
	defer cancel()
	if f, ok := ctx.Value(forwardKey{}).(*forward); ok && f.parent != nil {
		return e.app.UpstreamDialer().DialContext(ctx, network, address)
	}
	return e.app.Guard().DialContext(ctx, network, address)
}

// connectResponse makes an error of a parent that refuses a tunnel.
func connectResponse(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode/100 != 2 {
		return upstream.Refused(resp)
	}
	return nil
}

// connectHeader is what the CONNECT to a parent says of who asks. A pooled
// connection keeps what its first request said.
func connectHeader(ctx context.Context, _ *url.URL, _ string) (http.Header, error) {
	header := http.Header{"User-Agent": {""}}
	if f, ok := ctx.Value(forwardKey{}).(*forward); ok && f.userAgent != "" {
		header.Set("User-Agent", f.userAgent)
	}
	return header, nil
}

// reach opens a tunnel's far end.
func (e *Egress) reach(ctx context.Context, o origin.Origin, parent *url.URL, userAgent string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(e.DialTimeout))
	defer cancel()
	if parent == nil {
		return e.app.Guard().DialContext(ctx, "tcp", o.DialAddress())
	}
	header := http.Header{}
	if userAgent != "" {
		header.Set("User-Agent", userAgent)
	}
	return upstream.Tunnel(ctx, e.app.UpstreamDialer(), e.app.TLSConfig(), parent, o.DialAddress(), header)
}
