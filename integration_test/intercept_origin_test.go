package integration_test

import (
	"bufio"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tlsOrigin is a web of https sites on one port of 127.0.0.1, under a root of
// its own that no client knows: only the gate is told to trust it.
type tlsOrigin struct {
	server *httptest.Server
	Port   string
	CAFile string

	accepted atomic.Int64
	// arrived has a value for each request to /hold, which is answered once
	// release is closed.
	arrived chan struct{}
	release chan struct{}

	mu   sync.Mutex
	seen []seenRequest
}

// seenRequest is a page's request as it arrived.
type seenRequest struct {
	Method, Host, URI, Proto string
	Header                   http.Header
}

const secureRobots = "User-agent: *\nDisallow: /private/\n\nUser-agent: OpenBot\nDisallow:\n"

func newTLSOrigin(t *testing.T) *tlsOrigin {
	t.Helper()
	root := newTestCA(t)
	o := &tlsOrigin{
		CAFile:  filepath.Join(t.TempDir(), "origin-root.pem"),
		arrived: make(chan struct{}, 100), release: make(chan struct{}),
	}
	if err := os.WriteFile(o.CAFile, root.pem(), 0o600); err != nil {
		t.Fatal(err)
	}
	o.server = httptest.NewUnstartedServer(http.HandlerFunc(o.serve))
	o.server.EnableHTTP2 = true
	o.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			o.accepted.Add(1)
		}
	}
	o.server.TLS = &tls.Config{GetCertificate: root.certify}
	o.server.StartTLS()
	t.Cleanup(o.server.Close)
	_, o.Port, _ = net.SplitHostPort(o.server.Listener.Addr().String())
	return o
}

// options are those of a gate that may reach the origin, under any name.
func (o *tlsOrigin) options(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("resolvers %s\n\t\tallow_ranges 127.0.0.0/8\n\t\tports %s\n\t\tfetch {\n\t\t\troot_ca %s\n\t\t}", newDNS(t), o.Port, o.CAFile)
}

func (o *tlsOrigin) url(host, path string) string {
	return "https://" + host + ":" + o.Port + path
}

// pages are the requests that arrived, fetches of robots.txt apart.
func (o *tlsOrigin) pages() []seenRequest {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]seenRequest(nil), o.seen...)
}

func (o *tlsOrigin) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" {
		fmt.Fprint(w, secureRobots)
		return
	}
	o.mu.Lock()
	o.seen = append(o.seen, seenRequest{r.Method, r.Host, r.RequestURI, r.Proto, r.Header.Clone()})
	o.mu.Unlock()
	switch {
	case r.URL.Path == "/ws":
		echoWebSocket(w, r)
	case r.URL.Path == "/upload":
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		fmt.Fprintf(w, "%d %s %v", n, hex.EncodeToString(sum.Sum(nil)), err)
	case r.URL.Path == "/trailers":
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-Sum")
		fmt.Fprintf(w, "%v", r.Trailer)
		w.Header().Set("X-Sum", "42")
	case r.URL.Path == "/stream":
		n, _ := strconv.ParseInt(r.URL.Query().Get("bytes"), 10, 64)
		_, _ = io.CopyN(w, zeros{}, n)
	case r.URL.Path == "/events":
		for i := range 3 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
			if _, err := io.ReadFull(r.Body, make([]byte, 1)); err != nil {
				return
			}
		}
	case r.URL.Path == "/hold":
		fmt.Fprint(w, "begun ")
		w.(http.Flusher).Flush()
		o.arrived <- struct{}{}
		select {
		case <-o.release:
			fmt.Fprint(w, "and done")
		case <-r.Context().Done():
		}
	case strings.HasPrefix(r.URL.Path, "/headers"):
		_ = json.NewEncoder(w).Encode(r.Header)
	default:
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, securePage(r.Host, r.RequestURI))
	}
}

// securePage is the content of every page without a task of its own.
func securePage(host, uri string) string {
	return "page " + host + uri
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// echoWebSocket accepts a WebSocket (RFC 6455) and sends back what comes until
// the client closes. It takes short, unfragmented frames.
func echoWebSocket(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Robots-Gate: forged\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	for {
		op, payload, err := readFrame(buffered.Reader)
		if err != nil || writeFrame(conn, op, payload, false) != nil || op == 8 {
			return
		}
	}
}

func readFrame(r *bufio.Reader) (op byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	var mask [4]byte
	if head[1]&0x80 != 0 {
		if _, err := io.ReadFull(r, mask[:]); err != nil {
			return 0, nil, err
		}
	}
	payload = make([]byte, head[1]&0x7f)
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, err
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return head[0] & 0xf, payload, nil
}

func writeFrame(w io.Writer, op byte, payload []byte, masked bool) error {
	frame := []byte{0x80 | op, byte(len(payload))}
	if masked {
		frame[1] |= 0x80
		frame = append(frame, 0, 0, 0, 0)
	}
	_, err := w.Write(append(frame, payload...))
	return err
}

// testCA signs certificates for whatever name is asked for.
type testCA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey

	mu    sync.Mutex
	certs map[string]*tls.Certificate
}

func newTestCA(t *testing.T) *testCA {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "origins of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &testCA{cert: cert, key: key, certs: map[string]*tls.Certificate{}}
}

func (ca *testCA) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
}

// certify chooses by the name: expired.… has expired, wrong.… names another
// host, unknown.… is signed by itself.
func (ca *testCA) certify(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	ca.mu.Lock()
	defer ca.mu.Unlock()
	name := hello.ServerName
	if name == "" {
		name, _, _ = net.SplitHostPort(hello.Conn.LocalAddr().String())
	}
	if cert := ca.certs[name]; cert != nil {
		return cert, nil
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		NotBefore:    time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name},
	}
	parent, signer := ca.cert, crypto.Signer(ca.key)
	switch kind, _, _ := strings.Cut(name, "."); {
	case net.ParseIP(name) != nil:
		template.DNSNames, template.IPAddresses = nil, []net.IP{net.ParseIP(name)}
	case kind == "expired":
		template.NotAfter = time.Now().Add(-time.Hour)
	case kind == "wrong":
		template.DNSNames = []string{"another.example"}
	case kind == "unknown":
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, ca.key.Public(), signer)
	if err != nil {
		return nil, err
	}
	cert := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: ca.key}
	ca.certs[name] = cert
	return cert, nil
}
