// Package fetch asks an origin for its robots.txt and judges the answer: what
// RFC 9309 §2.3.1 calls the access result. It keeps nothing between fetches.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/robotsgate/robotsgate/internal/origin"
)

// The defaults of Config.
const (
	DefaultTimeout      = 10 * time.Second
	DefaultMaxBody      = 500 << 10 // 500 KiB, the floor of RFC 9309 §2.5
	DefaultMaxRedirects = 5         // the floor of RFC 9309 §2.3.1.2
)

const (
	// maxHeaderBytes bounds the response headers, informational ones included.
	maxHeaderBytes = 64 << 10
	// maxTLSHandshake ends a stalled handshake before the deadline does, so
	// that it is called what it is.
	maxTLSHandshake = 5 * time.Second
	// maxUserAgent bounds the User-Agent that is sent and remembered.
	maxUserAgent = 512
)

// Config says how to fetch. The zero value dials anything, which only tests
// want: set Dial and CheckOrigin.
type Config struct {
	// Dial opens every connection, redirects included. Default: a plain
	// net.Dialer, without any address policy.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)

	// CheckOrigin judges the origin of every hop before it is dialled: its
	// port, and its host where that is a literal address. Default: no check.
	CheckOrigin func(origin.Origin) error

	// RootCAs are the roots for origins. Default: the system's.
	RootCAs *x509.CertPool

	// Timeout is the one deadline over DNS, dial, TLS, headers, body and
	// redirects. Default: 10s.
	Timeout time.Duration

	// MaxBody is how many decoded bytes are kept. Default: 512000.
	MaxBody int64

	// MaxRedirects is how many redirects are followed. Default: 5.
	MaxRedirects int

	// Upstream is the parent proxy (http, https, socks5 or socks5h) that all
	// fetches go through. Default: none; the environment is never read.
	Upstream *url.URL

	// Version is our own, for the User-Agent of a fetch that has no better one.
	Version string
}

// A Request names one robots.txt and what is known of it.
type Request struct {
	Origin origin.Origin

	// UserAgent is sent as it stands, less control characters and whatever
	// exceeds 512 bytes. Default: robotsgate/<version>.
	UserAgent string

	// ETag and LastModified make the request conditional. They are sent only
	// to ValidatorURL, the final URL of the answer they came with (default:
	// the origin's robots.txt URL).
	ETag         string
	LastModified string
	ValidatorURL string

	// Answering, where set, is called once when the first byte of a response
	// arrives: a sign of life.
	Answering func()
}

// A Fetcher fetches. It is safe for concurrent use and needs no closing: no
// connection outlives its fetch.
type Fetcher struct {
	config    Config
	transport *http.Transport
}

// New makes a Fetcher, filling in the defaults of the configuration.
func New(config Config) *Fetcher {
	if config.Dial == nil {
		config.Dial = (&net.Dialer{}).DialContext
	}
	if config.CheckOrigin == nil {
		config.CheckOrigin = func(origin.Origin) error { return nil }
	}
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.MaxBody <= 0 {
		config.MaxBody = DefaultMaxBody
	}
	if config.MaxRedirects <= 0 {
		config.MaxRedirects = DefaultMaxRedirects
	}
	transport := &http.Transport{
		DialContext: config.Dial,
		TLSClientConfig: &tls.Config{
			RootCAs:    config.RootCAs,
			MinVersion: tls.VersionTLS12,
			NextProtos: []string{"http/1.1"},
		},
		TLSHandshakeTimeout: min(config.Timeout, maxTLSHandshake),
		// A transport that keeps connections also keeps some 500 bytes for
		// every dead host.
		DisableKeepAlives: true,
		// We name the one encoding we undo, and want to see what was used.
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if config.Upstream != nil {
		transport.Proxy = http.ProxyURL(config.Upstream)
	}
	return &Fetcher{config: config, transport: transport}
}

// Fetch asks for the robots.txt of an origin. It always returns within the
// timeout, and a context that ends earlier ends it earlier.
func (f *Fetcher) Fetch(ctx context.Context, req Request) Result {
	result := Result{UserAgent: f.userAgent(req.UserAgent)}
	if req.ValidatorURL == "" {
		req.ValidatorURL = req.Origin.RobotsURL()
	}
	target, err := url.Parse(req.Origin.RobotsURL())
	if err != nil {
		result.fail(CauseOther, fmt.Errorf("building the robots.txt URL of %s: %w", req.Origin, err))
		return result
	}
	if err := f.config.CheckOrigin(req.Origin); err != nil {
		result.fail(CauseDialDenied, fmt.Errorf("fetching %s: %w", target, err))
		return result
	}

	ctx, cancel := context.WithTimeout(ctx, f.config.Timeout)
	defer cancel()
	if req.Answering != nil {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotFirstResponseByte: req.Answering})
	}

	visited := make(map[string]bool)
	for hop := 0; ; hop++ {
		visited[target.String()] = true
		next := f.hop(ctx, req, target, &result)
		if next == nil {
			return result
		}
		if hop == f.config.MaxRedirects || visited[next.String()] {
			result.Outcome, result.Cause, result.Err = Unavailable, CauseRedirectLimit, nil
			return result
		}
		target = next
	}
}

