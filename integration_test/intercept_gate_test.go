package integration_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// interceptSite is a forward proxy that intercepts and judges everybody.
var interceptSite = "tls_intercept\n\t" + proxySite()

// interceptor is a gate that intercepts, in front of https origins.
type interceptor struct {
	*gate
	origin *tlsOrigin
	// CAFile is the root that clients must trust.
	CAFile string
}

func startInterceptor(t *testing.T, directives string) *interceptor {
	t.Helper()
	o := newTLSOrigin(t)
	g := startGate(t, gateBinary, o.options(t), directives)
	return &interceptor{gate: g, origin: o, CAFile: rootFile(storageOf(g))}
}

// rootFile is where Caddy keeps the root of the gate's authority.
func rootFile(storage string) string {
	return filepath.Join(storage, "pki", "authorities", "robotsgate", "root.crt")
}

// roots are what a client of the gate trusts.
func (i *interceptor) roots(t *testing.T) *x509.CertPool {
	t.Helper()
	pem, err := os.ReadFile(i.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		t.Fatalf("%s holds no certificate", i.CAFile)
	}
	return pool
}

// client is Go's own, through the gate.
func (i *interceptor) client(t *testing.T, http2 bool) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: i.Addr}),
		TLSClientConfig:    &tls.Config{RootCAs: i.roots(t), ClientSessionCache: tls.NewLRUClientSessionCache(0)},
		ForceAttemptHTTP2:  http2,
		DisableCompression: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// connect opens a tunnel octet by octet and returns the answer to the CONNECT.
func connect(t *testing.T, proxy, authority, fields string) (net.Conn, *bufio.Reader, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", authority, authority, fields)
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatalf("CONNECT %s: %v", authority, err)
	}
	return conn, reader, resp
}

// handshake makes TLS inside a tunnel to host.
func (i *interceptor) handshake(t *testing.T, host string, config *tls.Config) (*tls.Conn, error) {
	t.Helper()
	conn, _, resp := connect(t, i.Addr, net.JoinHostPort(host, i.origin.Port), "")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("CONNECT %s: got %s", host, resp.Status)
	}
	if config == nil {
		config = new(tls.Config)
	}
	config.RootCAs = i.roots(t)
	if config.ServerName == "" {
		config.ServerName = host
	}
	inner := tls.Client(conn, config)
	return inner, inner.HandshakeContext(t.Context())
}

// get is one request of a client, with its whole answer.
func get(t *testing.T, client *http.Client, url string, header ...string) (status int, reply http.Header, body string, proto string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	octets, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(octets), resp.Proto
}

// storageOf is the directory of a gate's storage.
func storageOf(g *gate) string {
	return filepath.Join(filepath.Dir(g.log), "storage")
}
