// Package faultorigin is an origin for tests that misbehaves on request. It
// speaks through raw sockets, so that it can send what no HTTP library would,
// and keeps a log of the bytes it read: what really arrived, whatever the
// sender believes.
//
// How it behaves is chosen by host name: the first label of "st-503.fault.test"
// names the mode. Names may carry more labels, so that every test has origins
// of its own ("hang.1.fault.test"). Set overrules a host's mode at any time.
package faultorigin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Mode answers one request on a connection of its own making. It returns
// true where another request may follow on the same connection.
type Mode func(c *Conn) (keep bool)

// Conn is a connection with one request read from it.
type Conn struct {
	net.Conn
	Origin *Origin
	Host   string
	TLS    bool
	// Method, Target and Header are the request's; Target stands as sent.
	Method string
	Target string
	Header http.Header
	// Closed ends when the origin is closed.
	Closed <-chan struct{}
}

// Path returns the target's path: the gate sends origin-form only.
func (c *Conn) Path() string {
	path, _, _ := strings.Cut(c.Target, "?")
	return path
}

// An Exchange is one request as it was read from a socket.
type Exchange struct {
	Host   string
	Raw    []byte // the head, and the body where it had a Content-Length
	Method string
	Target string
	Header http.Header
	TLS    bool
	At     time.Time
}

// Origin is a running fault origin.
type Origin struct {
	// Roots holds the authority of its certificates.
	Roots *x509.CertPool

	plain, secure net.Listener
	authority     *authority
	closed        chan struct{}
	work          sync.WaitGroup

	mu      sync.Mutex
	modes   map[string]Mode
	log     []Exchange
	onLog   func(Exchange)
	conns   map[net.Conn]struct{}
	accepts int
}

// Start runs a fault origin on two free ports of 127.0.0.1 until the test ends.
func Start(t testing.TB) *Origin {
	t.Helper()
	o, err := Listen("127.0.0.1:0", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting the fault origin: %v", err)
	}
	t.Cleanup(o.Close)
	return o
}

// Listen runs a fault origin on the given addresses, for http and https.
func Listen(plain, secure string) (*Origin, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	o := &Origin{
		Roots: ca.pool, authority: ca, closed: make(chan struct{}),
		modes: make(map[string]Mode), conns: make(map[net.Conn]struct{}),
	}
	if o.plain, err = net.Listen("tcp", plain); err != nil {
		return nil, err
	}
	if o.secure, err = net.Listen("tcp", secure); err != nil {
		return nil, errors.Join(err, o.plain.Close())
	}
	o.work.Go(func() { o.accept(o.plain, false) })
	o.work.Go(func() { o.accept(o.secure, true) })
	return o, nil
}

// Close ends every connection and waits for its goroutines.
func (o *Origin) Close() {
	o.mu.Lock()
	select {
	case <-o.closed:
		o.mu.Unlock()
		return
	default:
	}
	close(o.closed)
	_, _ = o.plain.Close(), o.secure.Close()
	for conn := range o.conns {
		_ = conn.Close()
	}
	o.mu.Unlock()
	o.work.Wait()
}

// PlainAddr and SecureAddr are where the origin listens for http and https.
func (o *Origin) PlainAddr() string  { return o.plain.Addr().String() }
func (o *Origin) SecureAddr() string { return o.secure.Addr().String() }

// Dial connects to the origin whatever host is asked for: to the TLS listener
// where the port is 443, else to the plain one. It stands in for a dialler, so
// that tests can use any host name.
func (o *Origin) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	to := o.PlainAddr()
	if strings.HasSuffix(addr, ":443") {
		to = o.SecureAddr()
	}
	return (&net.Dialer{}).DialContext(ctx, network, to)
}

// Set gives a host a mode of its own; nil returns it to that of its name.
func (o *Origin) Set(host string, mode Mode) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if mode == nil {
		delete(o.modes, host)
		return
	}
	o.modes[host] = mode
}

// OnRequest is called with every request before it is answered, and takes the
// place of the log, which a long run would fill.
func (o *Origin) OnRequest(f func(Exchange)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onLog = f
}

// Log returns the requests read so far; of one host where host is not empty.
func (o *Origin) Log(host string) []Exchange {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []Exchange
	for _, e := range o.log {
		if host == "" || e.Host == host {
			out = append(out, e)
		}
	}
	return out
}

// Accepts returns how many connections were accepted.
func (o *Origin) Accepts() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.accepts
}

func (o *Origin) accept(l net.Listener, secure bool) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		o.mu.Lock()
		o.accepts++
		o.conns[conn] = struct{}{}
		o.mu.Unlock()
		o.work.Go(func() {
			defer func() {
				_ = conn.Close()
				o.mu.Lock()
				delete(o.conns, conn)
				o.mu.Unlock()
			}()
			o.serve(conn, secure)
		})
	}
}

func (o *Origin) serve(conn net.Conn, secure bool) {
	if secure {
		server := tls.Server(conn, o.tlsConfig())
		if server.Handshake() != nil {
			return
		}
		conn = server
	}
	reader := bufio.NewReader(conn)
	for {
		c, err := o.read(conn, reader, secure)
		if err != nil || !o.mode(c.Host)(c) {
			return
		}
	}
}

// read takes one request off the socket and logs it.
func (o *Origin) read(conn net.Conn, reader *bufio.Reader, secure bool) (*Conn, error) {
	var raw bytes.Buffer
	request, err := http.ReadRequest(bufio.NewReader(io.TeeReader(head(reader), &raw)))
	if err != nil {
		return nil, err
	}
	if n := request.ContentLength; n > 0 {
		if _, err := io.CopyN(&raw, reader, n); err != nil {
			return nil, err
		}
	}
	host, _, err := net.SplitHostPort(request.Host)
	if err != nil {
		host = request.Host
	}
	c := &Conn{
		Conn: conn, Origin: o, Host: host, TLS: secure, Closed: o.closed,
		Method: request.Method, Target: request.RequestURI, Header: request.Header,
	}
	o.record(Exchange{
		Host: host, Raw: bytes.Clone(raw.Bytes()), Method: c.Method, Target: c.Target,
		Header: c.Header, TLS: secure, At: time.Now(),
	})
	return c, nil
}

func (o *Origin) record(e Exchange) {
	o.mu.Lock()
	hook := o.onLog
	if hook == nil {
		o.log = append(o.log, e)
	}
	o.mu.Unlock()
	if hook != nil {
		hook(e)
	}
}

// head reads up to the end of a request's head and not a byte further.
func head(reader *bufio.Reader) io.Reader {
	var out bytes.Buffer
	for {
		line, err := reader.ReadSlice('\n')
		out.Write(line)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil || len(bytes.TrimRight(line, "\r\n")) == 0 {
			return &out
		}
	}
}

func (o *Origin) mode(host string) Mode {
	o.mu.Lock()
	mode := o.modes[host]
	o.mu.Unlock()
	if mode != nil {
		return mode
	}
	return ByName(host)
}

// number reads the number at the end of a mode's name: 503 of "st-503".
func number(name string) int {
	_, digits, _ := strings.Cut(name, "-")
	n, _ := strconv.Atoi(digits)
	return n
}