// hop asks one URL. It fills in the result and returns nil, or returns where
// the answer redirects to.
func (f *Fetcher) hop(ctx context.Context, req Request, target *url.URL, result *Result) *url.URL {
	result.FinalURL = target.String()
	conditional := result.FinalURL == req.ValidatorURL && (req.ETag != "" || req.LastModified != "")
	out, err := http.NewRequestWithContext(ctx, http.MethodGet, result.FinalURL, nil)
	if err != nil {
		result.fail(CauseOther, fmt.Errorf("fetching %s: %w", target, err))
		return nil
	}
	out.Header.Set("User-Agent", result.UserAgent)
	out.Header.Set("Accept", "text/plain, */*;q=0.5")
	out.Header.Set("Accept-Encoding", "gzip")
	if conditional && req.ETag != "" {
		out.Header.Set("If-None-Match", req.ETag)
	}
	if conditional && req.LastModified != "" {
		out.Header.Set("If-Modified-Since", req.LastModified)
	}

	resp, err := f.transport.RoundTrip(out)
	if err != nil {
		// A status of an earlier hop is not the status of this failure.
		result.Status = 0
		cause := causeOf(ctx, err)
		result.fail(cause, fmt.Errorf("fetching %s: %w", target, err))
		return nil
	}
	defer resp.Body.Close()
	result.Status = resp.StatusCode
	result.VaryUserAgent = result.VaryUserAgent || variesByUserAgent(resp.Header)
	return f.judge(ctx, resp, target, conditional, result)
}

// judge applies the access results of RFC 9309 §2.3.1, as the README refines them, to one answer.
func (f *Fetcher) judge(ctx context.Context, resp *http.Response, target *url.URL, conditional bool, result *Result) *url.URL {
	status := resp.StatusCode
	switch {
	case status == http.StatusPartialContent:
		result.fail(CausePartial, fmt.Errorf("%s answered 206 to a request for the whole file", target))
	case status >= 200 && status <= 299:
		result.freshness(resp.Header)
		f.readBody(ctx, resp, target, result)
	case isRedirect(status):
		next, cause, err := f.nextHop(target, resp.Header)
		if err != nil {
			result.fail(cause, fmt.Errorf("following the redirect of %s: %w", target, err))
		}
		return next
	case status == http.StatusNotModified && conditional:
		result.Outcome, result.Cause = NotModified, CauseNotModified
		result.freshness(resp.Header)
		result.validators(resp.Header)
	case status == http.StatusTooManyRequests:
		result.RetryAfter = retryAfter(resp.Header)
		result.fail(CauseTooManyRequests, fmt.Errorf("%s answered 429", target))
	case status == http.StatusProxyAuthRequired && f.config.Upstream != nil:
		// The parent proxy's answer, not the origin's: it says nothing about
		// what the origin allows.
		result.fail(CauseBadStatus, errors.New("the upstream proxy asks for authentication: put user:password into its URL"))
	case status >= 400 && status <= 499:
		result.Outcome, result.Cause = Unavailable, CauseUnavailable
		result.freshness(resp.Header)
	case status >= 500 && status <= 599:
		result.RetryAfter = retryAfter(resp.Header)
		result.fail(CauseServerError, fmt.Errorf("%s answered %d", target, status))
	default:
		result.fail(CauseBadStatus, fmt.Errorf("%s answered %d, which is no answer to a GET", target, status))
	}
	return nil
}

// userAgent makes a User-Agent fit to be sent: net/http refuses control
// characters, and an origin must not become unreachable by what a job sent.
func (f *Fetcher) userAgent(s string) string {
	clean := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; (c >= ' ' || c == '\t') && c != 0x7f {
			clean = append(clean, c)
		}
	}
	s = string(clean)
	if len(s) > maxUserAgent {
		s = s[:maxUserAgent]
	}
	if s = strings.Trim(s, " \t"); s == "" {
		s = "robotsgate/" + f.config.Version
	}
	return s
}
