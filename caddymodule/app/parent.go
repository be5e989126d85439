package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"github.com/caddyserver/caddy/v2"

	"github.com/robotsgate/robotsgate/internal/upstream"
)

// parent is the proxy that everything goes through where one is configured.
type parent struct {
	url    *url.URL // nil where there is none
	dialer *net.Dialer
}

func newParent(text string, resolvers []netip.AddrPort) (parent, error) {
	p := parent{dialer: upstream.Dialer(resolvers)}
	if text == "" {
		return p, nil
	}
	text, err := caddy.NewReplacer().ReplaceOrErr(text, true, true)
	if err != nil {
		return parent{}, fmt.Errorf("upstream: %w; the placeholders of requests work in egress_proxy alone", err)
	}
	if p.url, err = upstream.Parse(text); err != nil {
		return parent{}, fmt.Errorf("upstream: %w", err)
	}
	return p, nil
}

// dial is how robots.txt files are reached.
func (a *App) dial() func(ctx context.Context, network, address string) (net.Conn, error) {
	if a.parent.url != nil {
		return a.parent.dialer.DialContext
	}
	return a.guard.DialContext
}

// ParentProxy is that of everything, nil where there is none.
func (a *App) ParentProxy() *url.URL { return a.parent.url }

// UpstreamDialer connects to parent proxies, past the address policy.
func (a *App) UpstreamDialer() *net.Dialer { return a.parent.dialer }
