package egress

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/caddymodule/app"
	"github.com/robotsgate/robotsgate/caddymodule/exchange"
	"github.com/robotsgate/robotsgate/internal/decision"
	"github.com/robotsgate/robotsgate/internal/origin"
	"github.com/robotsgate/robotsgate/internal/upstream"
)

// maxIdlePerHost keeps a crawl of one origin warm without letting it take the
// whole pool.
const maxIdlePerHost = 64

// maxResponseHeader is the most octets of response headers that are read.
const maxResponseHeader = 1 << 20

// errDenied stops a request that was denied in the last moment.
var errDenied = errors.New("denied before it was sent")

// forward is what the transport needs to know of a request that the engine
// passes through.
type forward struct {
	exchange *exchange.Exchange
	target   origin.Target
	// parent is the proxy to go through, nil where there is none.
	parent    *url.URL
	userAgent string
	// forwarded are the client's own X-Forwarded headers.
	forwarded map[string][]string
}

type forwardKey struct{}

// transport is the last place before the wire: it undoes what the engine adds
// for reverse proxies, and judges again if anything changed the target.
type transport struct {
	base *http.Transport
	app  *app.App
}

func newTransport(e *Egress) *transport {
	config := e.app.TLSConfig()
	config.ClientSessionCache = tls.NewLRUClientSessionCache(e.MaxIdleConns)
	return &transport{app: e.app, base: &http.Transport{
		// Never ProxyFromEnvironment: the gate may be the very proxy that
		// the environment names.
		Proxy:                  proxyOf,
		OnProxyConnectResponse: connectResponse,
		GetProxyConnectHeader:  connectHeader,
		DialContext:            e.dial,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    time.Duration(e.DialTimeout),
		ForceAttemptHTTP2:      true,
		// An HTTP/2 connection that has gone silent is noticed.
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 30 * time.Second},
		DisableCompression:     true,
		MaxIdleConns:           e.MaxIdleConns,
		MaxIdleConnsPerHost:    min(maxIdlePerHost, e.MaxIdleConns),
		IdleConnTimeout:        time.Duration(e.IdleTimeout),
		ResponseHeaderTimeout:  time.Duration(e.ResponseHeaderTimeout),
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxResponseHeader,
	}}
}

// RoundTrip sends the request to its target.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	f, ok := req.Context().Value(forwardKey{}).(*forward)
	if !ok {
		return nil, errors.New("request did not pass egress_proxy")
	}
	target := f.target
	target.Path, target.Query, target.HasQuery = wireForm(req.URL)
	if err := t.judgeAgain(req, f, target); err != nil {
		return nil, err
	}
	t.direct(req, target)
	t.restoreHeaders(req, f)
	res, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if f.parent != nil && res.StatusCode == http.StatusProxyAuthRequired && target.Origin.Scheme == "http" {
		// It asks us, not the client.
		_ = res.Body.Close()
		return nil, upstream.Refused(res)
	}
	res.Header.Del(decision.HeaderGate)
	if len(res.Trailer) > 0 && req.ProtoMajor == 1 {
		// HTTP/2 has trailers beside a Content-Length, HTTP/1.1 has them
		// in chunked content alone.
		res.Header.Del("Content-Length")
	}
	return res, nil
}

// dropUpgrades refuses the upgrades of a request but WebSocket's: inside of
// h2c and its like are requests that nobody would judge.
func dropUpgrades(h http.Header) {
	if values := h["Upgrade"]; len(values) == 1 && strings.EqualFold(values[0], "websocket") {
		return
	}
	h.Del("Upgrade")
	h.Del("Http2-Settings")
}

// wireForm is the path and query that net/http writes for u.
func wireForm(u *url.URL) (path, query string, hasQuery bool) {
	path = u.EscapedPath()
	if path == "" {
		path = "/"
	}
	return path, u.RawQuery, u.RawQuery != "" || u.ForceQuery
}

// judgeAgain decides once more where what is about to be sent is not what the
// gate has judged: same policy, same answer, the record corrected.
func (t *transport) judgeAgain(req *http.Request, f *forward, target origin.Target) error {
	x := f.exchange
	if x.Record.URL == target.URL() {
		return nil
	}
	if x.Policy == nil {
		x.Record.Aim(target)
		return t.app.Guard().CheckOrigin(target.Origin)
	}
	x.Judge(req.Context(), target)
	if x.Record.Refused() {
		return fmt.Errorf("%w: %s", errDenied, x.Record.Reason)
	}
	return nil
}

// direct points the request at its target.
func (t *transport) direct(req *http.Request, target origin.Target) {
	req.URL.Scheme = target.Origin.Scheme
	req.URL.Host = target.Origin.DialAddress()
	req.Host = target.Origin.Authority()
}

// restoreHeaders takes back what the engine does for reverse proxies: a
// forward proxy tells origins nothing about its clients.
func (t *transport) restoreHeaders(req *http.Request, f *forward) {
	for _, name := range forwardedNames {
		delete(req.Header, name)
		if values, sent := f.forwarded[name]; sent {
			req.Header[name] = values
		}
	}
	if via := req.Header["Via"]; len(via) > 0 {
		// The engine's own entry, the last, is the same for every Caddy.
		protocol, _, _ := strings.Cut(via[len(via)-1], " ")
		req.Header["Via"] = append(via[:len(via)-1:len(via)-1], protocol+" "+t.app.Pseudonym())
	}
}

var forwardedNames = [...]string{"X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"}

// forwardedHeaders keeps the client's own X-Forwarded headers.
func forwardedHeaders(h http.Header) map[string][]string {
	var kept map[string][]string
	for _, name := range forwardedNames {
		if values, sent := h[name]; sent {
			if kept == nil {
				kept = make(map[string][]string, len(forwardedNames))
			}
			kept[name] = values
		}
	}
	return kept
}

// loops reports whether the request came through this very gate before.
func (e *Egress) loops(r *http.Request) bool {
	for _, line := range r.Header["Via"] {
		for entry := range strings.SplitSeq(line, ",") {
			_, by, _ := strings.Cut(strings.TrimSpace(entry), " ")
			if by, _, _ = strings.Cut(by, " "); by == e.app.Pseudonym() {
				return true
			}
		}
	}
	return false
}
