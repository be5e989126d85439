// Package upstream reaches targets through a parent proxy. The parent is the
// operator's choice: the address policy does not judge it, and what it resolves
// names to is its own affair.
package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/proxy"
)

// Parse reads the URL of a parent proxy: http, https, socks5 or socks5h, with
// or without credentials. Errors repeat no credentials.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is no URL; write for example http://proxy.example:3128, special characters of the password percent-encoded")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
	default:
		return nil, fmt.Errorf("scheme %q is not http, https, socks5 or socks5h; write for example http://proxy.example:3128", u.Scheme)
	}
	if u.Hostname() == "" {
		return nil, errors.New("it names no host; write for example http://proxy.example:3128")
	}
	if (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("it has more than scheme, credentials, host and port")
	}
	return u, nil
}

// Address is host:port of the parent, the scheme's usual port filled in.
func Address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// Dialer connects to parents. Names are resolved by Go's own resolver, with
// these servers where there are any.
func Dialer(resolvers []netip.AddrPort) *net.Dialer {
	resolver := &net.Resolver{PreferGo: true}
	if len(resolvers) > 0 {
		resolver.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, resolvers[0].String())
		}
	}
	return &net.Dialer{Resolver: resolver}
}

// A RefusedError says that the parent answered, but not with a connection.
type RefusedError struct {
	// Status is the parent's status line without the protocol.
	Status string
	// Detail is what the parent says about it in Proxy-Status or
	// X-Robots-Gate, if anything.
	Detail string
}

// Error names the parent's answer.
func (e *RefusedError) Error() string {
	text := "the upstream proxy answered " + e.Status
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	if strings.HasPrefix(e.Status, "407") {
		text += ": check the credentials of upstream"
	}
	return text
}

// Refused makes the error of a parent's answer.
func Refused(resp *http.Response) error {
	detail := resp.Header.Get("Proxy-Status")
	if detail == "" {
		detail = resp.Header.Get("X-Robots-Gate")
	}
	return &RefusedError{Status: resp.Status, Detail: detail}
}

// Tunnel opens a connection to target (host:port) through the parent. The
// context bounds the whole of it.
func Tunnel(ctx context.Context, dialer proxy.ContextDialer, config *tls.Config, parent *url.URL, target string, header http.Header) (net.Conn, error) {
	if strings.HasPrefix(parent.Scheme, "socks") {
		return socks(ctx, dialer, parent, target)
	}
	conn, err := dialer.DialContext(ctx, "tcp", Address(parent))
	if err != nil {
		return nil, fmt.Errorf("dialling the upstream proxy: %w", err)
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	through, err := ask(ctx, conn, config, parent, target, header)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return through, conn.SetDeadline(time.Time{})
}

// ask sends the CONNECT.
func ask(ctx context.Context, conn net.Conn, config *tls.Config, parent *url.URL, target string, header http.Header) (net.Conn, error) {
	if parent.Scheme == "https" {
		config = config.Clone()
		config.ServerName = parent.Hostname()
		config.NextProtos = []string{"http/1.1"}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("making TLS with the upstream proxy: %w", err)
		}
		conn = secure
	}
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if credentials := Authorization(parent); credentials != "" {
		header.Set("Proxy-Authorization", credentials)
	}
	if _, named := header["User-Agent"]; !named {
		// net/http would send its own.
		header["User-Agent"] = []string{""}
	}
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: header}
	if err := req.Write(conn); err != nil {
		return nil, fmt.Errorf("asking the upstream proxy for a tunnel: %w", err)
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, req) //nolint:bodyclose // the connection is closed or becomes the tunnel
	if err != nil {
		return nil, fmt.Errorf("reading the upstream proxy's answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, Refused(resp)
	}
	if n := reader.Buffered(); n > 0 {
		// What speaks first behind the tunnel may have spoken already.
		early, _ := reader.Peek(n)
		return &earlyConn{Conn: conn, early: early}, nil
	}
	return conn, nil
}

// Authorization is the value of Proxy-Authorization for the parent's
// credentials, "" without any.
func Authorization(parent *url.URL) string {
	if parent.User == nil {
		return ""
	}
	password, _ := parent.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(parent.User.Username()+":"+password))
}

func socks(ctx context.Context, dialer proxy.ContextDialer, parent *url.URL, target string) (net.Conn, error) {
	var auth *proxy.Auth
	if parent.User != nil {
		password, _ := parent.User.Password()
		auth = &proxy.Auth{User: parent.User.Username(), Password: password}
	}
	through, err := proxy.SOCKS5("tcp", Address(parent), auth, forwardDialer{dialer})
	if err != nil {
		return nil, fmt.Errorf("preparing the upstream proxy: %w", err)
	}
	conn, err := through.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
	if err != nil {
		return nil, fmt.Errorf("opening a tunnel through the upstream proxy: %w", err)
	}
	return conn, nil
}

// forwardDialer is what the socks package asks for; it dials with a context
// all the same.
type forwardDialer struct{ proxy.ContextDialer }

func (d forwardDialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// earlyConn gives out first what was read along with the parent's answer.
type earlyConn struct {
	net.Conn
	early []byte
}

func (c *earlyConn) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite passes half a close on, where the connection knows it.
func (c *earlyConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
