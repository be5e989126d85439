package origin

import (
	"net/http"
	"strings"
)

// FromRequest returns the target of a request that arrived at a server, in
// absolute form (RFC 9112 §3.2.2: Host is ignored) or in origin form. In
// origin form the scheme is that of the connection: https where r.TLS is set,
// which holds for intercepted connections too. Every error is a
// *BadTargetError.
//
// A CONNECT names an authority and belongs to FromConnect; the extended
// CONNECT of RFC 8441 (WebSocket over HTTP/2) has a target and belongs here.
//
// The strings of the result are slices of the request's; see Origin.Clone.
func FromRequest(r *http.Request) (Target, error) {
	if err := CheckHead(r); err != nil {
		return Target{}, err
	}
	if r.Method == http.MethodConnect && len(r.Header[":protocol"]) == 0 {
		return Target{}, bad("CONNECT names a host and port, not a page", "send the page's request inside the tunnel")
	}
	u := r.URL
	if u.Scheme != "" || u.Host != "" || u.Opaque != "" {
		return fromAbsolute(r)
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	o, err := New(scheme, r.Host)
	if err != nil {
		return Target{}, err
	}
	if u.Path == "*" {
		if r.Method != http.MethodOptions {
			return Target{}, bad("the target * is for OPTIONS alone", "ask for a path")
		}
		return Target{Origin: o, Path: "*"}, nil
	}
	return below(o, u)
}

func fromAbsolute(r *http.Request) (Target, error) {
	if r.ProtoMajor >= 2 {
		// RFC 9113 §8.3.1: :path holds path and query. The server would
		// otherwise have two authorities to choose from.
		return Target{}, bad("an HTTP/2 request has an absolute URL as its path",
			"put the host into :authority and only path and query into :path")
	}
	t, err := FromURL(r.URL)
	if err != nil {
		return Target{}, err
	}
	if t.Origin.Scheme == "https" && r.TLS == nil {
		return Target{}, bad("an https:// URL was sent in clear to a proxy",
			"use CONNECT: set HTTPS_PROXY (or the client's proxy for https) to this proxy's http:// address")
	}
	return t, nil
}

// FromConnect returns the origin that a CONNECT asks a tunnel to: its scheme
// is https. The target must be host:port and nothing else (RFC 9110 §9.3.6),
// the port always there. Every error is a *BadTargetError.
func FromConnect(r *http.Request) (Origin, error) {
	if err := CheckHead(r); err != nil {
		return Origin{}, err
	}
	const advice = "send CONNECT host:port, an IPv6 address in brackets"
	u := r.URL
	if u.User != nil || strings.IndexByte(r.RequestURI, '@') >= 0 {
		return Origin{}, errUserinfo
	}
	if u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Opaque != "" || u.Scheme != "" {
		return Origin{}, bad("CONNECT has more than a host and a port", advice)
	}
	// The server reads the authority as a URL; what it has read must be what
	// was written.
	if r.Host == "" || r.RequestURI != "" && r.RequestURI != r.Host {
		return Origin{}, bad("CONNECT has no valid host and port", advice)
	}
	_, port, err := splitAuthority(r.Host)
	if err != nil {
		return Origin{}, err
	}
	if port == "" {
		return Origin{}, bad("CONNECT has no port", advice)
	}
	return New("https", r.Host)
}

// CheckHead makes the checks that every form of request shares: one User-Agent
// line at most, no fragment. Every error is a *BadTargetError.
func CheckHead(r *http.Request) error {
	if len(r.Header["User-Agent"]) > 1 {
		return bad("the request has more than one User-Agent line", "send a single User-Agent")
	}
	// The server reads # as part of path or query, and a client would not
	// have sent it: origins disagree on what it asks for.
	if strings.IndexByte(r.RequestURI, '#') >= 0 {
		return bad("the target has a #", "leave the fragment out, or write a literal # as %23")
	}
	return nil
}
