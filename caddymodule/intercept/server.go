package intercept

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/robotsgate/robotsgate/caddymodule/drain"
	"github.com/robotsgate/robotsgate/caddymodule/exchange"
)

const (
	// defaultHandshakeTimeout ends a CONNECT in which no TLS comes, where
	// the site sets no read_header timeout.
	defaultHandshakeTimeout = time.Minute
	// shutdownHandshake is how long a shutdown waits for handshakes that
	// were under way; Caddy gives new connections as much.
	shutdownHandshake = 5 * time.Second
)

// server serves the requests inside of tunnels. It runs from the first tunnel
// on until the server that the CONNECTs come to shuts down.
type server struct {
	outer    *caddyhttp.Server
	logger   *zap.Logger
	listener *channelListener
	start    func() *http.Server

	mu       sync.Mutex
	shaking  int  // handshakes under way
	started  bool // a connection was handed over
	shutdown bool
	quiet    chan struct{} // closed when the last handshake ends in a shutdown
}

func newServer(outer *caddyhttp.Server, logger *zap.Logger) *server {
	s := &server{
		outer: outer, logger: logger, quiet: make(chan struct{}),
		listener: &channelListener{conns: make(chan net.Conn), closed: make(chan struct{})},
	}
	s.start = sync.OnceValue(s.run)
	drain.Register(outer, s.drain)
	return s
}

// run starts the HTTP server with the limits of the outer one.
func (s *server) run() *http.Server {
	inner := &http.Server{
		Handler:           http.HandlerFunc(s.serveHTTP),
		ReadTimeout:       time.Duration(s.outer.ReadTimeout),
		ReadHeaderTimeout: time.Duration(s.outer.ReadHeaderTimeout),
		WriteTimeout:      time.Duration(s.outer.WriteTimeout),
		IdleTimeout:       time.Duration(s.outer.IdleTimeout),
		MaxHeaderBytes:    s.outer.MaxHeaderBytes,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, tunnelKey{}, conn.(*tls.Conn).NetConn())
		},
		ErrorLog: log.New(serverLog{s.logger}, "", 0),
	}
	go func() { _ = inner.Serve(s.listener) }()
	return inner
}

type tunnelKey struct{}

// serveHTTP passes a request on to the routes that the CONNECT came through.
func (s *server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	t := r.Context().Value(tunnelKey{}).(*tunnel)
	s.outer.ServeHTTP(w, exchange.Inside(r, t.origin))
}

func (s *server) handshakeTimeout() time.Duration {
	if t := time.Duration(s.outer.ReadHeaderTimeout); t > 0 {
		return t
	}
	return defaultHandshakeTimeout
}

// begin counts a handshake; false means that it comes too late.
func (s *server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shutdown && s.shaking == 0 {
		return false
	}
	s.shaking++
	return true
}

func (s *server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shaking--
	if s.shutdown && s.shaking == 0 {
		close(s.quiet)
	}
}

// serve hands a connection over, its handshake done.
func (s *server) serve(conn *tls.Conn) {
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	s.start()
	select {
	case s.listener.conns <- conn:
	case <-s.listener.closed:
		_ = conn.Close()
	}
}

// drain ends the requests inside as the outer server ends its own: idle
// connections at once, the others after their response. Nobody is cut; the
// grace period bounds how long an exit waits.
func (s *server) drain() {
	if s.awaitHandshakes() {
		_ = s.start().Shutdown(context.Background())
	}
}

// awaitHandshakes lets those through that were under way: their clients would
// take a closed connection for a failure. It reports whether there is anything
// to end.
func (s *server) awaitHandshakes() bool {
	s.mu.Lock()
	s.shutdown = true
	none, started := s.shaking == 0, s.started
	s.mu.Unlock()
	if none {
		return started
	}
	timer := time.NewTimer(shutdownHandshake)
	defer timer.Stop()
	select {
	case <-s.quiet:
	case <-timer.C:
	}
	return true
}

// channelListener hands connections to an http.Server that come from no socket
// of its own.
type channelListener struct {
	conns   chan net.Conn
	closed  chan struct{}
	closing sync.Once
}

func (l *channelListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *channelListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return nil
}

// Addr is asked for by http.Server in its own messages alone.
func (l *channelListener) Addr() net.Addr { return tunnelAddr{} }

type tunnelAddr struct{}

func (tunnelAddr) Network() string { return "tunnel" }
func (tunnelAddr) String() string  { return "tunnel" }

// serverLog takes what http.Server says, which nobody needs while nothing
// panics.
type serverLog struct{ logger *zap.Logger }

func (l serverLog) Write(p []byte) (int, error) {
	message := strings.TrimSuffix(string(p), "\n")
	if strings.HasPrefix(message, "http: panic serving") {
		l.logger.Error(message)
	} else {
		l.logger.Debug(message)
	}
	return len(p), nil
}
