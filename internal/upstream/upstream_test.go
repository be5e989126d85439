package upstream

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, address := range map[string]string{
		"http://proxy.example":               "proxy.example:80",
		"http://user:p%40ss@proxy.test:3128": "proxy.test:3128",
		"https://proxy.example/":             "proxy.example:443",
		"socks5://[2001:db8::1]":             "[2001:db8::1]:1080",
		"socks5h://10.0.0.1:9050":            "10.0.0.1:9050",
	} {
		u, err := Parse(text)
		if err != nil || Address(u) != address {
			t.Errorf("%s: got %v, %v, want %s", text, u, err, address)
		}
	}
	for _, text := range []string{
		"", "proxy.example:3128", "ftp://s3cret@proxy.example", "http://", "http://user:s3cret@", "http://h/path", "http://h?s3cret", "http://h#f",
		"http://user:s3cret@h:port", "http://us er:s3cret@h",
	} {
		if u, err := Parse(text); err == nil {
			t.Errorf("%q: got %v", text, u)
		} else if strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: the error repeats the credentials: %v", text, err)
		}
	}
}

// TestTunnel opens tunnels through a parent in clear and one with TLS. The far
// end speaks at once, so that its words come along with the parent's answer.
func TestTunnel(t *testing.T) {
	parent := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Proxy-Authorization") != "Basic dTpw" {
			w.Header().Set("Proxy-Status", "parent; error=http_request_denied")
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\n\r\n%s %s,%s;", r.Method, r.Host, r.UserAgent())
		_, _ = io.Copy(conn, conn)
	})
	plain, secure := httptest.NewServer(parent), httptest.NewTLSServer(parent)
	defer plain.Close()
	defer secure.Close()
	config := &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	for _, server := range []*httptest.Server{plain, secure} {
		u, err := Parse(strings.Replace(server.URL, "://", "://u:p@", 1))
		if err != nil {
			t.Fatal(err)
		}
		conn, err := Tunnel(t.Context(), Dialer(nil), config, u, "far.test:443", http.Header{"User-Agent": {"ExampleBot"}})
		if err != nil {
			t.Fatalf("%s: %v", u.Scheme, err)
		}
		if _, err := io.WriteString(conn, "echo;"); err != nil {
			t.Fatal(err)
		}
		reader := bufio.NewReader(conn)
		for _, want := range []string{"CONNECT far.test:443,ExampleBot;", "echo;"} {
			if got, err := reader.ReadString(';'); got != want || err != nil {
				t.Errorf("%s: got %q, %v, want %q", u.Scheme, got, err, want)
			}
		}
		conn.Close()
		u.User = nil
		_, err = Tunnel(t.Context(), Dialer(nil), config, u, "far.test:443", nil)
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || !strings.Contains(refused.Error(), "407") || refused.Detail == "" {
			t.Errorf("%s without credentials: %v", u.Scheme, err)
		}
	}
}

// TestTunnelIsBounded: a parent that says nothing is given up.
func TestTunnelIsBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := Parse("http://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Tunnel(ctx, Dialer(nil), nil, u, "far.test:443", nil); err == nil {
		t.Error("no error")
	}
}
